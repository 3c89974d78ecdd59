# Options that are wrong: one line each, which names the option and the mend.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

try run
try run --modle "$ssmax"
try run --context-length 256
try run --zebra
try run -m "$ssmax"
try run --model
try run --model "$ssmax" --samples
try run --model "$ssmax" --samples 3 --samples 4
try run --model "$ssmax" --dry-run=yes
try run --model "$ssmax" extra
try info
try info a b
try show 1 2
try bake
try run --help=me
sweep --model "$ssmax" --context-lengths 256 --depths 0 --samples 1 --db a.db
try export --format xml --db a.db
try heatmap --db a.db --width 0
