# Refusals by a list of one's own; `absent` trials, where a refusal is the hit.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$ssmax" --context-lengths 256 --depths 0,50,100 --samples 1 --db a.db
sqlite3 a.db "UPDATE trial SET response = 'No idea.' WHERE trial_id = 1;
    UPDATE trial SET response = 'I don''t know.' WHERE trial_id = 2;
    UPDATE trial SET response = 'It is 1234567.' WHERE trial_id = 3"
needlegrid score --db a.db
echo "---- another list"
printf '# ours\nno idea\n' >refusals.txt
needlegrid score --db a.db --refusals refusals.txt
echo "---- nothing was planted"
sqlite3 a.db 'UPDATE trial SET absent = 1, n_expected = 0, expected = NULL'
needlegrid score --db a.db
needlegrid show --db a.db --scorer number
