# Files that are no models, cut ones, and ones that this version does not run.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

try run --model nowhere.gguf --dry-run
try info nowhere.gguf
try info models
try info "$ROOT/prompts/tokyo.json" | sed "s|$ROOT|ROOT|g"

size=$(($(wc -c <"$ssmax")))
for n in 0 3 4 8 23 24 100 1000 20000 $((size / 2)) $((size - 100)); do
    head -c $n "$ssmax" >cut.gguf
    echo "---- the first $n bytes"
    try info cut.gguf
done
try run --model cut.gguf

# overwrite OFFSET BYTES: the shipped model with some bytes changed
overwrite() {
    cat "$ssmax" >changed.gguf
    printf '%b' "$2" | dd of=changed.gguf bs=1 seek="$1" conv=notrunc 2>err
    try run --model changed.gguf --context-lengths 256 --depths 0 --samples 1 --db a.db
}

# offset TEXT: of the byte after the first place with this text
offset() {
    at=$(LC_ALL=C grep -obUa "$1" "$ssmax" | head -n 1 | cut -d : -f 1)
    echo $((at + ${#1}))
}

echo "---- magic, version"
overwrite 0 XXXX
overwrite 4 '\01\0\0\0'
overwrite 4 '\04\0\0\0'
echo "---- 2^56 tensors more, 2^56 keys more"
overwrite 15 '\01'
overwrite 23 '\01'
echo "---- another architecture (after the key: 4 bytes of type, 8 of length)"
overwrite $(($(offset general.architecture) + 12 + 4)) b
echo "---- a type of tensor that is not run, and one that does not exist"
name=blk.0.attn_q.weight # 4 bytes of dimensions, two of 8, then the type
overwrite $(($(offset $name) + 20)) '\010'
overwrite $(($(offset $name) + 20)) '\0377'
echo "---- a tensor that is not there"
overwrite $(($(offset $name) - 1)) x
ls
