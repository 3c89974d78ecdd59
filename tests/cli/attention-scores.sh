# A run that keeps attention on the needle: a row for each trial, layer and head; the answers are
# the same as without.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

for flag in --attention-scores ""; do
    sweep --model "$ssmax" --task multi-key --context-lengths 512 --depths 0,50,100 --samples 2 \
        --db "a$flag.db" $flag 2>/dev/null
    sqlite3 "a$flag.db" 'SELECT count(*), round(max(needle_mass), 1) FROM attention'
    sqlite3 "a$flag.db" 'SELECT trial_key, response, logprob FROM trial ORDER BY trial_key' >"$flag.txt"
done
same ./--attention-scores.txt ./.txt
sweep --model "$ssmax" --task absent --context-lengths 512 --samples 1 --db b.db \
    --attention-scores 2>/dev/null
sqlite3 b.db 'SELECT count(*) FROM attention'
