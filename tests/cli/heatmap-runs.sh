# All runs of a database, or those that are named.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$softmax" --model "$ssmax" --context-lengths 256,512 --depths 0,100 --samples 1 --db a.db
needlegrid heatmap --db a.db
needlegrid heatmap --db a.db --run 2
needlegrid heatmap --db a.db --run 2 --run 1 | head -n 1
try heatmap --db a.db --run 3
try heatmap --db a.db --run 0
