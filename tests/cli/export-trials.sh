# Trials as CSV: one row each, in the order of run, length, depth, sample.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model $softmax --context-lengths 256,1k --depths 0,50 --samples 2 --db a.db

# The last column is the latency, the one before it why the answer ended.
needlegrid export --db a.db >trials.csv
sed 's/,[^,]*$//' trials.csv
grep -cE ',[0-9]+(\.[0-9]+)?$' trials.csv
needlegrid export --db a.db --format trials --run 1 | cmp - trials.csv && echo "run 1 is all there is"
needlegrid export --db a.db --run 2
