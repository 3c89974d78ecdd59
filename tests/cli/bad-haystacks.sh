# Haystacks that cannot be used: no text, not UTF-8, or with a key in it.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

mkdir no-text
echo hello >no-text/readme.md
try run --model "$ssmax" --haystack no-text --dry-run

mkdir -p mixed
echo "A good file." >mixed/1.txt
printf 'A bad\377byte.\n' >mixed/2.txt
try run --model "$ssmax" --haystack mixed --dry-run

printf 'Text with a\0zero.\n' >zero.txt
try run --model "$ssmax" --haystack zero.txt --dry-run

: >empty.txt
try run --model "$ssmax" --haystack empty.txt --dry-run
printf ' \n\n \n' >blank.txt
try run --model "$ssmax" --haystack blank.txt --dry-run

echo "It is said that in Paris nobody reads a haystack to its end." >key.txt
try run --model "$ssmax" --haystack key.txt --dry-run

echo "Parisian bread does no harm." >part.txt
try run --model "$ssmax" --haystack part.txt --context-lengths 256 --depths 50 --samples 1 --dry-run

try run --model "$ssmax" --haystack models/tiny-ssmax.gguf --dry-run
