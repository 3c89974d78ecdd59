# summary: several runs, which ones, another scorer, and what it refuses.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"
# shellcheck source=/dev/null
. "$ROOT/tests/support/made_db.sh"

made_db a.db
made_trials a.db '[256,1024]' '[0,100]' 4 'length = 256 OR sample > 1'
sweep --model "$ssmax" --context-lengths 256 --depths 0 --samples 1 --db a.db >/dev/null
needlegrid summary --db a.db | grep '^run'
needlegrid summary --db a.db --run 2 | grep '^run'
needlegrid summary --db a.db --run 2 --run 1 --format csv | cut -d , -f 1-7

echo "---- by a later verdict"
sqlite3 a.db "INSERT INTO verdict (trial_id, scorer, outcome, counted, score)
    SELECT trial_id, 'exact', 'wrong', 1, 0 FROM trial WHERE run_id = 1 AND sample > 0"
needlegrid summary --db a.db --run 1 --scorer exact | grep -E 'scorer|overall|counted'

echo "---- refused"
try summary --db none.db
try summary --db a.db --run 3
try summary --db a.db --format xml
try summary --db a.db --threshold 85.6
try summary --db a.db --base-share nan
try summary --db a.db --resamples 99
try summary --db a.db --scorer contains
