#!/usr/bin/env bash
# Tests the bridge to x265: streams of sizes that are no whole CTUs, at every refinement, decode to
# x265's reconstruction; x265 uses the vectors (its stream changes with the search range); valgrind
# finds nothing.
#   x265_test.sh X265_MOTUS MOTUS
# Skipped (77), after what can be done without it, where ffmpeg or valgrind is missing.
# SPDX-License-Identifier: BSD-2-Clause
set -eu
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
bridge=$(realpath "$1") motus=$(realpath "$2") here=$(cd "$(dirname "$0")" && pwd)
work_folder

# check INPUT OPTION...: encodes it and, with ffmpeg, compares the stream with the reconstruction.
check() {
    "$bridge" "$@" -o t.hevc --recon t.y4m --csv >line.csv || die "x265_motus $*"
    command -v ffmpeg >/dev/null || return 0
    ffmpeg -nostdin -v error -i t.hevc -f rawvideo - >decoded.yuv
    ffmpeg -nostdin -v error -i t.y4m -f rawvideo - >recon.yuv
    [ -s recon.yuv ] || die "x265_motus $*: no reconstruction"
    cmp decoded.yuv recon.yuv ||
        die "x265_motus $*: the stream does not decode to the reconstruction"
}

bits() { cut -d, -f6 line.csv; }

"$motus" synth in.y4m --size 82x70 --frames 5 --pan 5.5,-3.25 --objects 2
"$motus" synth whole.y4m --size 128x64 --frames 3 --pan 1.5,-0.25
for refine in 0 1 2 3; do check in.y4m --refine $refine; done
for ctu in 16 32; do check in.y4m --ctu $ctu; done
check whole.y4m --qp 22
check whole.y4m --search x265 --frames 40 --again
[ "$(cut -d, -f5 line.csv)" = 40 ] || die 'not 40 pictures'
# Without refinement x265's vectors are ours: a search that cannot reach the movement costs bits.
check in.y4m --refine 0 --range 16
far=$(bits)
check in.y4m --refine 0 --range 1
[ "$(bits)" -gt $((far * 11 / 10)) ] ||
    die "$(bits) bits with vectors of one sample, $far with those of sixteen"
"$bridge" none.y4m 2>err && die 'a missing input is no failure'
grep -qx 'x265_motus: none.y4m: cannot be opened' err || die "$(cat err)"

if command -v valgrind >/dev/null; then
    valgrind -q --error-exitcode=9 --leak-check=full --suppressions="$here/x265.supp" \
        "$bridge" in.y4m --frames 3 --plain >out 2>err || die "valgrind: $(head -20 err)"
fi
needs ffmpeg valgrind # for a part of the above
