#!/bin/sh
# Makes man pages (man1/motus.1, man1/motus-COMMAND.1) and completion for shells from what
# `motus --help` and `motus COMMAND --help` print.
#   pages.sh MOTUS VERSION FOLDER
# SPDX-License-Identifier: BSD-2-Clause
set -eu
motus=$1 version=$2 out=$3 here=$(cd "$(dirname "$0")" && pwd) tab=$(printf '\t')
rm -rf "$out/help" "$out/man1" "$out/completion" # pages of commands that are no more
mkdir -p "$out/help" "$out/man1" "$out/completion"

# page NAME ABOUT ALSO TEXT
page() {
    awk -v page="$1" -v about="$2" -v also="$3" -v version="$version" -f "$here/man.awk" "$4" \
        >"$out/man1/$1.1"
}

"$motus" --help >"$out/help/motus.txt"
# Lines "  motus NAME  what it does" up to the first empty line behind them.
awk '/^  motus / { name = $2; sub(/^ *motus [^ ]+ +/, ""); print name "\t" $0; seen = 1 }
     seen && /^$/ { exit }' "$out/help/motus.txt" >"$out/help/commands"
all=''
while IFS=$tab read -r command about; do
    if ! "$motus" "$command" --help >"$out/help/$command.txt" 2>/dev/null; then # not in this build
        rm "$out/help/$command.txt"
        continue
    fi
    printf '%s\t%s\n' "$command" "$about" >>"$out/help/there"
    page "motus-$command" "$about" '.BR motus (1)' "$out/help/$command.txt"
    all="$all.BR motus-$command (1),
"
done <"$out/help/commands"
mv "$out/help/there" "$out/help/commands"
page motus 'H.264 motion estimation and encoding' "$all.BR motus (3)" "$out/help/motus.txt"

cd "$out/help"
texts=$(cut -f 1 commands | sed 's/$/.txt/')
for file in bash/motus zsh/_motus fish/motus.fish; do
    mkdir -p "../completion/${file%/*}"
    # shellcheck disable=SC2086 # names of files without spaces
    awk -v shell="${file%/*}" -f "$here/completion.awk" commands $texts >"../completion/$file"
done
