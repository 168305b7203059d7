# Counts checks, for scripts that test a program from outside:
#     . "$(dirname "$0")/../support/checks.sh"
# A file `err` in the current folder is the program's last stderr.
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
export LC_ALL=C
failures=0 checks=0
[ ! -t 0 ] || exec </dev/null # on a terminal motus asks before it replaces a file

fail() { # fail WHAT...
    failures=$((failures + 1))
    echo "FAILED: $*"
    [ ! -s err ] || sed 's/^/    stderr: /' err | head -n 20
}

die() { # die WHY...: ends the script as failed
    echo "FAILED: $*"
    exit 1
}

skip() { # skip WHY...: ends the script as skipped
    echo "SKIP: $*"
    exit 77
}

needs() { # needs TOOL...: skips the script if one is not installed
    local tool
    for tool; do command -v "$tool" >/dev/null || skip "$tool is not installed"; done
}

ok() { # ok WHAT COMMAND...: the command ends with 0; else what it printed is shown
    local what=$1 said
    shift
    checks=$((checks + 1))
    said=$("$@" 2>&1) && return
    fail "$what"
    [ -z "$said" ] || head -n 20 <<<"$said"
}

# alike COMMAND...: runs checks that a build with FFmpeg's libraries, whose program starts slowly,
# and `plain` do alike; not if the latter's tests follow (tests/run.sh).
alike() { [ -n "${MOTUS_LEAVE_TO_PLAIN:-}" ] || "$@"; }

work_folder() { # makes a folder, $work, goes there and removes it at the end
    work=$(mktemp -d) || exit 2
    trap 'rm -rf "$work"' EXIT
    cd "$work" || exit 2
}

wrapper=() # words before the program
no_parts() { [ -z "$(find . -name '*.motus-*')" ]; }

# refused STATUS PATTERN ARGUMENT...: motus exits with STATUS, says one line that matches PATTERN,
# and leaves no output behind (outputs are named out.*).
# shellcheck disable=SC2154 # scripts set $motus
refused() {
    local status=$1 pattern=$2 got
    shift 2
    rm -f out.*
    checks=$((checks + 1))
    "${wrapper[@]}" "$motus" "$@" >stdout 2>err
    got=$?
    [ $got = "$status" ] || fail "motus $*: exit status $got, not $status"
    [ "$(wc -l <err)" = 1 ] || fail "motus $*: not one line"
    grep -q '^motus: ' err || fail "motus $*: the line does not say who speaks"
    grep -qE -- "$pattern" err || fail "motus $*: the line has no '$pattern'"
    [ ! -s stdout ] || fail "motus $*: wrote to stdout"
    [ -z "$(find . -name 'out.*')" ] || fail "motus $*: left $(find . -name 'out.*')"
    no_parts || fail "motus $*: left a part"
}

checks_done() { # the last line of a script, and its status
    echo "$checks checks, $failures failures"
    [ $failures = 0 ]
}
