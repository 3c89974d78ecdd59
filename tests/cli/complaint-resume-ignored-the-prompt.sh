# Resume ignored needle, question or template: here any change of the prompt's file runs anew, and
# its old results stay beside the new ones.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

run() {
    sweep --model "$ssmax" --prompt "$1" --context-lengths 256 --depths 0 --samples 2 --db a.db
}

cp prompts/tokyo.json mine.json
run mine.json
run mine.json
sed 's/"needle": " The special/"needle": " Note: the special/' prompts/tokyo.json >mine.json
run mine.json
sed 's/What is the special/Which is the special/' prompts/tokyo.json >mine.json
run mine.json
sed 's/"max_tokens": 16/"max_tokens": 12/' prompts/tokyo.json >mine.json
run mine.json
cp prompts/tokyo.json mine.json
run mine.json
sqlite3 a.db 'SELECT run_id, count(*), count(DISTINCT trial_key) FROM trial GROUP BY run_id'
