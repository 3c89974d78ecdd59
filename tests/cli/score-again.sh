# Stored answers judged by another scorer, without a model; both verdicts stay.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$softmax" --context-lengths 256,1k,4k --depths 0,50 --samples 3 --db a.db
needlegrid export --db a.db | cut -d, -f1-16 >own
dump a.db before

echo "---- contains"
mv models away
needlegrid score --db a.db --scorer contains
needlegrid export --db a.db | cut -d, -f1-16 | cmp - own && echo "the own verdicts are as they were"
needlegrid export --db a.db --scorer contains | cut -d, -f1-4,11-14
needlegrid export --db a.db --scorer contains --format grid

echo "---- logprob"
needlegrid score --db a.db --scorer logprob | head -n 1
needlegrid heatmap --db a.db --scorer logprob

echo "---- the run's own scorer"
needlegrid score --db a.db
needlegrid export --db a.db --scorer number | cut -d, -f1-16 | cmp - own && echo "number says the same"

echo "---- one trial"
needlegrid show 1 --db a.db | sed -n '/^outcome/,/^also/p'
needlegrid show 1 --db a.db --scorer contains | grep '^outcome'
needlegrid show --db a.db --scorer contains --outcome partial --limit 3

echo "---- the dump"
dump a.db after >lines
n=$(wc -l <before)
head -n "$n" after | cmp - before && echo "trials as before"
tail -n +$((n + 1)) after | head -n 2
sqlite3 a.db "SELECT scorer, own, count(*), sum(outcome = 'hit') FROM verdicts GROUP BY 1, 2"
