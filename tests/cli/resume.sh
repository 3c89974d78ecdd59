# A second run of the same command finds all trials; a larger grid runs what is new.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$ssmax" --context-lengths 256 --depths 0,100 --samples 2 --db a.db
dump a.db first
sweep --model "$ssmax" --context-lengths 256 --depths 0,100 --samples 2 --db a.db
dump a.db second
same first second
sweep --model "$ssmax" --context-lengths 256,512 --depths 0,50,100 --samples 2 --db a.db

echo "---- another seed and another rule are other runs"
sweep --model "$ssmax" --context-lengths 256 --depths 0 --samples 1 --seed 1 --db a.db
sweep --model "$ssmax" --context-lengths 256 --depths 0 --samples 1 --attention softmax --db a.db
ls
