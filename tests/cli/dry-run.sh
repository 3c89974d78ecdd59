# A plan is printed, nothing is run and no file made.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

needlegrid run --model "$ssmax" --context-lengths 256,1k --depths 0:100:5 --samples 3 --dry-run
needlegrid run --model "$ssmax" --model "$softmax" --context-lengths 1k:64k:3 --depths 50 --samples 1 \
    --haystack prose --prompt prompts/tokyo.json --seed 18446744073709551615 --dry-run
needlegrid run --model "$ssmax" --context-lengths 512,32k --depths 0,100 --samples 1 --dry-run
ls
