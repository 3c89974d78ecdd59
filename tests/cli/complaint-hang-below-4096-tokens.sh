# "It hangs below 4,096 tokens": here each prompt says its minimum at once, and runs from there on.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

for p in prompts/*.json; do
    said=
    for length in 1 20; do
        timeout 20 "$NEEDLEGRID" run --model "$ssmax" --data . --prompt "$p" --dry-run \
            --context-lengths $length --samples 1 >out 2>err
        said="$said exit $?, minimum said $(grep -c 'minimum for prompt .* is [0-9]* tokens$' err);"
    done
    echo "$p:$said"
    minimum=$(sed -n 's/.*is \([0-9]*\) tokens$/\1/p' err)
    timeout 20 "$NEEDLEGRID" run --model "$ssmax" --data . --prompt "$p" --dry-run \
        --context-lengths $((minimum + 2)) --samples 2 >out 2>err || cat err
done
ls
