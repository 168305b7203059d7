#!/usr/bin/env bash
# Compares AVMotionVector side data with motus search on every block of three sequences (of
# $MOTUS_SEQS if set, else generated), also at edges that cut macroblocks; FFmpeg's codecview draws
# them where something moves.
#   av_vectors_test.sh AV_VECTORS MOTUS
# SPDX-License-Identifier: BSD-2-Clause
set -eu
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
vectors=$(realpath "$1") motus=$(realpath "$2")
work_folder

agree() { # agree INPUT: every block of all seven modes
    "$motus" search "$1" -o - --quiet --backend cpu | tail -n +2 | cut -d, -f1-9 >searched.csv
    "$vectors" "$1" listed.csv 0x7F
    [ -s searched.csv ] || die "$1: no vectors"
    cmp searched.csv listed.csv || die "$1: side data differ from motus search"
}

"$motus" synth pan.y4m --size 70x50 --frames 4 --pan 5.5,-3.25 --objects 2
"$motus" synth turn.y4m --size 96x80 --frames 3 --rotate 2 --zoom 1.03
"$motus" synth still.y4m --size 48x34 --frames 3 --objects 3
for name in pan turn still; do agree $name.y4m; done
if [ -n "${MOTUS_SEQS:-}" ]; then
    for name in carphone_qcif_120 parkjoy_480x270_10 vt2people_160x96_5; do
        [ ! -f "$MOTUS_SEQS/$name.y4m" ] || agree "$MOTUS_SEQS/$name.y4m"
    done
fi

# Vectors change samples of every macroblock that moves; without them the picture stays as it is.
"$vectors" pan.y4m drawn.ppm 2 1
"$motus" synth nothing.y4m --size 70x50 --frames 4 --pan 0,0
"$vectors" nothing.y4m undrawn.ppm 2 1
[ "$(head -c 12 drawn.ppm | head -2 | tail -1)" = '70 50' ] || die 'codecview gave another size'
changed() { # PPM Y4M: samples of picture 2 that codecview changed
    /usr/bin/env python3 - "$1" "$2" <<'PY'
import sys
drawn = open(sys.argv[1], 'rb').read().split(b'255\n', 1)[1][::3]
data = open(sys.argv[2], 'rb').read()
start = data.index(b'\n') + 1
frame = start + 2 * (6 + 70 * 50 + 2 * 35 * 25) + 6
print(sum(a != b for a, b in zip(drawn, data[frame:frame + 70 * 50])))
PY
}
needs python3 # which counts what codecview drew
[ "$(changed drawn.ppm pan.y4m)" -gt 60 ] ||
    die "codecview drew $(changed drawn.ppm pan.y4m) samples"
[ "$(changed undrawn.ppm nothing.y4m)" -lt "$(changed drawn.ppm pan.y4m)" ] ||
    die 'codecview drew as much where nothing moves'
