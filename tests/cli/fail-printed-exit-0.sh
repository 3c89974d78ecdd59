# "FAIL" was printed, and the exit code was 0: here what goes wrong is said and ends with its code.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

# code COMMAND...: the exit code, whatever was printed, and where to.
code() {
    needlegrid "$@" >out 2>err
    echo "exit $?, $(wc -l <err) line on stderr: needlegrid $*"
}

sweep --model "$ssmax" --context-lengths 256 --depths 0,100 --samples 2 --db a.db
code score --db a.db --scorer number
code score --db a.db --scorer exact
sqlite3 a.db "UPDATE trial SET response = printf('%.*c!', 60, 'a') WHERE trial_id = 2"
code score --db a.db --scorer regex --pattern '^(\w+\s?)*$'
sqlite3 a.db "UPDATE trial SET response = printf('%.*c!', 60, 'a')"
code score --db a.db --scorer regex --pattern '^(\w+\s?)*$'
code heatmap --db a.db --scorer regex
code export --db a.db --scorer regex
code heatmap --db a.db --scorer all-of
code score --db a.db --scorer regex --pattern '('
code score --db nowhere.db
sqlite3 a.db "UPDATE trial SET outcome = 'transport-error', counted = 0, score = 0, error = 'gone'"
code score --db a.db
