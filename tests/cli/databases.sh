# Databases that cannot be used.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

one() {
    run=$(echo "$*" | sed 's/^--db //')
    echo "---- $run"
    try run --model "$ssmax" --context-lengths 256 --depths 0 --samples 1 "$@"
    try heatmap "$@"
}

one --db nowhere/a.db
one --db models

echo "This is a text file, and long enough not to be taken for an empty one." >text.db
one --db text.db

sqlite3 other.db 'CREATE TABLE t (a); INSERT INTO t VALUES (1)'
one --db other.db
sqlite3 other.db 'SELECT count(*) FROM sqlite_schema'

sweep --model "$ssmax" --context-lengths 256 --depths 0 --samples 1 --db newer.db
sqlite3 newer.db 'PRAGMA user_version = 99'
one --db newer.db
try export --db newer.db
try show --db newer.db

echo "---- cut"
sweep --model "$ssmax" --context-lengths 256 --depths 0,100 --samples 2 --db whole.db
head -c 9000 whole.db >cut.db
try export --db cut.db
ls
