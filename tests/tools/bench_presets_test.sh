#!/usr/bin/env bash
# motus bench encode --presets and --gop-coders, alone and beside x264.
# bench_presets_test.sh MOTUS JSON_CHECK MEDIA       MEDIA: 1 if the build decodes streams, else 0
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2016  # the fake programs expand their own variables
set -u
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
motus=$(realpath "$1") json=$(realpath "$2") media=$3
work_folder
mkdir tmp nothing
export TMPDIR=$work/tmp

bench() { "$motus" bench encode --input in.y4m --qp 27 --threads 1 "$@" 2>err; }
value() { "$json" "$1" "$2"; }
within() { awk -v a="$1" -v b="$2" -v d="$3" 'BEGIN { exit !(a - b <= d && b - a <= d) }'; }
clean() { [ -z "$(ls tmp)" ]; }

"$motus" synth in.y4m --size 128x96 --frames 6 --pan 1.5,-0.25 --objects 3 --noise 3 || exit 1

presets_alone() {
    bench --presets --runs 2 >table || fail '--presets'
    ok 'silent' [ ! -s err ]
    ok 'six rows' [ "$(grep -c '^motus ' table)" = 6 ]
    ok 'nothing to compare with' bash -c '! grep -qE "x264|BD-rate" table'
    bench --presets --runs 2 --json >alone.json || fail '--presets --json'
    ok 'its rows' [ "$(value alone.json rows.#)" = 6 ]
    local i name
    for i in 0 1 2 3 4 5; do
        name=$(value alone.json rows.$i.preset)
        ok "row $i has figures" "$json" alone.json rows.$i.{fps_median,fps_best}
        "$motus" encode in.y4m -o t.264 --stats t.json --quiet --qp 27 --keyint 0 \
            --profile baseline --ref 1 --preset "$name"
        ok "row $i: PSNR of the same stream" within "$(value alone.json rows.$i.psnr_y)" \
            "$(value t.json psnr_y)" 0.0001
        # A byte is 0.033 kb/s here. Parameter sets differ by one or two, which tell the colours.
        ok "row $i: rate of the same stream" within "$(value alone.json rows.$i.kbps)" \
            "$(value t.json kbps)" 0.07
    done
}

# Without x264: our rows, and one line that says why there are no others.
missing_program() {
    PATH=$work/nothing bench --presets --peers --runs 1 >table || fail 'without x264'
    ok 'one line' [ "$(wc -l <err)" = 1 ]
    ok 'which says it' grep -qx \
        "motus: note: x264: not found on the PATH (package x264); only motus's rows, .*BD-rate" err
    ok 'our rows' [ "$(grep -c '^motus ' table)" = 6 ]
    ok 'no others' bash -c '! grep -qE "^x264|BD-rate" table'
    ok 'nothing left' clean
}

# Programs of its name that fail, say nothing, or are interrupted.
broken_program() {
    local path=$PATH
    mkdir -p fake
    printf '%s\n' '#!/bin/sh' '[ "$1" != --version ] || exec echo x264 0.0' \
        'echo "x264 [error]: no such luck" >&2' 'exit 3' >fake/x264
    chmod +x fake/x264
    PATH=$work/fake:$path bench --presets --peers --runs 1 >table
    ok 'a failing x264 is a failure' [ $? = 1 ]
    ok 'in its words' grep -qx 'motus: x264: failed: no such luck' err
    printf '#!/bin/sh\necho x264 0.0\n' >fake/x264
    PATH=$work/fake:$path bench --presets --peers --runs 1 >table
    ok 'a mute x264 is a failure' [ $? = 1 ]
    ok 'and said so' grep -qx 'motus: x264: did not say that it encoded 6 frames' err
    ok 'nothing left' clean
    printf '#!/bin/sh\n[ "$1" != --version ] || exec echo x264 0.0\n: >"$TMPDIR/waits"\nsleep 1\n' \
        >fake/x264
    PATH=$work/fake:$path "$motus" bench encode --input in.y4m --presets --peers --runs 1 >table \
        2>err &
    local pid=$! n=0
    while [ ! -e tmp/waits ] && [ $((n += 1)) -lt 600 ]; do sleep 0.1; done
    kill -TERM $pid
    wait $pid
    ok 'SIGTERM ends it' [ $? = 143 ]
    ok 'with one line' grep -qx 'motus: interrupted' err
    rm -f tmp/waits
    ok 'and nothing is left' clean
}

