# One trial: what was asked, what was answered, the prompt around needle and question.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$ssmax" --context-lengths 512 --depths 0,50,100 --samples 1 --db a.db
for trial in 1 2 3; do
    needlegrid show $trial --db a.db
done
