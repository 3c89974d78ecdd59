# plan --power: what drop so many samples can see.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"
# shellcheck source=/dev/null
. "$ROOT/tests/support/made_db.sh"

needlegrid plan --power
needlegrid plan --power --samples 40 --depths 5 --accuracy 0.9 --drop 0.05 --tests 7

echo "---- from a run"
made_db a.db
made_trials a.db '[256,1024,2048]' '[0,50,100]' 12 "CASE length WHEN 256 THEN 1
    WHEN 1024 THEN sample > 2 ELSE (sample + depth / 50) % 3 > 0 END"
needlegrid plan --power --db a.db --run 1
needlegrid plan --power --db a.db --run 1 --samples 50 --depths 11 --tests 1 | grep -E '^ *[0-9]|overall'

echo "---- refused"
try plan
try plan --power --accuracy 95
try plan --power --drop 0
try plan --power --alpha 1
try plan --power --samples 0
try plan --power --db a.db --run 2
try plan --power --db a.db --run 1 --accuracy 0.9
try plan --power --db none.db --run 1
sqlite3 a.db "UPDATE trial SET outcome = 'skipped', counted = 0"
try plan --power --db a.db --run 1