beside_x264() {
    local r
    bench --presets --peers --runs 1 --json >peers.json || fail '--presets --peers --json'
    ok 'all rows' [ "$(value peers.json rows.#)" = 14 ]
    ok 'the version' grep -q '^[0-9]' <(value peers.json x264)
    ok 'medium comes first' \
        [ "$(value peers.json rows.6.encoder) $(value peers.json rows.6.preset)" = 'x264 medium' ]
    ok 'and is its own measure' [ "$(value peers.json rows.6.ratio)" = 1 ]
    for r in 0 1 2 3 4 5; do
        ok "row $r is the one without peers" \
            [ "$(value peers.json rows.$r.kbps)" = "$(value alone.json rows.$r.kbps)" ]
    done
    for r in 0 3 5 7 8 13; do
        ok "ratio of row $r" within "$(value peers.json rows.$r.ratio)" \
            "$(awk -v a="$(value peers.json rows.$r.fps_median)" \
            -v b="$(value peers.json rows.6.fps_median)" 'BEGIN { print a / b }')" 0.001
    done
    ok 'nothing left' clean
    as_it_ships
    [ "$media" = 1 ] || return 0
    for r in 0 1 2 3 4 5 6 7 8 9 10 11 12 13; do
        ok "row $r: its point at QP 27" \
            [ "$(value peers.json rows.$r.curve.1.psnr_y)" = "$(value peers.json rows.$r.psnr_y)" ]
    done
    x264_itself
}

# The rate of a preset as it ships is that of the program without further options, SEI apart.
as_it_ships() {
    local r=9 preset bytes
    for preset in medium slow slower veryslow placebo; do
        ok "row $r is $preset+" [ "$(value peers.json rows.$r.preset)" = $preset+ ]
        x264 --preset $preset --tune psnr --keyint infinite --no-scenecut --threads 1 --qp 27 \
            -o t.264 in.y4m >x264.log 2>&1
        bytes=$(awk -v k="$(value peers.json rows.$r.kbps)" \
            'BEGIN { printf "%d", k * 6 / 25 / 8 * 1000 + 0.5 }')
        ok "row $r: its bytes without SEI" within $(($(stat -c %s t.264) - bytes)) 700 300
        r=$((r + 1))
    done
}

# Its stream's PSNR as x264 itself has it (the mean of the pictures', up to 0.05 dB above), and its
# size, of which some 700 bytes are SEI.
x264_itself() {
    x264 --profile baseline --preset medium --tune psnr --ref 1 --bframes 0 --keyint infinite \
        --no-scenecut --threads 1 --qp 27 --psnr -o t.264 in.y4m >x264.log 2>&1
    ok 'PSNR as x264 has it' within "$(value peers.json rows.6.psnr_y)" \
        "$(sed -n 's/.*PSNR Mean Y:\([0-9.]*\).*/\1/p' x264.log | tail -n 1)" 0.05
    local bytes
    bytes=$(awk -v k="$(value peers.json rows.6.kbps)" \
        'BEGIN { printf "%d", k * 6 / 25 / 8 * 1000 + 0.5 }')
    ok 'SEI is not counted' [ $(($(stat -c %s t.264) - bytes)) -gt 400 ]
    ok 'but all else is' [ $(($(stat -c %s t.264) - bytes)) -lt 1000 ]
}

lanes() { bench --gop-coders 1 --preset faster --runs 1 --backend cpu "$@"; }

