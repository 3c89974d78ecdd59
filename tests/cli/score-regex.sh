# Patterns: the value in its place, the first match as the answer, and those that never end.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$ssmax" --context-lengths 256 --depths 0,50,100 --samples 2 --db a.db
try score --db a.db --scorer regex --pattern '^\s*{value}'
try score --db a.db --scorer regex --pattern '\d+'
try score --db a.db --scorer regex --pattern 'number {value}'
needlegrid show 1 --db a.db | grep '^also'
echo "---- bad patterns: nothing is stored"
try score --db a.db --scorer regex
try score --db a.db --scorer regex --pattern '(\d+'
try score --db a.db --scorer number --pattern '\d+'
try score --db a.db --pattern '\d+'
sqlite3 a.db 'SELECT DISTINCT pattern FROM verdict'
