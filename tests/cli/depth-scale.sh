# Sigmoid depths lie closer together near both ends, which are exact.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$ssmax" --context-lengths 512 --depth-scale sigmoid --samples 1 --db a.db 2>/dev/null
sqlite3 a.db 'SELECT target_depth FROM trials ORDER BY target_depth'
