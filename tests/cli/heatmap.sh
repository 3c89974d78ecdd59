# Where colours are not wanted the grid is plain ASCII.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$softmax" --context-lengths 256,512,1k --depths 0:100:3 --samples 2 --db a.db
needlegrid heatmap --db a.db
needlegrid heatmap --db a.db >auto
needlegrid heatmap --db a.db --color never >without
same auto without
LC_ALL=C grep -c '[^ -~]' auto

echo "---- narrow"
needlegrid heatmap --db a.db --width 24
