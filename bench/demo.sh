#!/bin/sh
# The first sweep: the shipped Softmax and SSMax models, 6 lengths x 11 depths x 5 samples each,
# and their heatmaps side by side. An interrupted demo goes on where it stopped.
set -eu
needlegrid=${1:-./needlegrid}
db=${2:-results/demo.db}
mkdir -p "$(dirname "$db")"

"$needlegrid" run --db "$db" \
    --model models/tiny-softmax.gguf --model models/tiny-ssmax.gguf \
    --context-lengths 256,512,1k,2k,4k,8k --depths 0:100:11 --samples 5
echo
"$needlegrid" heatmap --db "$db" --width 120
