# Commands that read need a database with runs in it.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

for command in 'heatmap' 'export' 'export --format grid' 'export --format dump' 'show' 'show 1'; do
    # shellcheck disable=SC2086 # several words
    try $command --db none.db
done
: >empty.db
for command in 'heatmap' 'export' 'show'; do
    try $command --db empty.db
done

sweep --model "$ssmax" --context-lengths 256 --depths 0 --samples 1 --db a.db
cp a.db no-runs.db
sqlite3 no-runs.db 'PRAGMA foreign_keys = ON; DELETE FROM trial; DELETE FROM run'
try heatmap --db no-runs.db
try export --format grid --db no-runs.db
try show --db no-runs.db

echo "---- ids"
try heatmap --db a.db --run 2
try export --format grid --db a.db --run 2
try export --db a.db --run two
try export --format dump --db a.db --run 1
try show --db a.db --run 2
try show 2 --db a.db
try show two --db a.db
try show --db a.db --limit 0
try show --db a.db --outcome triumph
ls
