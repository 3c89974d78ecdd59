# No room left: the trials so far are kept, and the same command completes the sweep.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

one() {
    sweep --model "$ssmax" --context-lengths 256,512 --depths 0:100:5 --samples 2 --db "$1"
}

one whole.db
dump whole.db undisturbed

# 512-byte blocks: enough for the schema and some trials
(ulimit -f 300 && one small.db) 2>&1
echo "exit $?"
n=$(trials small.db)
[ "$n" -gt 0 ] && [ "$n" -lt 20 ] && echo "some trials are stored, not all"
one small.db | sed 's/ [0-9]* of them stored/ some of them stored/'
dump small.db resumed
same undisturbed resumed

echo "---- not even room for the schema"
(ulimit -f 16 && one none.db) 2>&1
echo "exit $?"
one none.db
dump none.db later
same undisturbed later
