# Each kind of haystack: shipped, generated, a file, a folder.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

mkdir folder
cp "$ROOT/haystacks/essays/01-tides.txt" "$ROOT/haystacks/essays/02-bread.txt" folder
echo "Not a .txt file, so never read: the word Tokyo does no harm." >folder/notes.md

for haystack in essays prose noise haystacks/essays/04-maps.txt folder; do
    sweep --model "$ssmax" --haystack $haystack --context-lengths 256,512 --depths 50 --samples 1 \
        --db a.db
done
sqlite3 a.db 'SELECT run.haystack_name, trial.haystack_name, context_length, outcome
    FROM trial JOIN run USING (run_id) ORDER BY run_id, context_length'
sqlite3 a.db 'SELECT count(DISTINCT haystack_hash) FROM trial'
needlegrid show 5 --db a.db | tail -n 1
