# Trials as CSV: one row each, in the order of run, length, depth, sample.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$softmax" --context-lengths 256,1k --depths 0,50 --samples 2 --db a.db

# The last column is the latency; the log-probability's last digits depend on the C library.
needlegrid export --db a.db >trials.csv
awk -F, -v OFS=, 'NR > 1 { $15 = sprintf("%.3f", $15); $NF = "" } 1' trials.csv
grep -cE ',[0-9]+(\.[0-9]+)?$' trials.csv
needlegrid export --db a.db --format trials --run 1 | cmp - trials.csv && echo "run 1 is all there is"
