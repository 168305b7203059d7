#!/usr/bin/env bash
# Tests motus compare: its report, its figures against each other, its words if something is wrong.
#   compare_cli_test.sh MOTUS JSON_CHECK
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2016  # the fake programs expand their own variables
set -u
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
motus=$(realpath "$1") json=$(realpath "$2")
work_folder
mkdir tmp fake
export TMPDIR=$work/tmp

value() { "$json" "$1" "$2"; }
clean() { [ -z "$(ls -A tmp)" ]; }

# refused STATUS LINE ARGUMENTS...: exactly this line on stderr, nothing left behind.
refused() {
    local status=$1 line=$2
    shift 2
    PATH=${only:-$PATH} "$motus" compare "$@" >out 2>err
    ok "$line: exit status" [ $? = "$status" ]
    ok "$line: said $(cat err)" grep -qxF "motus: $line" err
    ok "$line: one line" [ "$(wc -l <err)" = 1 ]
    ok "$line: no report" [ ! -e report ]
    ok "$line: nothing left" clean
}

"$motus" synth in.y4m --size 96x80 --frames 8 --pan 1.25,-0.5 --objects 3 --vectors in.csv \
    --grid 8 || fail synth
"$motus" synth one.y4m --size 64x48 --frames 1 || fail synth

usage() {
    refused 2 'the input is missing (see motus compare --help)' -o report
    refused 2 'the output is missing: -o REPORT_DIR (see motus compare --help)' in.y4m
    refused 2 '--qp and --qps exclude each other (see motus compare --help)' in.y4m -o report \
        --qp 20 --qps 20,30
    local range='must be numbers from 0 to 51 with commas between them, 16 at most'
    refused 2 "--qps 20,52: $range (see motus compare --help)" in.y4m -o report --qps 20,52
    refused 2 '--qps 20,20: has 20 twice (see motus compare --help)' in.y4m -o report --qps 20,20
    refused 1 'nowhere.y4m: No such file or directory' nowhere.y4m -o report
    refused 1 'nowhere.txt: No such file or directory' in.y4m -o report --settings nowhere.txt
    refused 1 'nowhere/x.json: No such file or directory' in.y4m -o report \
        --json nowhere/x.json --x264 "$work/fake/says"
    echo 'x265 a: b' >bad.txt
    refused 1 "bad.txt: line 1 is neither 'x264 NAME: OPTIONS' nor 'motus NAME: OPTIONS'" in.y4m \
        -o report --settings bad.txt
    refused 1 'in.y4m: is no table of '"'motus synth --vectors'" in.y4m -o report --truth in.y4m \
        --x264 "$work/fake/says"
}

