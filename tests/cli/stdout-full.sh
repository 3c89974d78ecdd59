# What cannot be written to stdout is an error, not a short file.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$ssmax" --context-lengths 256 --depths 0,100 --samples 2 --db a.db

for command in 'export' 'export --format grid' 'export --format dump' 'show' 'show 1' 'heatmap'; do
    # shellcheck disable=SC2086 # several words
    { needlegrid $command --db a.db >/dev/full; } 2>&1
    echo "$command: exit $?"
done
for command in "info $ssmax" "run --model $ssmax --samples 1 --dry-run" 'run --help' '--help' \
    '--version'; do
    # shellcheck disable=SC2086 # several words
    { needlegrid $command >/dev/full; } 2>&1
    echo "$command: exit $?"
done

echo "---- closed"
needlegrid export --db a.db 2>&1 >&-
echo "exit $?"
sweep --model "$ssmax" --context-lengths 256 --depths 50 --samples 1 --db a.db 2>err >&-
echo "exit $?"
grep needlegrid: err
sqlite3 a.db 'SELECT count(*) FROM trial' 'PRAGMA integrity_check'
