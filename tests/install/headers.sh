#!/usr/bin/env bash
# Each public header compiles alone, as C11 and as C++, with compilers $1 and $2; the shared library
# $3 exports motus_* and nothing else. Skipped (77) without a C++ compiler or nm.
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
cc=$1 cxx=$2 lib=$3 include=$(cd "$(dirname "$0")/../../include" && pwd)
needs "$cxx" nm
for header in "$include"/motus/*.h; do
    echo "#include <motus/${header##*/}>" |
        "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -I "$include" -fsyntax-only -x c -
    echo "#include <motus/${header##*/}>" |
        "$cxx" -std=c++11 -Wall -Wextra -Werror -I "$include" -fsyntax-only -x c++ -
done
# Names with two leading underscores are the implementation's.
exported=$(nm -D --defined-only "$lib" | awk '{ print $NF }')
[ -n "$exported" ] || die "$lib exports nothing"
foreign=$(grep -vE '^(motus_|__|_init$|_fini$|_edata$|_end$)' <<<"$exported" || true)
[ -z "$foreign" ] || die "exported, but not motus_*: $foreign"
