# Escape codes where they are asked for, and where not.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$softmax" --context-lengths 256,1k --depths 0,100 --samples 2 --db a.db
escape=$(printf '\033')

# codes ARGS: which kinds of escape codes a heatmap has
codes() {
    needlegrid heatmap --db a.db "$@" >map
    echo "heatmap $*: $(grep -c "${escape}\[48;2;" map) lines in true colour," \
        "$(grep -c "${escape}\[48;5;" map) in 256, $(grep -c "$escape" map) with any"
}

codes --color always
codes --color 256
codes --color never
codes --color auto
export COLORTERM=truecolor
codes --color auto
NO_COLOR=1 codes
NO_COLOR=1 codes --color always

echo "---- the text under the colours"
needlegrid heatmap --db a.db --color always | sed "s/$escape\[[0-9;]*m//g"
try heatmap --db a.db --color sometimes
