#!/bin/sh
# How far ahead SSMax is of Softmax at 16 times the training length: the shipped pair, 40 samples x
# 5 depths at 4,096 tokens, on essays and on generated prose. Everything comes from the database;
# the interval is over samples (mean of the paired differences +- 2.023 standard errors, the 97.5%
# point of Student's t with 39 degrees of freedom), since depths of one sample share their text.
set -eu
needlegrid=${1:-./needlegrid}
db=${2:-results/beyond-training.db}
mkdir -p "$(dirname "$db")"

for haystack in essays prose; do
    "$needlegrid" run --db "$db" --haystack "$haystack" \
        --model models/tiny-softmax.gguf --model models/tiny-ssmax.gguf \
        --context-lengths 4k --depths 0:100:5 --samples 40
done
echo
sqlite3 -header -column "$db" "
    WITH by_sample AS (
        SELECT haystack, sample,
               avg(score) FILTER (WHERE rule = 'softmax') AS softmax,
               avg(score) FILTER (WHERE rule = 'ssmax') AS ssmax
        FROM trials WHERE counted GROUP BY haystack, sample),
    summary AS (
        SELECT haystack, count(*) AS n, avg(softmax) AS a, avg(ssmax) AS b,
               avg((ssmax - softmax) * (ssmax - softmax)) AS square
        FROM by_sample GROUP BY haystack)
    SELECT haystack, n AS samples, round(a, 3) AS softmax, round(b, 3) AS ssmax,
           round(b - a, 3) AS ahead,
           round(b - a - 2.023 * sqrt((square - (b - a) * (b - a)) / (n - 1)), 3) AS low,
           round(b - a + 2.023 * sqrt((square - (b - a) * (b - a)) / (n - 1)), 3) AS high
    FROM summary;"
