# A scorer that cannot judge the template's values is refused before anything runs or is stored.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sed 's/"digits": 7/"letters": 4/' prompts/tokyo.json >letters.json
try run --model "$ssmax" --prompt ./letters.json --context-lengths 256 --depths 0 --samples 1 --db a.db
sqlite3 a.db 'SELECT count(*) FROM run'