# Programs that are not there, fail, or lie.
programs() {
    local begins=('#!/bin/sh' '[ "$1" != --version ] || exec echo x264 0.0')
    printf '#!/bin/sh\necho hello\n' >fake/other
    printf '%s\n' "${begins[@]}" 'echo "x264 [error]: no such luck" >&2' 'exit 3' >fake/says
    printf '%s\n' "${begins[@]}" 'echo "encoding"; kill -9 $$' >fake/dies
    printf '%s\n' "${begins[@]}" 'while [ "$1" != -o ]; do shift; done' 'echo nonsense >"$2"' \
        'echo "encoded 8 frames, 10.00 fps, 1.00 kb/s"' >fake/lies
    chmod +x fake/*
    usage
    refused 1 'nothing/x264: not found' in.y4m -o report --x264 nothing/x264
    only=$work/fake refused 1 'x264: not found on the PATH (package x264)' in.y4m -o report
    refused 1 "$work/fake/other: is not x264: does not tell its version" in.y4m -o report \
        --x264 "$work/fake/other"
    refused 1 'x264: failed: no such luck' in.y4m -o report --x264 "$work/fake/says"
    refused 1 'x264: ended by a signal: encoding' in.y4m -o report --x264 "$work/fake/dies"
    refused 1 "x264's stream, picture 0: bytes before the first start code" in.y4m -o report \
        --qp 30 --x264 "$work/fake/lies"
    refused 1 \
        'one.y4m: has one frame only: without a second frame there is no P picture to compare' \
        one.y4m -o report --x264 "$work/fake/says"
}

# Tests that need x264 itself.
with_x264() {
    refused 1 "x264's stream, picture 0: scaling matrices are not read" in.y4m -o report --qp 30 \
        --x264-args '--profile high --cqm jvt'
    refused 1 'x264: failed: invalid argument: me = nonsense' in.y4m -o report \
        --x264-args '--me nonsense'
    figures
    profiles
    bound
    page_size
    speeds
    many_settings
    folders
    interrupted
    full_disk
}

# sum EXPRESSION: adds it up over the rows of c.csv.
sum() { awk -F, "NR > 1 { s += $1 } END { print s + 0 }" c.csv; }

figures() {
    ok 'a comparison' "$motus" compare in.y4m -o report --qps 24,30 --truth in.csv --json j.json \
        --csv c.csv --quiet
    ok 'the report' grep -q 'motus-compare' report/index.html
    ok 'no placeholder is left' bash -c '! grep -q MOTUS_DATA report/index.html'
    ok 'nothing left' clean
    ok 'complete' [ "$(value j.json complete)" = true ]
    ok 'both QPs' [ "$(value j.json sequences.0.runs.#)" = 2 ]
    ok 'all frames' [ "$(value j.json sequences.0.runs.1.frames.#)" = 8 ]
    ok 'every vector was read twice alike' \
        [ "$(value j.json sequences.0.runs.0.extraction.compared)" \
        = "$(value j.json sequences.0.runs.0.extraction.equal)" ]
    ok 'a row for each block' [ "$(value j.json total.blocks)" = $(($(wc -l <c.csv) - 1)) ]
    ok 'sums of J' [ "$(sum '$21')" = "$(value j.json total.j.ours)" ]
    ok "sums of x264's J" [ "$(sum '$20')" = "$(value j.json total.j.x264)" ]
    ok 'equal vectors' [ "$(sum '$10 == $12 && $11 == $13')" = "$(value j.json total.within.0)" ]
    ok 'ours costs less' [ "$(sum '$21 < $20')" = "$(value j.json total.j.less)" ]
    ok 'and more' [ "$(sum '$21 > $20')" = "$(value j.json total.j.more)" ]
    local bits=0 kind
    for kind in header mode mv residual; do
        bits=$((bits + $(value j.json sequences.0.runs.0.bits.x264.$kind)))
    done
    ok 'bits of the stream' [ $bits = $((8 * $(value j.json sequences.0.rd.0.bytes))) ]
    ok 'true vectors' awk -v e="$(value j.json total.epe.ours)" \
        -v n="$(value j.json total.epe.blocks)" 'BEGIN { exit !(n > 100 && e < 0.25) }'
    rm -r report
}

# Streams of different profiles are told, since their bits compare tools, too.
profiles() {
    local line="^The profiles differ: x264's stream is High, motus's Baseline"
    "$motus" compare in.y4m -o report --qp 30 --x264-args '--profile high' >out
    ok 'profiles that differ are told' grep -q "$line" out
    rm -r report
    printf 'x264 a: --profile high\nmotus b: --profile high\n' >both.txt
    "$motus" compare in.y4m -o report --qp 30 --settings both.txt >out
    ok 'equal ones are not' [ "$? $(grep -c 'profiles differ' out)" = '0 0' ]
    rm -r report both.txt
}

# With --bound nothing costs less than the bound, and the figures are of as many pictures.
bound() {
    "$motus" compare in.y4m -o report --qps 24,30 --bound 3 --json j.json --x264-args \
        '--partitions all' >out 2>err
    ok 'bounds' [ $? = 0 ]
    ok 'of three pictures a run' [ "$(value j.json bound.pictures)" = 6 ]
    ok 'runs have theirs' [ "$(value j.json sequences.0.runs.1.bound.pictures)" = 3 ]
    ok 'all blocks' [ "$(value j.json bound.all.6.blocks)" = $((6 * 30 * 16)) ]
    ok 'ours is no less' [ "$(value j.json bound.all.0.ours.j)" -ge \
        "$(value j.json bound.all.0.least)" ]
    ok "nor x264's" [ "$(value j.json bound.x264.0.x264.j)" -ge \
        "$(value j.json bound.x264.0.least)" ]
    ok 'the verdict' grep -qE '^Of [0-9,]+ blocks of 6 pictures every quarter-sample vector' out
    ok 'the table' grep -qE '^in all +[0-9.]+% +[0-9]+ +[0-9.]+% +[0-9.]+%$' out
    rm -r report
    "$motus" compare in.y4m -o report --qp 30 --bound 3 --subpel full --json j.json --quiet
    ok 'none of whole samples' [ "$(value j.json bound)" = null ]
    rm -r report
}

# Frames that the page has no room for are named, in its data and on stderr; 0 keeps all.
page_size() {
    "$motus" synth big.y4m --size 704x576 --frames 10 --noise 12 --objects 5 --pan 3,1
    "$motus" compare big.y4m in.y4m -o report --qp 30 --page-mb 1 --json j.json >out 2>err
    ok 'a small page' [ $? = 0 ]
    local note='motus: note: the page lacks frames of big pictures, QP 30; --page-mb 0 keeps them'
    ok 'says which frames it lacks' grep -qx "$note" err
    ok 'two gaps' [ "$(value j.json viewer.gaps.#)" = 2 ]
    ok 'of the first sequence' [ "$(value j.json viewer.gaps.1.sequence)" = 0 ]
    ok 'at its QP' [ "$(value j.json viewer.gaps.1.qp)" = 30 ]
    ok 'up to its end' [ "$(value j.json viewer.gaps.1.last)" = 9 ]
    local pictures vectors
    pictures=$(value j.json viewer.gaps.0.frames) vectors=$(value j.json viewer.gaps.1.frames)
    ok 'and no others' [ "$(value j.json viewer.left_out)" = $((pictures + vectors)) ]
    ok 'thousands' grep -qE '^Of [0-9]+,[0-9]{3} blocks' out
    ok 'are separated everywhere' bash -c "! grep -E '(^|[^0-9.])[0-9]{4}' out"
    local why='An exhaustive search may cost more after refinement: .* by SATD'
    ok 'why ours may cost more' grep -q "$why" out
    rm -r report
    "$motus" compare big.y4m -o report --qp 30 --page-mb 0 --json j.json --quiet 2>err
    ok 'a page of all' [ $? = 0 ]
    ok 'says nothing' [ ! -s err ]
    ok 'lacks none' [ "$(value j.json viewer.left_out)" = 0 ]
    rm -r report
    ok 'whole samples' bash -c "'$motus' compare in.y4m -o report --qp 30 --subpel full >out"
    ok 'are not refined' bash -c "! grep -q 'after refinement' out"
    rm -r report
}

# Speeds are by processor time. An x264 that waits has no lower one, but makes the machine busy.
speeds() {
    cat >fake/waits <<'TXT'
#!/bin/sh
[ "$1" != --version ] || exec x264 --version
sleep 2
exec x264 "$@"
TXT
    chmod +x fake/waits
    "$motus" compare in.y4m -o report --qp 30 --x264 "$work/fake/waits" --json j.json >out
    ok 'a busy machine' [ $? = 0 ]
    ok 'is noted' grep -q '^The machine was busy with other work: ' out
    ok 'as data too' [ "$(value j.json machine.busy)" = true ]
    local point=sequences.0.rd.0
    ok 'elapsed' awk -v t="$(value j.json $point.elapsed)" 'BEGIN { exit !(t > 2) }'
    ok 'processor' awk -v t="$(value j.json $point.seconds)" 'BEGIN { exit !(t > 0 && t < 1.5) }'
    rm -r report
}

many_settings() {
    printf '%s\n' '# curves' 'x264 medium: --preset medium' 'x264 ultrafast: --preset ultrafast' \
        'motus slow: --preset slow' 'motus fast: --preset fast --range 8' >s.txt
    "$motus" compare in.y4m -o report --frames 4 --settings s.txt --json j.json >out 2>err
    ok 'several settings' [ $? = 0 ]
    ok 'points of all' [ "$(value j.json sequences.0.rd.#)" = 16 ]
    ok 'BD-rates of all pairs' [ "$(value j.json sequences.0.bd_rate.#)" = 4 ]
    ok 'the summary' grep -q '^BD-rate of motus fast against x264 ultrafast' out
    rm -r report
}

folders() {
    mkdir report
    echo mine >report/index.html
    "$motus" compare in.y4m -o report --qp 30 2>err
    ok 'an existing folder' [ $? = 1 ]
    ok 'is said' grep -qx 'motus: report: exists already (--force writes index.html into it)' err
    ok 'and kept' [ "$(cat report/index.html)" = mine ]
    echo other >report/other
    ok 'unless --force' "$motus" compare in.y4m -o report --qp 30 --force --quiet
    ok 'which writes the page' grep -q 'motus-compare' report/index.html
    ok 'and nothing else' [ "$(cat report/other)" = other ]
    rm -r report
}

# A signal in the second encode leaves a report of the first QP.
interrupted() {
    cat >fake/slow <<TXT
#!/bin/sh
[ "\$1" != --version ] || exec x264 --version
[ ! -e $work/first ] || { : >$work/waits; exec sleep 30; }
: >$work/first
exec x264 "\$@"
TXT
    chmod +x fake/slow
    "$motus" compare in.y4m -o report --qps 24,30 --x264 "$work/fake/slow" --quiet --json j.json \
        2>err &
    local pid=$! n=0
    while [ ! -e waits ] && [ $((n += 1)) -lt 300 ]; do sleep 0.1; done
    kill -TERM $pid
    wait $pid
    ok 'a signal: exit status' [ $? = 143 ]
    ok 'a report' grep -q 'motus-compare' report/index.html
    ok 'which says so' [ "$(value j.json complete)" = false ]
    ok 'of what is done' [ "$(value j.json sequences.0.runs.#)" = 1 ]
    ok 'nothing left' clean
    rm -r report
}

full_disk() {
    ok 'no room for the clip' bash -c \
        "ulimit -f 8; '$motus' compare in.y4m -o report --qp 30 2>err; [ \$? = 1 ]"
    ok 'is said in one line' [ "$(wc -l <err)" = 1 ]
    ok 'no folder' [ ! -e report ]
    ok 'nothing left' clean
    "$motus" compare in.y4m -o report --qp 30 --quiet --csv /dev/full 2>err
    ok 'a full disk' [ $? = 1 ]
    ok 'is said too' grep -qx 'motus: /dev/full: No space left on device' err
    rm -rf report
}

programs
if command -v x264 >/dev/null; then
    with_x264
else
    echo "SKIP   x264 is not installed: bad input only"
fi
checks_done
