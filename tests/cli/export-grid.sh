# A grid as CSV: rows are depths, columns are context lengths.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$softmax" --context-lengths 256,512,1k --depths 0:100:3 --samples 2 --db a.db
needlegrid export --db a.db --format grid

echo "---- with two runs it must be said which"
sweep --model "$ssmax" --context-lengths 256,512 --depths 0,100 --samples 1 --db a.db
try export --db a.db --format grid
needlegrid export --db a.db --format grid --run 2
