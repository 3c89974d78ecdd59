# Template files that are wrong: syntax with its line, fields with their path.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

# template FILTER: the shipped one, changed by sed
template() {
    sed "$1" prompts/tokyo.json >bad.json
    if cmp -s prompts/tokyo.json bad.json; then
        echo "the template has changed: $1 finds nothing"
    fi
    echo "---- $1"
    try run --model "$ssmax" --prompt bad.json --dry-run
}

template 's/"task": "single",/"task": "single"/'
template '/"scorer"/d'
template 's/{"digits": 7}/{"digits": "seven"}/'
template 's/{"digits": 7}/{"digits": 0}/'
template 's/{"digits": 7}/{}/'
template 's/"max_tokens": 16/"max_tokens": 16.5/'
template 's/"scorer": "number"/"scorer": "guess"/'
template 's/"stop"/"stops"/'
template 's/is: {value}/is: {number}/'
template 's/is: {value}/is secret/'
template 's/What is the special magic {key} number/What is the number/'
template 's/"London", "Paris"/"London", "London"/'
template 's/"London", "Paris"/"London", 7/'
template '/^}/d'
: >empty.json
try run --model "$ssmax" --prompt empty.json --dry-run
echo '[]' >list.json
try run --model "$ssmax" --prompt list.json --dry-run
