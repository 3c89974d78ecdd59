# Options that do not go together, and keys that run out.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

plan() {
    try run --model "$ssmax" --data . --samples 1 --dry-run --context-lengths "$@"
}

plan 1k --task cwe --haystack essays
plan 1k --task cwe --packed
plan 1k --task vt --distractors 3
plan 1k --task multi-query --packed
plan 1k --task niah_multikey_2 --haystack needles --depths 50
plan 1k --task vt --haystack needles
plan 1k --distractors 65
plan 1k --distractors 1001
plan 1k --distractors many
plan 1k --haystack needles
plan 4k --haystack needles
plan 1k --depth-scale log
plan 100 --task fwe
plan 256 --distractors 20
