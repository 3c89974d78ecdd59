# kill -9 at twenty moments: each time the same command goes on, and nothing is lost or doubled.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

set -- run --isa generic --model "$ssmax" --context-lengths 256,512 --depths 0:100:6 --samples 12
needlegrid "$@" --db whole.db
dump whole.db undisturbed

kills=0
# The program is $!; the shell's own word on its end goes to err.
end() {
    kill -9 $! 2>err
    wait $! 2>err
    [ $? -eq 137 ] && kills=$((kills + 1))
}

# while it starts, makes the file, makes the plan
for pause in 0.001 0.004 0.008 0.012 0.02 0.03 0.05; do
    "$NEEDLEGRID" "$@" --db cut.db >out 2>err &
    sleep $pause
    end
done
# while it runs trials
for pause in 0.03 0.002 0.07 0.011 0.05 0.023 0.001 0.061 0.017 0.04 0.008 0.033 0.005; do
    before=$(trials cut.db)
    "$NEEDLEGRID" "$@" --db cut.db >out 2>err &
    await_trial cut.db "$before" $!
    sleep $pause
    end
done
n=$(trials cut.db)
[ $kills -ge 10 ] && [ "$n" -ge 10 ] && echo "killed while it ran"

needlegrid "$@" --db cut.db | sed 's/ [0-9]* of them stored/ some of them stored/'
dump cut.db resumed
same undisturbed resumed
sqlite3 cut.db 'PRAGMA integrity_check' 'PRAGMA foreign_key_check' 'SELECT count(*) FROM run'
ls
