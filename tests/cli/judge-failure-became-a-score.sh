# A scorer that fails gives no score: it is counted beside, said, and the exit code is not 0.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$ssmax" --context-lengths 256 --depths 0,50,100 --samples 2 --db a.db
sqlite3 a.db "UPDATE trial SET response = printf('%.*c!', 60, 'a') WHERE trial_id IN (2, 5)"

echo "---- some"
try score --db a.db --scorer regex --pattern '^(\w+\s?)*$'
try heatmap --db a.db --scorer regex --n
try show --db a.db --scorer regex --outcome no-verdict
try show 2 --db a.db --scorer regex | grep -A1 '^outcome\|^error'

echo "---- all"
sqlite3 a.db "UPDATE trial SET response = printf('%.*c!', 60, 'a')"
try score --db a.db --scorer regex --pattern '^(\w+\s?)*$'
try heatmap --db a.db --scorer regex
try export --db a.db --scorer regex
try export --db a.db --scorer regex --format grid
try show --db a.db --scorer regex --limit 1

echo "---- a scorer for other values"
sqlite3 a.db "UPDATE trial SET expected = 'lighthouse'"
try score --db a.db --scorer number
sqlite3 a.db "SELECT scorer, outcome, counted, sum(score), count(*) FROM verdict GROUP BY 1, 2"
