# Numbers and lists that are none, or out of range.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

for lengths in '' ',' '256,' 256,,512 256x 4kk -256 0 256:512 256:512:1 512:256:3 1e3 0x100 nan 2000M \
    ' 256' 16 45; do
    try run --model "$ssmax" --context-lengths "$lengths" --dry-run
done
for depths in '' 101 -1 50% 0:100 0:100:0 1k '0;50'; do
    try run --model "$ssmax" --depths "$depths" --dry-run
done
for samples in '' 0 -1 1.5 1e3 +5 99999999999999999999 'three'; do
    try run --model "$ssmax" --samples "$samples" --dry-run
done
try run --model "$ssmax" --seed 18446744073709551616 --dry-run
try run --model "$ssmax" --seed -1 --dry-run
try run --model "$ssmax" --threads 0 --dry-run
try run --model "$ssmax" --rope-theta 0 --dry-run
try run --model "$ssmax" --rope-theta inf --dry-run
try run --model "$ssmax" --rope-scale nan --dry-run
try run --model "$ssmax" --context-lengths 1k:1M:10000 --depths 0:100:10000 --samples 1000000 --dry-run
try run --model "$ssmax" --context-lengths 1k:8k:10001 --dry-run
