# Turns the --help texts of the program's commands into completion for a shell. Files: `commands`,
# which has a line "NAME<tab>what it does" for each, then their COMMAND.txt. Variable: shell (bash,
# zsh or fish).
# SPDX-License-Identifier: BSD-2-Clause

# "slow, medium, fast or faster (medium)" -> "slow medium fast faster"; "" for texts that do not
# begin with such a list.
function choices(text) {
    gsub(/ *\([^)]*\)/, "", text)
    if (!match(text, /^[a-z0-9]+(, [a-z0-9]+)* or [a-z0-9]+/)) return ""
    text = substr(text, 1, RLENGTH)
    gsub(/,| or/, "", text)
    return text
}
function quoted(text) { # inside '...' of a shell; fish and zsh take the same
    gsub(/'/, shell == "fish" ? "\\'" : "'\\''", text)
    return text
}
function is_file(argument) { return argument ~ /FILE|DIR|FIELD/ }

FILENAME ~ /commands$/ {
    split($0, part, "\t")
    command[++commands] = part[1]
    about[commands] = part[2]
    next
}
FNR == 1 {
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.txt$/, "", name)
    in_options = 0
}
/^Options:$/ { in_options = 1 }
in_options && match($0, /^ +(-[A-Za-z], +)?--[^ ]+( [^ ]+)?  +/) {
    text[++options] = substr($0, RLENGTH + 1)
    n = split(substr($0, 1, RLENGTH), part, " ")
    owner[options] = name
    i = 1
    if (part[1] ~ /,$/) letter[options] = substr(part[i++], 1, 2)
    long[options] = part[i++]
    argument[options] = i <= n ? part[i] : ""
    if (argument[options] ~ /^\[/) argument[options] = "" # may be left out
    words[options] = argument[options] ~ /^(NAME|LEVEL|WHEN|STYLE)$/ ? choices(text[options]) : ""
}

function bash(   c, o, list, key) {
    print "# bash completion of motus, made from its --help texts.\n_motus() {"
    print "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}"
    print "    local options='' words=''\n    COMPREPLY=()"
    for (c = 1; c <= commands; c++) list = list command[c] " "
    print "    if ((COMP_CWORD == 1)); then"
    print "        mapfile -t COMPREPLY < <(compgen -W '" list "--help --version' -- \"$word\")"
    print "        return\n    fi"
    print "    case ${COMP_WORDS[1]} in"
    for (c = 1; c <= commands; c++) {
        list = ""
        for (o = 1; o <= options; o++)
            if (owner[o] == command[c]) list = list (list == "" ? "" : " ") long[o]
        printf "    %s) options='%s' ;;\n", command[c], list
    }
    print "    esac\n    case \"${COMP_WORDS[1]} $before\" in"
    for (o = 1; o <= options; o++) {
        if (argument[o] == "") continue
        key = "'" owner[o] " " long[o] "'"
        if (letter[o] != "") key = key " | '" owner[o] " " letter[o] "'"
        if (words[o] != "") printf "    %s) words='%s' ;;\n", key, words[o]
        else if (is_file(argument[o])) printf "    %s) compopt -o default && return ;;\n", key
        else printf "    %s) return ;;\n", key
    }
    print "    *) if [[ $word == -* ]]; then words=$options"
    print "       else compopt -o default && return; fi ;;"
    print "    esac\n    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n}"
    print "complete -F _motus motus"
}

function zsh(   c, o, names, description, value) {
    print "#compdef motus\n# zsh completion of motus, made from its --help texts."
    print "_motus() {\n    local -a commands=("
    for (c = 1; c <= commands; c++) printf "        '%s:%s'\n", command[c], quoted(about[c])
    print "    )\n    if ((CURRENT == 2)); then"
    print "        _describe command commands\n        return\n    fi"
    print "    shift words\n    ((CURRENT--))\n    case $words[1] in"
    for (c = 1; c <= commands; c++) {
        printf "    %s)\n        _arguments -s \\\n", command[c]
        for (o = 1; o <= options; o++) {
            if (owner[o] != command[c]) continue
            description = quoted(text[o])
            gsub(/\[/, "\\[", description)
            gsub(/\]/, "\\]", description)
            gsub(/:/, "\\:", description)
            if (words[o] != "") value = "(" words[o] ")"
            else value = is_file(argument[o]) ? "_files" : " "
            value = argument[o] != "" ? ":" argument[o] ":" value : ""
            names = long[o]
            if (letter[o] != "") names = "'(" letter[o] " " names ")'{" letter[o] "," names "}"
            printf "            %s'[%s]%s' \\\n", names, description, value
        }
        print "            '*:file:_files'\n        ;;"
    }
    print "    esac\n}\n_motus \"$@\""
}

function fish(   c, o, here) {
    print "# fish completion of motus, made from its --help texts.\ncomplete -c motus -f"
    for (c = 1; c <= commands; c++) {
        printf "complete -c motus -n __fish_use_subcommand -a %s -d '%s'\n", command[c],
            quoted(about[c])
        here = "complete -c motus -n '__fish_seen_subcommand_from " command[c] "'"
        print here " -F"
        for (o = 1; o <= options; o++) {
            if (owner[o] != command[c]) continue
            printf "%s -l %s", here, substr(long[o], 3)
            if (letter[o] != "") printf " -s %s", substr(letter[o], 2)
            if (words[o] != "") printf " -x -a '%s'", words[o]
            else if (argument[o] != "") printf is_file(argument[o]) ? " -r -F" : " -x"
            printf " -d '%s'\n", quoted(text[o])
        }
    }
}
END {
    if (shell == "bash") bash()
    if (shell == "zsh") zsh()
    if (shell == "fish") fish()
}
