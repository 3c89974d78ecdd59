# Every prompt that is shipped, planned; then two tasks run, one of them packed.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

for p in prompts/*.json; do
    needlegrid run --model "$ssmax" --prompt "$p" --context-lengths 1k,2k --depths 0,50,100 \
        --samples 2 --dry-run
done
needlegrid run --model "$ssmax" --packed --context-lengths 512 --depths 0,50,100 --samples 2 \
    --dry-run
sweep --model "$ssmax" --task multi-key --context-lengths 512 --depths 0,50,100 --samples 2 \
    --db a.db 2>/dev/null
sweep --model "$ssmax" --task single --packed --context-lengths 512 --depths 0,50,100 \
    --samples 2 --db a.db 2>/dev/null
sweep --model "$ssmax" --task absent --context-lengths 512 --samples 2 --db a.db 2>/dev/null
sweep --model "$ssmax" --task no-context --context-lengths 512 --samples 2 --db a.db 2>/dev/null
sqlite3 a.db 'SELECT task, target_depth, needle_key, expected, response, decoys, needles, outcome
    FROM trials ORDER BY trial_id'
