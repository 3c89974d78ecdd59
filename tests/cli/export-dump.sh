# The canonical dump: the same for the same trials, in whatever order they were run.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$ssmax" --context-lengths 256,512 --depths 0,50,100 --samples 2 --db a.db
dump a.db once
dump a.db twice
same once twice
head -n 1 once

echo "---- another file, filled piece by piece"
sweep --model "$ssmax" --context-lengths 512 --depths 50 --samples 2 --db b.db
sweep --model "$ssmax" --context-lengths 256 --depths 0,50,100 --samples 1 --db b.db
sweep --model "$ssmax" --context-lengths 256,512 --depths 0,50,100 --samples 2 --db b.db
dump b.db pieces
same once pieces
