# Missing cells were drawn as zero: here a cell without trials, one whose trials all failed and one
# whose answers are all wrong look unlike.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"
. "$ROOT/tests/support/made_db.sh"

made_db a.db
made_trials a.db '[256, 512]' '[0, 50, 100]' 2 'depth < 100'
sqlite3 a.db "DELETE FROM trial WHERE context_length = 512 AND target_depth = 0;
    UPDATE trial SET outcome = 'transport-error', counted = 0, score = 0
    WHERE context_length = 512 AND target_depth = 50"
needlegrid heatmap --db a.db
needlegrid heatmap --db a.db --n --interval
needlegrid export --db a.db --format grid
needlegrid summary --db a.db --format csv | cut -d , -f 6-9,14

echo "---- a length without any"
sqlite3 a.db "DELETE FROM trial WHERE context_length = 512 AND target_depth = 100"
needlegrid heatmap --db a.db
needlegrid export --db a.db --format grid
needlegrid summary --db a.db --format json >a.json
sqlite3 :memory: "SELECT json_type(j, '\$[0].lengths[1].accuracy'),
    json_extract(j, '\$[0].lengths[1].n') FROM (SELECT readfile('a.json') AS j)"
