# Two models in one sweep get the same prompts, under pair keys that are the same.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$softmax" --model "$ssmax" --context-lengths 256,512 --depths 0,100 --samples 2 --db a.db
sqlite3 a.db "SELECT count(*), count(DISTINCT trial_key), count(DISTINCT pair_key) FROM trial"
sqlite3 a.db "SELECT pair_key FROM trial WHERE run_id = 1 EXCEPT
    SELECT pair_key FROM trial WHERE run_id = 2"
sqlite3 a.db "SELECT count(*) FROM trial a JOIN trial b USING (pair_key)
    WHERE a.run_id = 1 AND b.run_id = 2 AND a.excerpt = b.excerpt AND a.expected = b.expected"
