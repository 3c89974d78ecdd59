# Names of nothing: rules, instruction sets, tasks, prompts, haystacks, folders.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

for rule in sotfmax ssmax: ssmax:t=1 ssmax:s= ssmax:s=x ssmax-fixed:s=nan softmax:s=1 \
    ssmax:s=1,b=2 SSMax; do
    try run --model "$ssmax" --attention $rule --dry-run
done
# The rest of the line names those of this machine.
try run --model "$ssmax" --isa mmx --dry-run | sed 's/generic.*/generic .../'
try run --model "$ssmax" --task multi --data . --dry-run
try run --model "$ssmax" --task multi-key --prompt tokyo --dry-run
try run --model "$ssmax" --prompt kyoto --data . --dry-run
try run --model "$ssmax" --prompt ./kyoto.json --data . --dry-run
try run --model "$ssmax" --haystack nowhere --dry-run
try run --model "$ssmax" --haystack nowhere.txt --dry-run
try run --model "$ssmax" --data models --dry-run
try run --model "$ssmax" --data nowhere --dry-run
