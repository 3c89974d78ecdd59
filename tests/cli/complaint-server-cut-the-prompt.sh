# A prompt that was cut, too long or never answered was scored all the same: such trials are counted
# beside the others, in no figure.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"
. "$ROOT/tests/support/made_db.sh"

made_db a.db
made_trials a.db '[256, 512]' '[0, 50, 100]' 4 'sample < 3'
needlegrid heatmap --db a.db --n
for outcome in truncated-by-server over-length transport-error skipped; do
    echo "---- $outcome"
    sqlite3 a.db "UPDATE trial SET outcome = '$outcome', counted = 0, score = 0
        WHERE sample = 3 AND context_length = 512"
    needlegrid heatmap --db a.db --n
    needlegrid summary --db a.db --format csv | cut -d , -f 6-9,14
    needlegrid summary --db a.db | grep counted:
    needlegrid export --db a.db --format grid
done
