#!/bin/sh
# Runs one fuzzer: tests/fuzz/run.sh FUZZER SECONDS
#
# FUZZER is a program built with clang -fsanitize=fuzzer, named fuzz_<name>. It starts from a copy
# of tests/fuzz/corpus/<name>/, so the seeds in the repository stay as they are. Exits with 1 on a
# crash, a leak, a hang or too much memory; the input is then in tests/fuzz/crashes/.
set -eu

if [ $# -ne 2 ]; then
    echo "usage: tests/fuzz/run.sh FUZZER SECONDS" >&2
    exit 2
fi

fuzzer=$1
seconds=$2
here=$(cd "$(dirname "$0")" && pwd)
name=$(basename "$fuzzer")
name=${name#fuzz_}

case $seconds in
'' | *[!0-9]* | 0) echo "run.sh: seconds must be a whole number above 0, not '$seconds'" >&2; exit 2 ;;
esac
if [ ! -x "$fuzzer" ]; then
    echo "run.sh: there is no program $fuzzer; build it: make fuzz CC=clang FUZZ=1" >&2
    exit 2
fi
case $fuzzer in
*/*) ;;
*) fuzzer=./$fuzzer ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir -p "$work/corpus" "$here/crashes"
if [ -d "$here/corpus/$name" ]; then
    cp -R "$here/corpus/$name/." "$work/corpus/"
fi

# Seeds are small; headers and structure are where parsers fail, not long inputs.
echo "fuzzing $name for $seconds s"
if "$fuzzer" -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="$here/crashes/$name-" "$work/corpus" \
    2> "$work/log"; then
    grep -E '^(Done|stat::number_of_executed_units|stat::peak_rss_mb)' "$work/log" || true
    rmdir "$here/crashes" 2> /dev/null || true
    exit 0
fi
tail -n 60 "$work/log" >&2
echo "run.sh: $name failed; its input is in $here/crashes/" >&2
exit 1
