# A haystack of JSON lines, its field chosen, and what is wrong with bad ones.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

awk 'BEGIN {
    for (i = 0; i < 300; i++)
        print "{\"id\": " i ", \"text\": \"Row after row of the same.\", \"body\": \"Another one.\"}"
}' >rows.jsonl
plan() {
    try run --model "$ssmax" --context-lengths 256 --samples 1 --depths 50 --dry-run "$@"
}

plan --haystack rows.jsonl
plan --haystack rows.jsonl --haystack-field body
plan --haystack rows.jsonl --haystack-field title
echo '{"text": "half' >>rows.jsonl
plan --haystack rows.jsonl
printf '{"text": "One."}\n\n{"text": 7}\n' >number.jsonl
plan --haystack number.jsonl
: >empty.jsonl
plan --haystack empty.jsonl
plan --haystack-field body
