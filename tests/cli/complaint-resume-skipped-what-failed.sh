# Resume skipped cells that had failed: here they are what the same command runs.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

again() {
    sweep --model "$ssmax" --context-lengths 256 --depths 0,100 --samples 2 --db a.db
}

again
dump a.db first
for outcome in truncated-by-server over-length transport-error skipped no-verdict; do
    sqlite3 a.db "UPDATE trial SET outcome = '$outcome', counted = 0, score = 0
        WHERE target_depth = 100 AND sample = 1"
    again
done
dump a.db last
same first last
