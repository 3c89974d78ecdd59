# The facts of a model, under its own rule and another.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

needlegrid info --isa generic "$ssmax"
needlegrid info --isa generic "$softmax"
needlegrid info --isa generic "$softmax" --attention ssmax:s=0.2