missing_library() {
    local file
    echo text >text.so
    for file in nothing.so text.so; do
        lanes --peers --libx264 $file >table || fail "--libx264 $file"
        ok "$file: one line" grep -qx \
            "motus: note: $file: cannot be loaded; nothing beside motus's rows" err
        ok "$file: our rows" grep -q '^faster ' table
        ok "$file: no others" bash -c '! grep -qE "x264|BD-rate" table'
    done
    for file in '--gop-coders 1 --libx264 x.so' '--presets --peers --libx264 x.so' \
        '--gop-coders 1 --preset fast,'; do
        # shellcheck disable=SC2086
        bench $file >table
        ok "$file is refused" [ $? = 2 ]
    done
}

# As the program x264 has it, whose library it is.
beside_libx264() {
    lanes --peers --json >lanes.json || fail '--gop-coders --peers --json'
    ok 'silent' [ ! -s err ]
    ok 'rows' [ "$(value lanes.json beside_x264.#)" = 9 ]
    ok 'its build' \
        [ "$(value lanes.json libx264)" = "$(x264 --version |
        sed -n 's/^x264 0\.\([0-9]*\).*/\1/p')" ]
    ok 'frames/s of lanes' \
        [ "$(value lanes.json beside_x264.0.fps)" = "$(value lanes.json rows.0.fps)" ]
    ok 'no more bits than itself' [ "$(value lanes.json 'beside_x264.0.bd_rate.motus faster')" = 0 ]
    ok 'the last is Baseline' \
        [ "$(value lanes.json beside_x264.7.encoder)" = 'x264 medium baseline' ]
    x264 --profile baseline --preset medium --tune psnr --ref 1 --bframes 0 --keyint 6 \
        --no-scenecut --qp 27 --psnr -o t.264 in.y4m >x264.log 2>&1
    ok 'PSNR as the program has it' within "$(value lanes.json beside_x264.7.psnr_y)" \
        "$(sed -n 's/.*PSNR Mean Y:\([0-9.]*\).*/\1/p' x264.log | tail -n 1)" 0.02
    local bytes
    bytes=$(awk -v k="$(value lanes.json beside_x264.7.kbps)" \
        'BEGIN { printf "%d", k * 6 / 25 / 8 * 1000 + 0.5 }')
    ok 'its bytes without SEI' within $(($(stat -c %s t.264) - bytes)) 700 300
    lanes --peers >table || fail '--gop-coders --peers'
    ok 'eight rows of x264' [ "$(grep -c '^x264 ' table)" = 8 ]
    slow_peers
}

# Beside slow presets those of x264 as they ship, and no fast ones; their rows are the program's.
slow_peers() {
    bench --gop-coders 1 --preset slow --runs 1 --backend cpu --peers --json >slow.json ||
        fail '--preset slow --peers'
    local i names=(medium 'medium baseline' medium+ slow+ slower+ veryslow+ placebo+) bytes
    ok 'eight rows' [ "$(value slow.json beside_x264.#)" = 8 ]
    for i in 0 1 2 3 4 5 6; do
        ok "${names[i]}" \
            [ "$(value slow.json beside_x264.$((i + 1)).encoder)" = "x264 ${names[i]}" ]
    done
    ok 'medium+ is its own measure' \
        [ "$(value slow.json 'beside_x264.3.bd_rate.x264 medium+')" = 0 ]
    x264 --preset placebo --tune psnr --keyint 6 --no-scenecut --qp 27 -o t.264 in.y4m \
        >x264.log 2>&1
    bytes=$(awk -v k="$(value slow.json beside_x264.7.kbps)" \
        'BEGIN { printf "%d", k * 6 / 25 / 8 * 1000 + 0.5 }')
    ok 'its bytes without SEI' within $(($(stat -c %s t.264) - bytes)) 700 300
}

presets_alone
alike missing_program
alike missing_library
alike broken_program
if command -v x264 >/dev/null; then beside_x264; beside_libx264; fi
checks_done || exit 1
command -v x264 >/dev/null || { echo 'SKIP  x264 is not installed' && exit 77; }
