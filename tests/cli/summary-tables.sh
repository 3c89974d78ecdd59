# summary: a real run's figures as a table, JSON and CSV.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$softmax" --context-lengths 256,1k --depths 0:100:3 --samples 3 --db a.db
needlegrid summary --db a.db

echo "---- the same twice, and by csv"
needlegrid summary --db a.db >first
needlegrid summary --db a.db >second
same first second
needlegrid summary --db a.db --format csv | cut -d , -f 1-14

echo "---- json that others can read"
needlegrid summary --db a.db --format json >a.json
sqlite3 :memory: "SELECT json_extract(j, '\$[0].lengths[1].accuracy') = 6 / 9.0,
    json_extract(j, '\$[0].overall.n'), json_extract(j, '\$[0].effective_length.absolute.length'),
    json_array_length(j, '\$[0].depths') FROM (SELECT readfile('a.json') AS j)"
