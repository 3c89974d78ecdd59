# Some runs, several, judged again and again.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$softmax" --model "$ssmax" --context-lengths 512 --depths 0,100 --samples 2 --db a.db
try score --db a.db --run 2 --scorer exact
echo "---- run 1 has none"
try heatmap --db a.db --run 1 --scorer exact
try heatmap --db a.db --run 2 --scorer exact
needlegrid heatmap --db a.db --scorer exact --n 2>note
cat note
echo "---- both, and again"
try score --db a.db --run 1 --run 2 --scorer exact
try score --db a.db --scorer exact
sqlite3 a.db 'SELECT count(*) FROM verdict'
