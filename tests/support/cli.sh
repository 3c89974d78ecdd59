# shellcheck shell=sh
#
# What the cases in tests/cli share. A case sources it first; it links models, prompts and
# haystacks into the case's folder, so that no message names a path of this machine.

ln -s "$ROOT/models" "$ROOT/prompts" "$ROOT/haystacks" .
# shellcheck disable=SC2034 # the cases use them
ssmax=models/tiny-ssmax.gguf
# shellcheck disable=SC2034
softmax=models/tiny-softmax.gguf

needlegrid() {
    "$NEEDLEGRID" "$@"
}

# A sweep on the plain C kernels, whose answers are the same bits on every machine.
sweep() {
    "$NEEDLEGRID" run --isa generic "$@"
}

# The command, all it says, and its exit code.
try() {
    echo "\$ needlegrid $*"
    "$NEEDLEGRID" "$@" 2>&1
    echo "exit $?"
}

# dump DB FILE: the canonical dump, with its number of trials on stdout.
dump() {
    needlegrid export --format dump --db "$1" >"$2"
    echo "$1: $(($(wc -l <"$2") - 1)) trials"
}

# same FILE FILE
same() {
    if cmp "$1" "$2"; then
        echo "$1 and $2 are the same"
    fi
}

# trials DB: how many it holds by now, 0 if it is not there yet.
trials() {
    sqlite3 -cmd '.timeout 5000' "file:$1?mode=ro" 'SELECT count(*) FROM trial' 2>/dev/null ||
        echo 0
}

# await_trial DB N PID: until the database has more than N trials, or the process has ended.
await_trial() {
    until [ "$(trials "$1")" -gt "$2" ]; do
        kill -0 "$3" 2>/dev/null || return 1
        sleep 0.01
    done
}
