# Two processes at once on one database give what one gives.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

set -- run --isa generic --model "$ssmax" --context-lengths 256,512 --depths 0:100:5 --samples 3
needlegrid "$@" --db one.db
dump one.db alone

needlegrid "$@" --db two.db >first 2>&1 &
first=$!
needlegrid "$@" --db two.db >second 2>&1 &
second=$!
wait $first
echo "exit $?"
wait $second
echo "exit $?"
dump two.db together
same alone together
sqlite3 two.db 'SELECT count(*) FROM run' 'PRAGMA integrity_check'
