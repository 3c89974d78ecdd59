#!/bin/sh
#
# tests/lint/layers.sh: the include laws. A folder of src/ includes only lower layers; folders of
# one layer never include each other; a library's header is included in one place alone.
# Prints each breach; exit code 1 if there is one.
set -eu
cd "$(dirname "$0")/../.."

layers="base:0 format:1 net:1 regex:1 token:2 kernel:2 text:3 score:3 engine:3 train:4 backend:4
store:4 report:5 run:6 cli:7"

# A public header belongs to the folder that has a file of its name; these have none.
owners="trial:text term:report span:base"

# Header (or folder of headers) : the only file or folder of src/ that may include it.
libraries="sqlite3.h:store pcre2.h:regex cjson/:base/json.c openssl/:base/hash.c curl/:net
cairo:report"

owners_by_file=$(for f in src/*/*.c; do
    folder=${f#src/}
    name=${f##*/}
    echo "${name%.c}:${folder%%/*}"
done)

grep -n '^[ 	]*#[ 	]*include' src/*/*.[ch] include/needlegrid/*.h |
    awk -v layers="$layers" -v owners="$owners" -v owners_by_file="$owners_by_file" \
        -v libraries="$libraries" '
    function table(text, to,    pairs, n, i, pair) {
        n = split(text, pairs, /[ \n]+/)
        for (i = 1; i <= n; i++)
            if (split(pairs[i], pair, ":") == 2)
                to[pair[1]] = pair[2]
    }
    function say(message) {
        print file ":" line ": " message
        breaches++
    }
    # The folder that a file stands in, a public header in its owner.
    function folder_of(path,    parts, name) {
        split(path, parts, "/")
        if (parts[1] == "src")
            return parts[2]
        name = parts[3]
        sub(/\.h$/, "", name)
        return owner[name]
    }
    function check_public(from, name,    to) {
        to = owner[name]
        if (to == "")
            say("nobody owns needlegrid/" name ".h: write src/FOLDER/" name \
                ".c, or name its folder in tests/lint/layers.sh")
        else if (!(from in layer))
            say("folder " from " has no layer: give it one in tests/lint/layers.sh")
        else if (from != to && layer[to] >= layer[from])
            say(from " (layer " layer[from] ") may not include needlegrid/" name ".h of " to \
                " (layer " layer[to] ")")
    }
    function check_private(header) {
        if (file !~ /^src\//)
            say("a public header may not include \"" header "\"")
        else if (header ~ /\// || header !~ /_impl\.h$/)
            say("\"" header "\": include \"needlegrid/NAME.h\" or a \"NAME_impl.h\" of this folder")
    }
    function check_library(header,    l, place) {
        for (l in library) {
            if (index(header, l) != 1)
                continue
            place = "src/" library[l]
            if (file != place && index(file, place "/") != 1)
                say("<" header "> belongs to " place " alone")
        }
    }
    BEGIN {
        table(layers, layer)
        table(owners_by_file, owner)
        table(owners, owner)
        table(libraries, library)
    }
    {
        split($0, parts, ":")
        file = parts[1]
        line = parts[2]
        if (match($0, /"[^"]*"/)) {
            header = substr($0, RSTART + 1, RLENGTH - 2)
            if (header ~ /^needlegrid\/[a-z0-9_]+\.h$/) {
                name = substr(header, 12, length(header) - 13)
                check_public(folder_of(file), name)
            } else {
                check_private(header)
            }
        } else if (match($0, /<[^>]*>/)) {
            check_library(substr($0, RSTART + 1, RLENGTH - 2))
        }
    }
    END { exit breaches > 0 }'
