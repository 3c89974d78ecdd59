# C source with comments and the insides of strings taken out; lines keep their numbers.
{
    out = ""
    n = length($0)
    for (i = 1; i <= n; i++) {
        c = substr($0, i, 1)
        two = substr($0, i, 2)
        if (in_comment) {
            if (two == "*/") {
                in_comment = 0
                i++
            }
        } else if (quote != "") {
            if (c == "\\")
                i++
            else if (c == quote) {
                quote = ""
                out = out c
            }
        } else if (two == "/*") {
            in_comment = 1
            out = out " "
            i++
        } else if (two == "//") {
            break
        } else {
            # A quote inside a number, as in 1'000, is no C11; so each one opens a literal.
            if (c == "\"" || c == "'")
                quote = c
            out = out c
        }
    }
    quote = ""
    print out
}
