# Ctrl-C ends a sweep after the trial at hand; the same command goes on from there.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

set -- run --isa generic --model "$ssmax" --context-lengths 256,512,1k --depths 0:100:6 --samples 4
needlegrid "$@" --db whole.db
dump whole.db undisturbed

for signal in INT TERM; do
    before=$(trials cut.db)
    "$NEEDLEGRID" "$@" --db cut.db >out 2>err &
    await_trial cut.db "$before" $!
    kill -$signal $!
    wait $!
    echo "exit $?"
    cat out err
    n=$(trials cut.db)
    [ "$n" -gt "$before" ] && [ "$n" -lt 72 ] && echo "some trials are stored, not all"
done
needlegrid "$@" --db cut.db | sed 's/ [0-9]* of them stored/ some of them stored/'
dump cut.db resumed
same undisturbed resumed
