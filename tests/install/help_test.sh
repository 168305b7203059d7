#!/usr/bin/env bash
# Checks man pages and completion of the build tree $1: each command has a page with all its
# options, motus(3) has every function that the library exports, the program accepts what completion
# offers.
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
motus=$1/tools/motus help=$1/help here=$(cd "$(dirname "$0")" && pwd)

# complete WORD...: what bash offers for the last word.
complete_words() {
    COMP_WORDS=(motus "$@") COMP_CWORD=$#
    _motus 2>/dev/null || true
    echo "${COMPREPLY[*]}"
}
# shellcheck disable=SC1091
source "$help/completion/bash/motus"

listed=$("$motus" --help | awk '/^$/ && seen { exit } /^  motus / { print $2; seen = 1 }')
# Builds without FFmpeg's libraries lack some.
commands=$(for command in $listed; do
    ! "$motus" "$command" --help >/dev/null 2>&1 || echo "$command"
done)
ok "no commands" [ "$(wc -w <<<"$commands")" -ge 8 ]
ok "completion of commands" \
    [ "$(complete_words '')" = "$(paste -sd " " <<<"$commands") --help --version" ]
offered=0
for command in $commands; do
    page=$help/man1/motus-$command.1
    options=$("$motus" "$command" --help |
        sed -n '/^Options:/,$s/^ *\(-., \)\{0,1\}\(--[a-z0-9-]*\).*/\2/p')
    ok "$command: entries of its page" [ "$(grep -c '^\.TP' "$page")" = "$(wc -w <<<"$options")" ]
    ok "$command: completion of options" \
        [ "$(complete_words "$command" --)" = "$(paste -sd " " <<<"$options")" ]
    for option in $options; do
        ok "$command $option: in its page" grep -q -- "^\.B .*${option//-/\\\\-}\b" "$page"
        [ "$option" != --help ] || continue
        given=()
        for word in $(complete_words "$command" "$option" ''); do given+=("$option" "$word"); done
        [ ${#given[@]} = 0 ] ||
            ok "$command ${given[*]}: offered, not accepted" \
                "$motus" "$command" "${given[@]}" --help
        offered=$((offered + ${#given[@]} / 2))
    done
    ok "motus(1) does not name $command" grep -q "^\.BR motus-$command (1)" "$help/man1/motus.1"
done
ok "values are offered" [ $offered -ge 30 ]
ok "presets" [ "$(complete_words encode --preset f)" = "fast faster" ]
ok "no words for a number" [ -z "$(complete_words encode --crf '')" ]

if [ -x "$1/tools/mpi/motus-mpi" ]; then
    for option in $("$1/tools/mpi/motus-mpi" --help | grep -o -- '--[a-z][a-z0-9-]*' | sort -u); do
        ok "motus-mpi $option: in its page" grep -q -- "${option//-/\\\\-}\b" "$help/motus-mpi.1"
    done
fi

# shellcheck disable=SC2013 # names without spaces
for name in $(cat "$here"/symbols/*.txt); do
    ok "motus(3) has no $name" grep -qw "$name" "$help/motus.3"
done

if command -v man >/dev/null; then
    for page in "$help"/man1/*.1 "$help"/motus*.[13]; do
        ok "${page##*/}: man warns" \
            [ -z "$(MANWIDTH=200 man --warnings -l "$page" 2>&1 >/dev/null)" ]
    done
fi
for shell in zsh fish; do
    if command -v $shell >/dev/null; then
        ok "completion for $shell" $shell -n "$help"/completion/$shell/*motus*
    fi
done
checks_done
