# Tasks without a depth have one row for all, and an empty depth in the CSV.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$ssmax" --task absent --context-lengths 256 --samples 2 --db a.db
needlegrid heatmap --db a.db | head -n 4
needlegrid export --db a.db --format grid
needlegrid export --db a.db | cut -d, -f 5-9
