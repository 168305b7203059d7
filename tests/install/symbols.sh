#!/usr/bin/env bash
# Checks symbols: those that cross a file of the static library $1 are named motus_*; it has no
# variables, since state lies in contexts; the shared library $2 exports what symbols/SONAME.txt
# lists. Skipped (77) without nm and objdump.
#   symbols.sh STATIC SHARED [--update]   --update writes that list anew
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
needs nm objdump
# Left out: compilers' symbols (leading underscores, DW.ref.*), and CUDA's C++ names, which carry
# ours or their unnamed namespace inside.
symbols=$(nm -g --defined-only "$1" 2>/dev/null | awk 'NF == 3 { print $3 }')
[ -n "$symbols" ] || die "$1: no symbols found"
foreign=$(grep -vE '^(motus_|__|DW\.ref\.__|_Z.*(motus|_GLOBAL__N_))' <<<"$symbols" | sort -u ||
    true)
[ -z "$foreign" ] || die "not motus_*: $foreign"
# Objects in writable sections (constants with addresses in them lie in .data.rel.ro). Left out: C++
# names, which are nvcc's handles, the sanitizers', the planned failures of common/faults.h in
# builds for tests, and the size of each thread's OpenMP team (common/threads.c).
objects=$(objdump -t "$1" 2>/dev/null |
    awk -F'\t' 'NF == 2 { n = split($1, a, " "); m = split($2, b, " "); print a[n], b[m] }')
variables=$(awk '$1 ~ /^(\.t?(data|bss)|\*COM\*)$/ && $2 !~ /^[_.]/ { print $2 }' <<<"$objects" |
    grep -vxE 'allocations_left|calls_left|pretended|team' | sort -u || true)
[ -z "$variables" ] || die "variables outside contexts: $variables"

# A new function extends the list. One that goes or changes breaks programs linked before: that
# takes another soname.
soname=$(objdump -p "$2" | awk '$1 == "SONAME" { print $2 }')
case $soname in
libmotus.so.0.[0-9]* | libmotus.so.[1-9]*) ;;
*) die "$2: its soname is '$soname'" ;;
esac
list=$(cd "$(dirname "$0")" && pwd)/symbols/$soname.txt
exported=$(nm -D --defined-only "$2" | awk '{ print $NF }' | grep '^motus_' | LC_ALL=C sort)
if [ "${3:-}" = --update ]; then
    echo "$exported" >"$list"
    exit 0
fi
[ -f "$list" ] || die "$list is missing: this script writes it with --update"
diff "$list" - <<<"$exported" || {
    echo "$soname exports other functions than its list says (<: listed)."
    echo "If none has gone: $0 $1 $2 --update"
    exit 1
}
