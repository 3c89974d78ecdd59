# Trials as CSV: one row each, in the order of run, length, depth, sample.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$softmax" --context-lengths 256,1k --depths 0,50 --samples 2 --db a.db

# Column 17 is the latency; the log-probability's last digits depend on the C library.
needlegrid export --db a.db >trials.csv
awk -F, -v OFS=, 'NR > 1 { $15 = sprintf("%.3f", $15); $17 = "" } 1' trials.csv
awk -F, 'NR > 1 && $17 > 0' trials.csv | wc -l
needlegrid export --db a.db --format trials --run 1 | cmp - trials.csv && echo "run 1 is all there is"
