# heatmap --n and --interval: counts and Wilson intervals in each cell.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$softmax" --context-lengths 256,1k --depths 0:100:3 --samples 2 --db a.db
needlegrid heatmap --db a.db --n
needlegrid heatmap --db a.db --interval
needlegrid heatmap --db a.db --n --interval
