# What cannot be judged is said.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

try score --db nowhere.db
test -e nowhere.db || echo "no file is made"
sweep --model "$ssmax" --context-lengths 256 --depths 0 --samples 1 --db a.db
try score --db a.db --scorer judge
try score --db a.db --run 7
try score --db a.db --refusals nowhere.txt
printf 'good\n(bad\n' >refusals.txt
try score --db a.db --refusals refusals.txt
try score --db a.db --data models
echo "---- verdicts that are not there"
for command in heatmap export "export --format grid" show "show 1"; do
    # shellcheck disable=SC2086
    try $command --db a.db --scorer contains
done
try heatmap --db a.db --scorer contians
try export --format dump --db a.db --scorer number
echo "---- no answers"
sqlite3 a.db "UPDATE trial SET outcome = 'transport-error', counted = 0, score = 0, error = 'gone'"
try score --db a.db
try score --db a.db --scorer logprob
sqlite3 a.db 'DELETE FROM trial'
try score --db a.db
sqlite3 a.db 'DELETE FROM run'
try score --db a.db
