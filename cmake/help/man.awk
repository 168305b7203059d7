# Turns a --help text of the program into a man page: the usage line, paragraphs (unfilled if a line
# begins with two spaces), and below "Options:" one entry for each option. Variables: page
# (motus-encode), about (one line), version, also (other pages).
# SPDX-License-Identifier: BSD-2-Clause
function escaped(line) {
    gsub(/\\/, "\\e", line)
    gsub(/-/, "\\-", line)
    if (line ~ /^[.']/) line = "\\&" line
    return line
}
function end_paragraph(   i) {
    if (!lines) return
    if (text[1] == "Examples:" || text[1] == "First steps:") {
        print ".SH EXAMPLES"
        first = 2
        examples = 1
    } else {
        print examples && !set ? ".SH NOTES" : ".PP"
        first = 1
        if (!set) examples = 0
    }
    if (set) print ".nf"
    for (i = first; i <= lines; i++) print escaped(text[i])
    if (set) print ".fi"
    lines = set = 0
}
BEGIN {
    printf ".TH %s 1 \"\" \"motus %s\" motus\n", toupper(page), version
    printf ".SH NAME\n%s \\- %s\n", escaped(page), escaped(about)
}
NR == 1 {
    sub(/^usage: */, "")
    printf ".SH SYNOPSIS\n.B %s\n", escaped($0)
    usage = 1
    next
}
usage && /^ / { # another way to call it
    sub(/^ +/, "")
    printf ".br\n.B %s\n", escaped($0)
    next
}
usage {
    print ".SH DESCRIPTION"
    usage = 0
}
/^Options:$/ {
    end_paragraph()
    print ".SH OPTIONS"
    options = 1
    next
}
# "  -o, --output FILE   where it goes"
options && match($0, /^ +(-[A-Za-z], +)?--[^ ]+( [^ ]+)?  +/) {
    left = substr($0, 1, RLENGTH)
    gsub(/^ +| +$/, "", left)
    printf ".TP\n.B %s\n%s\n", escaped(left), escaped(substr($0, RLENGTH + 1))
    next
}
options {
    print escaped($0)
    next
}
/^$/ {
    end_paragraph()
    next
}
{
    text[++lines] = $0
    if (/^  /) set = 1
}
END {
    end_paragraph()
    printf ".SH SEE ALSO\n%s\n", also
}
