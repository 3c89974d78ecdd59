# It was unclear how averages form: the formula and n stand below them, and the figures are those
# that the formula gives, trial by trial, when cells differ in n.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"
. "$ROOT/tests/support/made_db.sh"

made_db a.db
made_trials a.db '[256, 512]' '[0, 50, 100]' 6 'depth = 0 OR sample < 2'
sqlite3 a.db 'DELETE FROM trial WHERE target_depth = 0 AND sample > 0'
needlegrid summary --db a.db | grep -E '^accuracy =|^ +(tokens|256|512|overall|depth|[0-9.]+%) '
needlegrid heatmap --db a.db --n

echo "---- by hand: sum of scores / trials that count"
needlegrid export --db a.db >a.csv
sqlite3 :memory: '.mode csv' '.import a.csv t' '.mode list' "
    SELECT context_length, round(100.0 * sum(score) / count(*), 1), count(*) FROM t GROUP BY context_length;
    SELECT target_depth, round(100.0 * sum(score) / count(*), 1), count(*) FROM t
        GROUP BY target_depth + 0;
    SELECT 'overall', round(100.0 * sum(score) / count(*), 1), count(*) FROM t"
