# --seed left the haystack byte-identical: here it changes text, key and value, and nothing else
# does.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

for seed in 0 1 2; do
    sweep --model "$ssmax" --context-lengths 256 --depths 50 --samples 2 --seed $seed --db a.db
done 2>/dev/null
sweep --model "$softmax" --context-lengths 256 --depths 50 --samples 2 --seed 0 --db a.db 2>/dev/null
echo "seeds, excerpts, starts, keys, values"
sqlite3 a.db "SELECT count(DISTINCT seed), count(DISTINCT excerpt),
    count(DISTINCT substr(excerpt, 1, 60)), count(DISTINCT needle_key), count(DISTINCT expected)
    FROM trial"
echo "prompts that the other model got as well: $(sqlite3 a.db "SELECT count(*) FROM trial a
    JOIN trial b USING (pair_key, excerpt) WHERE a.trial_id < b.trial_id")"
