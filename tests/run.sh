#!/usr/bin/env bash
#
# tests/run.sh PROGRAM TESTS...
#
# Runs each unit test program from the top of the repository and then, if PROGRAM is not empty,
# each case in tests/cli. The last line is "N passed, N failed", N being single tests and cases.
#
# A case is tests/cli/NAME.sh, a short script that runs in a folder of its own with
#   NEEDLEGRID   the program, an absolute path
#   ROOT         the top of the repository
# Beside it lie NAME.stdout, what it must print to the letter, and where wanted NAME.stderr and
# NAME.exit (the exit code, 0 without the file).
#
# UPDATE=1 writes NAME.stdout, and NAME.stderr and NAME.exit where they exist, instead: read the
# difference before you commit it.

set -u
cd "$(dirname "$0")/.." || exit 2
ROOT=$PWD
program=${1-}
[ $# -gt 0 ] && shift

passed=0
failed=0
skipped=0
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

export CMOCKA_MESSAGE_OUTPUT=TAP
# An allocation that is too large must come back as NULL under AddressSanitizer as well.
export ASAN_OPTIONS="allocator_may_return_null=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export LC_ALL=C TERM=dumb
unset NO_COLOR COLUMNS

fail() {
    failed=$((failed + 1))
    echo "FAIL  $1"
}

indent() {
    sed 's/^/      /' "$1"
}

# cmocka's TAP report: "1..N", "ok I - name", "not ok I - name", "not ok I # SKIP name".
run_unit_test() {
    local name out status planned good bad skip
    name=$(basename "$1")
    out=$scratch/out
    "$1" >"$out" 2>&1 </dev/null
    status=$?
    planned=$(sed -n 's/^1\.\.\([0-9][0-9]*\)$/\1/p' "$out" | head -n 1)
    good=$(grep -c '^ok [0-9]' "$out")
    skip=$(grep -c '^not ok [0-9]* # SKIP' "$out")
    bad=$(($(grep -c '^not ok [0-9]' "$out") - skip))
    passed=$((passed + good))
    skipped=$((skipped + skip))
    if [ "$bad" -eq 0 ] && [ "$status" -eq 0 ] && [ "${planned:-0}" -gt 0 ] &&
        [ $((good + skip)) -eq "$planned" ]; then
        return
    fi
    while read -r line; do
        fail "$name: $line"
    done < <(grep '^not ok [0-9]' "$out" | grep -v '# SKIP' | sed 's/^not ok [0-9]* - //')
    if [ "$bad" -eq 0 ]; then
        fail "$name: ended with code $status after $good of ${planned:-an unknown number of} tests"
    fi
    grep -v '^ok ' "$out" | head -n 60 >"$scratch/shown"
    indent "$scratch/shown"
}

# compare NAME WHAT ACTUAL: true if the file tests/cli/NAME.WHAT has just these contents.
compare() {
    local want=$ROOT/tests/cli/$1.$2
    if [ "${UPDATE-}" = 1 ]; then
        cp "$3" "$want"
        return 0
    fi
    diff -u --label "$1.$2" --label "what came" "$want" "$3" >>"$scratch/diff"
}

run_cli_case() {
    local name work good
    name=$(basename "$1" .sh)
    work=$scratch/work
    good=1
    rm -rf "$work" "$scratch/diff"
    mkdir "$work"
    (
        cd "$work" || exit 2
        export HOME=$work NEEDLEGRID=$program ROOT
        exec timeout 300 sh "$ROOT/$1"
    ) >"$scratch/stdout" 2>"$scratch/stderr" </dev/null
    echo $? >"$scratch/exit"

    if [ -e "$ROOT/tests/cli/$name.stdout" ] || [ "${UPDATE-}" = 1 ]; then
        compare "$name" stdout "$scratch/stdout" || good=0
    else
        good=0
        echo "$name.stdout is missing: write it, or run with UPDATE=1" >>"$scratch/diff"
    fi
    if [ -e "$ROOT/tests/cli/$name.stderr" ]; then
        compare "$name" stderr "$scratch/stderr" || good=0
    fi
    if [ -e "$ROOT/tests/cli/$name.exit" ]; then
        compare "$name" exit "$scratch/exit" || good=0
    elif [ "$(cat "$scratch/exit")" != 0 ]; then
        good=0
        echo "exit code $(cat "$scratch/exit"), expected 0; on stderr:" >>"$scratch/diff"
        head -n 40 "$scratch/stderr" >>"$scratch/diff"
    fi

    if [ $good = 1 ]; then
        passed=$((passed + 1))
    else
        fail "cli/$name"
        indent "$scratch/diff"
    fi
}

for t in "$@"; do
    run_unit_test "$t"
done

if [ -n "$program" ]; then
    program=$(realpath "$program") || exit 2
    [ -x "$program" ] || { echo "tests/run.sh: $program is no program"; exit 2; }
    for c in tests/cli/*.sh; do
        [ -e "$c" ] && run_cli_case "$c"
    done
fi

[ $skipped -gt 0 ] && echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
