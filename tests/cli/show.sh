# Lists of trials: all, of one outcome, misses, of one run, so many.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$softmax" --model "$ssmax" --context-lengths 256,1k --depths 0,100 --samples 2 --db a.db
try show --db a.db
try show --db a.db --outcome hit --run 1
try show --db a.db --outcome miss
try show --db a.db --limit 2
try show --db a.db --run 2 --limit 1
