#!/usr/bin/env bash
# Every symbol that crosses a file of the static library $1 is named motus_*, so that it can be linked into any program.
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
# Left out: what compilers make (leading underscores, .gomp_critical_*, DW.ref.*), and CUDA's C++ names, which carry ours or their unnamed namespace inside.
foreign=$(nm -g --defined-only "$1" 2>/dev/null | awk 'NF == 3 { print $3 }' | grep -vE '^(motus_|__|DW\.ref\.__|_Z.*(motus|_GLOBAL__N_)|\.gomp_critical_user_motus_)' | sort -u || true)
[ -z "$foreign" ] || { echo "not motus_*: $foreign" && exit 1; }
