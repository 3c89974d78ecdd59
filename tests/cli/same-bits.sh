# Threads and reuse of the cache change no bit of an answer or a probability.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

# with DB OPTION...
with() {
    db=$1.db
    shift
    sweep --model "$ssmax" --context-lengths 256,1k --depths 0:100:3 --samples 2 --db "$db" "$@" >out
    dump "$db" "${db%.db}"
}

with one-thread --threads 1
with two-threads --threads 2
with five-threads --threads 5
with no-reuse --threads 2 --no-reuse
same one-thread two-threads
same one-thread five-threads
same one-thread no-reuse
sqlite3 no-reuse.db 'SELECT sum(reused_tokens) FROM trial'
sqlite3 one-thread.db 'SELECT sum(reused_tokens) > 0 FROM trial'
