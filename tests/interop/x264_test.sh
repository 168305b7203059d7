#!/usr/bin/env bash
# Tests x264 with the search method "motus": streams decode to x264's reconstruction, with frame
# threads, slice threads, B pictures, weighted references and small partitions; they do not change
# from run to run; vectors are used: motion beyond hex costs fewer bits; valgrind finds nothing.
#   x264_test.sh X264 MOTUS
# Skipped (77) where interop/x264/build.sh has not built X264; and, after the rest, without ffmpeg
# or valgrind.
# SPDX-License-Identifier: BSD-2-Clause
set -eu
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
[ -x "$1" ] || skip "$1 is missing; interop/x264/build.sh builds it"
x264=$(realpath "$1") motus=$(realpath "$2")
work_folder

encode() {
    "$x264" --log-level warning --no-progress --tune psnr --qp 28 "$@" --dump-yuv recon.yuv \
        -o t.264 2>err ||
        die "x264 $*: $(cat err)"
    ! grep -E 'warning|error' err || die "x264 $*"
}

# check OPTION...: encodes twice and, with ffmpeg, compares the stream with the reconstruction.
check() {
    encode --me motus --motus-backend cpu "$@"
    mv t.264 first.264
    encode --me motus --motus-backend cpu "$@"
    cmp t.264 first.264 || die "x264 $*: two streams"
    command -v ffmpeg >/dev/null || return 0
    ffmpeg -nostdin -v error -i t.264 -f rawvideo decoded.yuv -y
    cmp decoded.yuv recon.yuv || die "x264 $*: the stream does not decode to the reconstruction"
}

bits() { stat -c %s t.264; }

# Objects that move far from one picture to the next, and a fade, for weighted references.
"$motus" synth in.y4m --size 146x132 --frames 12 --pan 13.5,-11.25 --objects 3
ffmpeg -nostdin -v error -i in.y4m -vf fade=in:0:12 -f yuv4mpegpipe fade.y4m 2>/dev/null ||
    cp in.y4m fade.y4m
for threads in 1 3; do
    check in.y4m --threads $threads
    check in.y4m --threads $threads --motus-ref source
    check fade.y4m --threads $threads --ref 4 --weightp 2 --motus-subpel best
done
check in.y4m --threads 2 --sliced-threads --bframes 0 --motus-subpel half
check in.y4m --threads 1 --preset slower --partitions all --motus-subpel quarter
check in.y4m --threads 2 --preset ultrafast
check in.y4m --threads 2 --subme 0 --intra-refresh --merange 9 --ref 1 --b-pyramid none
check in.y4m --threads 1 --crf 25 --vbv-maxrate 200 --vbv-bufsize 100 --slices 3

encode in.y4m --me dia --threads 1
near=$(bits)
encode in.y4m --me motus --threads 1
[ "$(bits)" -lt "$near" ] || die "$(bits) bytes with motus, $near with dia"
"$x264" --quiet --me motus --motus-backend tpu in.y4m -o t.264 2>err && die 'backend tpu'
for option in "--output-depth 10" --tff; do # umh instead
    # shellcheck disable=SC2086 # an option and its value
    "$x264" --log-level warning --no-progress --me motus $option in.y4m -o t.264 2>err ||
        die "$option: $(cat err)"
    grep -q 'warning.*motus' err || die "$option: no warning"
done

if command -v valgrind >/dev/null; then
    for option in --threads=1 --motus-ref=source --motus-subpel=full --motus-subpel=best; do
        valgrind -q --error-exitcode=9 --leak-check=full "$x264" --quiet --no-progress \
            --threads 2 $option --me motus --motus-backend cpu --frames 5 fade.y4m -o t.264 \
            >out 2>err || die "valgrind, $option: $(head -20 err)"
    done
fi
needs ffmpeg valgrind # for a part of the above
