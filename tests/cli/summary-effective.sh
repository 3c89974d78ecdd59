# summary: effective length under both rules, the worst cell, missing lengths, what is not counted.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"
# shellcheck source=/dev/null
. "$ROOT/tests/support/made_db.sh"

# 1024: 18 of 20 (90.0); 2048: 17 of 20 (85.0), which is 0.85 of 256's; 4096: all right again;
# 8192: 4 of 20.
made_db a.db
made_trials a.db '[256,1024,2048,4096,8192]' '[0,100]' 10 "CASE length
    WHEN 1024 THEN sample > 0 WHEN 2048 THEN NOT (sample < 2 AND (depth = 100 OR sample = 0))
    WHEN 8192 THEN sample < 2 ELSE 1 END"
needlegrid summary --db a.db

echo "---- other lines to pass"
needlegrid summary --db a.db --threshold 0.9 --base-share 0.5 | grep -A 2 effective
needlegrid summary --db a.db --threshold 0 | grep -A 2 effective
needlegrid summary --db a.db --threshold 1 --base-share 1 | grep -A 2 effective

echo "---- trials that are not counted are not misses"
sqlite3 a.db "UPDATE trial SET outcome = 'over-length', counted = 0 WHERE context_length = 8192;
    UPDATE trial SET outcome = 'transport-error', counted = 0
        WHERE context_length = 1024 AND sample = 0"
needlegrid summary --db a.db | grep -v '^ .*%'

echo "---- nothing counts"
sqlite3 a.db "UPDATE trial SET outcome = 'skipped', counted = 0"
needlegrid summary --db a.db
