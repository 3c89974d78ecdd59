# The overview and the help of each command.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

needlegrid --help
for command in run heatmap export show info; do
    echo "---- $command"
    needlegrid $command --help
done

echo "---- the same in other words"
needlegrid --help >overview
for words in help -h; do
    needlegrid $words | cmp - overview && echo "$words"
done
needlegrid run --help >help
needlegrid run --model nowhere.gguf --help | cmp - help && echo "run --model nowhere.gguf --help"

echo "---- no command"
needlegrid 2>no-command
echo "exit $?"
cmp no-command overview && echo "the overview, on stderr"
