# One line: the name and what git calls this version.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

needlegrid --version >version
wc -l <version
grep -cE '^needlegrid [0-9A-Za-z._-]+$' version
