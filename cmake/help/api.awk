# Turns public headers into motus(3): the opening comment and the functions of each. Variable:
# version.
# SPDX-License-Identifier: BSD-2-Clause
function escaped(line) {
    gsub(/\\/, "\\e", line)
    gsub(/-/, "\\-", line)
    if (line ~ /^[.']/) line = "\\&" line
    return line
}
function verbatim(on) {
    if (on != set) print on ? ".nf" : ".fi"
    set = on
}
BEGIN {
    printf ".TH MOTUS 3 \"\" \"motus %s\" motus\n", version
    print ".SH NAME\nmotus \\- H.264 motion estimation and encoding, the library"
    print ".SH SYNOPSIS\n.nf\n#include <motus/motus.h>\n"
    print "cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs motus)\n.fi"
    print ".SH DESCRIPTION"
    print "An overview, made from the headers. Each header says what its functions take, return and"
    print "leave to the caller."
}
FNR == 1 {
    verbatim(0)
    name = FILENAME
    sub(/.*\/motus\//, "", name)
    printf ".SH <motus/%s>\n", name
    opening = 1
    functions = 0
}
opening && /SPDX/ { opening = 0 }
opening && /^\/\// {
    sub(/^\/\/ ?/, "")
    verbatim(/^    /)
    print $0 == "" ? ".PP" : escaped($0)
    next
}
/^MOTUS_API/ {
    if (!functions++) print ".PP"
    verbatim(1)
    declaration = 1
}
declaration {
    sub(/^MOTUS_API /, "")
    line = $0
    sub(/ *\/\/.*/, "", line)
    sub(/^  +/, "        ", line)
    print escaped(line)
    if (line ~ /;$/) declaration = 0
}
END {
    verbatim(0)
    print ".SH SEE ALSO\n.BR motus (1),\nthe examples that come with the sources"
}
