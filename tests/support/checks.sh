# Counts checks, for scripts that test a program from outside:
#     . "$(dirname "$0")/../support/checks.sh"
# A file `err` in the current folder is the program's last stderr.
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
failures=0 checks=0
[ ! -t 0 ] || exec </dev/null # on a terminal motus asks before it replaces a file

fail() { # fail WHAT...
    failures=$((failures + 1))
    echo "FAILED: $*"
    [ ! -s err ] || sed 's/^/    stderr: /' err | head -n 20
}

ok() { # ok WHAT COMMAND...: the command ends with 0; else what it printed is shown
    local what=$1 said
    shift
    checks=$((checks + 1))
    said=$("$@" 2>&1) && return
    fail "$what"
    [ -z "$said" ] || head -n 20 <<<"$said"
}

# alike COMMAND...: runs checks that a build with FFmpeg's libraries, whose program starts slowly, and
# `plain` do alike; not if the latter's tests follow (tests/run.sh).
alike() { [ -n "${MOTUS_LEAVE_TO_PLAIN:-}" ] || "$@"; }

work_folder() { # makes a folder, $work, goes there and removes it at the end
    work=$(mktemp -d) || exit 2
    trap 'rm -rf "$work"' EXIT
    cd "$work" || exit 2
}

checks_done() { # the last line of a script, and its status
    echo "$checks checks, $failures failures"
    [ $failures = 0 ]
}
