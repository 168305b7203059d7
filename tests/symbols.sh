#!/usr/bin/env bash
# Every symbol that crosses a file of the static library $1 is named motus_*, so that it can be linked into any program; and the library has no variables of
# its own: state lies in contexts. Skipped (77) without nm and objdump.
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
for tool in nm objdump; do
    command -v $tool >/dev/null || { echo "$tool is missing" && exit 77; }
done
# Left out: what compilers make (leading underscores, DW.ref.*), and CUDA's C++ names, which carry ours or their unnamed namespace inside.
symbols=$(nm -g --defined-only "$1" 2>/dev/null | awk 'NF == 3 { print $3 }')
[ -n "$symbols" ] || { echo "$1: no symbols found" && exit 1; }
foreign=$(grep -vE '^(motus_|__|DW\.ref\.__|_Z.*(motus|_GLOBAL__N_))' <<<"$symbols" | sort -u || true)
[ -z "$foreign" ] || { echo "not motus_*: $foreign" && exit 1; }
# Objects in writable sections (constants with addresses in them lie in .data.rel.ro). Left out: C++ names, which are nvcc's own handles, the sanitizers', and the
# planned failures of common/faults.c, which are built for tests only, and what common/threads.c notes of each thread's OpenMP team.
objects=$(objdump -t "$1" 2>/dev/null | awk -F'\t' 'NF == 2 { n = split($1, a, " "); m = split($2, b, " "); print a[n], b[m] }')
variables=$(awk '$1 ~ /^(\.t?(data|bss)|\*COM\*)$/ && $2 !~ /^[_.]/ { print $2 }' <<<"$objects" | grep -vxE 'allocations_left|calls_left|team' | sort -u || true)
[ -z "$variables" ] || { echo "variables outside contexts: $variables" && exit 1; }
