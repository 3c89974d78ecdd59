# A stored trial's prompt comes out again, token for token, and nothing else does.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$ssmax" --context-lengths 256,512 --depths 0,50,100 --samples 2 --db a.db
sweep --model "$ssmax" --task multi-key --packed --distractors 1 --context-lengths 512 \
    --depths 0,100 --samples 1 --seed 3 --db a.db

# Every trial: as many tokens as were stored, and the needle where it was stored.
sqlite3 a.db 'SELECT trial_id, prompt_tokens, needle_key, expected FROM trials ORDER BY 1' |
    while IFS='|' read -r trial tokens key value; do
        needlegrid reconstruct "$trial" --db a.db --ids | wc -w | grep -qx "$tokens" || echo "$trial: tokens"
        needlegrid reconstruct "$trial" --db a.db | grep -c "magic $key number is: $value" || echo "$trial: needle"
    done | sort | uniq -c

echo "---- the excerpt is a part of it"
needlegrid reconstruct 1 --db a.db | cut -c 1-60
sqlite3 a.db 'SELECT substr(excerpt, 1, 60) FROM trials WHERE trial_id = 1'

echo "---- what is not what it was"
sqlite3 a.db "UPDATE trial SET pair_key = replace(pair_key, substr(pair_key, 1, 1), 'f') WHERE trial_id = 2"
try reconstruct 2 --db a.db
try reconstruct 1 --db a.db --model "$softmax"
try reconstruct 99 --db a.db
try reconstruct one --db a.db
try reconstruct --db a.db
