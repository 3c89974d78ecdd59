# Size limits: awk -f sizes.awk FILES. Warnings go by; an error makes the exit code 1.
#
# A function counts from "{" to "}" in the first column. Tests may be long (a main lists every
# test), so only the hard stops hold for them, and none for a main.

function report(kind, where, message) {
    print where ": " kind ": " message
    if (kind == "error")
        errors++
}

function limit(where, what, n, soft, hard) {
    if (n > hard)
        report("error", where, what " has " n " lines, more than " hard)
    else if (n > soft && !is_test)
        report("warning", where, what " has " n " lines, more than " soft)
}

function end_file() {
    if (file == "")
        return
    if (file ~ /^include\//)
        limit(file, "the header", lines, 150, 1000)
    else
        limit(file, "the file", lines, 600, 1000)
}

FNR == 1 {
    end_file()
    file = FILENAME
    is_test = file ~ /^tests\//
    start = 0
}

{
    lines = FNR
}

/^[a-z].*\(/ {
    name = $0
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
}

/^\{$/ {
    start = FNR
}

/^\}$/ && start {
    if (!(is_test && name == "main"))
        limit(file ":" start, name "()", FNR - start + 1, 60, 100)
    start = 0
}

END {
    end_file()
    exit errors > 0
}
