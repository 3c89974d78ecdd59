# Every command of README.md works where README says: at the top, with results/ there.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

ln -s "$ROOT/README.md" .
ln -s "$NEEDLEGRID" needlegrid
mkdir results

# The lines of the sh blocks, continued ones joined.
awk '/^```/ { inside = $0 == "```sh"; next } inside' README.md |
    sed -e ':more' -e '/\\$/{' -e 'N' -e 's/ *\\\n */ /' -e 'b more' -e '}' >commands

grep -E '^(\./needlegrid|sqlite3) ' commands >examples
while read -r command; do
    sh -c "$command" >out 2>err </dev/null
    code=$?
    echo "exit $code: $command"
    [ $code -eq 0 ] || cat err
done <examples
wc -l <trials.csv
wc -l <grid.csv
sqlite3 results/mine.db 'SELECT run_id, model_name, rule, haystack_name FROM run'
