# What is at hand, a line each; a broken prompt is a line as well.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

needlegrid list --data .
mkdir data data/prompts data/haystacks
cp "$ROOT/prompts/tokyo.json" data/prompts
echo '{"task": 3}' >data/prompts/bad.json
cp "$ROOT/haystacks/manifest.json" data/haystacks
try list --data data
rm data/haystacks/manifest.json
try list --data data
