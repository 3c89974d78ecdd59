# Where prompts and haystacks are looked for: beside the program, in PREFIX/share, in --data.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

mkdir -p usr/bin usr/share/needlegrid alone
cp "$NEEDLEGRID" usr/bin/needlegrid
cp "$NEEDLEGRID" alone/needlegrid
ln -s "$ROOT/prompts" "$ROOT/haystacks" usr/share/needlegrid

rm prompts haystacks # the links
set -- run --model "$ssmax" --context-lengths 256 --depths 0 --samples 1 --dry-run
for program in usr/bin/needlegrid alone/needlegrid; do
    echo "---- $program"
    $program "$@" 2>&1
    echo "exit $?"
done
echo "---- --data"
alone/needlegrid "$@" --data usr/share/needlegrid
echo "---- a link to the program"
ln -s usr/bin/needlegrid link
./link "$@"
