#!/usr/bin/env bash
# Each public header compiles alone, as C11 and as C++, with compilers $1 and $2; the shared library $3 exports motus_* and nothing else.
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
cc=$1 cxx=$2 lib=$3 include=$(cd "$(dirname "$0")/../include" && pwd)
for header in "$include"/motus/*.h; do
    echo "#include <motus/${header##*/}>" | "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -I "$include" -fsyntax-only -x c -
    if command -v "$cxx" >/dev/null; then
        echo "#include <motus/${header##*/}>" | "$cxx" -std=c++11 -Wall -Wextra -Werror -I "$include" -fsyntax-only -x c++ -
    fi
done
# OpenMP names the lock of a critical section; names with two leading underscores are the implementation's.
foreign=$(nm -D --defined-only "$lib" | awk '{ print $NF }' | grep -vE '^(motus_|\.gomp_critical_user_motus_|__|_init$|_fini$|_edata$|_end$)' || true)
[ -z "$foreign" ] || { echo "exported, but not motus_*: $foreign" && exit 1; }
