# The help said 512, the code had 1024: each default in a help, given outright, changes nothing.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

# defaults COMMAND: "--name value" a line, from its help, without --db.
defaults() {
    needlegrid "$1" --help | sed -n 's/^  --\([a-z-]*\) [A-Z].*\[\(.*\)\]$/--\1 \2/p
        s/^  --\([a-z-]*\) [A-Z].*default: \([0-9][0-9.]*\).*/--\1 \2/p' | grep -v '^--db '
}

echo "---- run"
defaults run
# shellcheck disable=SC2046 # words are what is wanted
needlegrid run --model "$ssmax" --data . --dry-run $(defaults run) >given
needlegrid run --model "$ssmax" --data . --dry-run >left-out
same given left-out
sweep --model "$ssmax" --data . --context-lengths 256 --depths 0 --db a.db 2>/dev/null
sqlite3 a.db "SELECT settings FROM run" >settings
defaults run | grep -v 'context-lengths\|depths' | while read -r name value; do
    grep -c "\"${name#--}\":\"$value\"" settings
done

for command in heatmap summary export show 'plan --power' attention; do
    echo "---- $command"
    defaults "${command%% *}"
    # shellcheck disable=SC2046,SC2086
    needlegrid $command --db a.db $(defaults "${command%% *}") >given 2>&1
    # shellcheck disable=SC2086
    needlegrid $command --db a.db >left-out 2>&1
    same given left-out
done

echo "---- --db"
for command in run heatmap summary export show attention score; do
    needlegrid $command --help | sed -n 's/^  --db .*\[\(.*\)\]$/\1/p'
done | sort | uniq -c | sed 's/^ *//'
sweep --model "$ssmax" --data . --context-lengths 256 --depths 0 --samples 1 2>/dev/null
needlegrid summary | head -n 1
ls ./*.db
