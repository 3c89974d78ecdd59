# Mistakes in a config file name the file and the place.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

mistake() {
    echo "---- $1"
    printf '%s' "$1" >sweep.json
    try run --config sweep.json
}

mistake '{"sample": 3}'
mistake '{"colour": "red"}'
mistake '{"config": "other.json"}'
mistake '{"samples": true}'
mistake '{"model": [{"file": "a.gguf"}]}'
mistake '{"no-reuse": "yes"}'
mistake '{"samples": 1, "samples": 2}'
mistake '["samples", 1]'
mistake '{"samples": 1'
mistake '{"model": "models/tiny-ssmax.gguf", "samples": 1.5}'
mistake '{"model": "models/tiny-ssmax.gguf", "samples": [1, 2]}'
try run --config nowhere.json
