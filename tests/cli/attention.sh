# Another attention rule than the model's own is another run, and says where its scales are from.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

for rule in model softmax ssmax ssmax:s=0.2 ssmax-fixed:s=0.1685 ssmax-bias:s=0.15,b=0.25; do
    sweep --model "$softmax" --attention $rule --context-lengths 256 --depths 0 --samples 1 --db a.db
done
sweep --model "$ssmax" --attention softmax --context-lengths 256 --depths 0 --samples 1 --db a.db
sqlite3 a.db 'SELECT run_id, model_name, rule, rule_detail FROM run'

echo "---- rope"
sweep --model "$softmax" --rope-theta 1000000 --rope-scale 2 \
    --context-lengths 256 --depths 0 --samples 1 --db a.db
sqlite3 a.db 'SELECT rule, rule_detail FROM run ORDER BY run_id DESC LIMIT 1'
