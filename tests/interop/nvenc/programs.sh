#!/usr/bin/env bash
# programs.sh MOTUS NVENC_FOLDER DRIVER_FOLDER: unchanged programs that use NVENC, over motus's
# libnvidia-encode.so.1 and a CUDA driver that is none: every stream decodes to as many frames as
# went in; what NVENC refuses fails as it does there.
# SPDX-License-Identifier: BSD-2-Clause
set -uo pipefail
motus=$1 nvenc=$2 driver=$3 failures=0
encoders=$(ffmpeg -hide_banner -encoders 2>/dev/null)
[[ $encoders == *h264_nvenc* ]] || { echo "SKIP  no ffmpeg with h264_nvenc" && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export MOTUS_NVENC=always MOTUS_NVENC_BACKEND=cpu

fail() { echo "FAILED: $*" && failures=$((failures + 1)); }
over() { LD_LIBRARY_PATH="$nvenc:$driver" timeout 120 "$@"; }
frames() { ffmpeg -nostdin -v error -i "$1" -f framemd5 - 2>&1 | grep -vc '^#'; }

"$motus" synth in.y4m --size 176x144 --frames 24 --pan 2,1 --objects 3 >/dev/null || exit 1

# encodes NAME OPTIONS...: by FFmpeg's h264_nvenc, without a word, 24 frames.
encodes() {
    local name=$1
    shift
    over ffmpeg -nostdin -hide_banner -v warning -y -i in.y4m -c:v h264_nvenc "$@" "$name.mp4" \
        >"$name.txt" 2>&1 || fail "$name: $(tail -n 3 "$name.txt")"
    [ ! -s "$name.txt" ] || fail "$name says: $(head -n 3 "$name.txt")"
    [ "$(frames "$name.mp4")" = 24 ] || fail "$name: $(frames "$name.mp4") frames"
}

# refuses WORDS OPTIONS...
refuses() {
    local words=$1
    shift
    over ffmpeg -nostdin -hide_banner -v warning -y -i in.y4m "$@" refused.mp4 >refused.txt 2>&1 &&
        fail "not refused: $*"
    grep -q "$words" refused.txt || fail "$*: $(head -n 3 refused.txt)"
}

for preset in p1 p2 p3 p4 p6 p7; do
    encodes "preset_$preset" -preset $preset -qp 30
done
encodes bitrate -b:v 300k
encodes vbr -rc vbr -cq 25 -bf 3
encodes ceiling -rc vbr -cq 25 -maxrate 400k -bufsize 400k
encodes cbr -rc cbr -b:v 300k -bufsize 100k
encodes latency -preset p2 -tune ull -zerolatency 1 -delay 0 -rc cbr -b:v 300k
encodes lookahead -b:v 300k -rc-lookahead 10 -bf 3 -spatial-aq 1 -temporal-aq 1
encodes pyramid -qp 30 -bf 4 -b_ref_mode middle
encodes each -qp 30 -bf 2 -b_ref_mode each
encodes short -qp 30 -g 10 -forced-idr 1 -force_key_frames 0.5
encodes intra -qp 30 -g 1
encodes refresh -qp 30 -bf 0 -g 20 -intra-refresh 1
encodes profile -qp 30 -profile:v baseline -bf 0 -coder cavlc
encodes surfaces -qp 30 -surfaces 64 -aud 1 -refs 3
encodes rgb -qp 30 -pix_fmt bgr0
encodes nv12 -qp 30 -pix_fmt nv12 -dpb_size 4 -bf 0
refuses "not supported" -c:v hevc_nvenc
refuses "not supported" -pix_fmt yuv444p -c:v h264_nvenc
refuses "not supported" -pix_fmt p010le -c:v h264_nvenc
cmp -s preset_p1.mp4 preset_p2.mp4 || fail "p1 and p2 are one preset"

export GST_REGISTRY=$dir/registry
if over gst-inspect-1.0 nvh264enc >/dev/null 2>&1; then
    over gst-launch-1.0 -q videotestsrc num-buffers=30 ! \
        video/x-raw,format=NV12,width=176,height=144 ! nvh264enc ! h264parse ! mp4mux ! \
        filesink location=gst.mp4 >gst.txt 2>&1 || fail "nvh264enc: $(head -n 3 gst.txt)"
    [ "$(frames gst.mp4)" = 30 ] || fail "nvh264enc: $(frames gst.mp4) frames"
else
    echo "without GStreamer's nvh264enc"
fi
[ $failures = 0 ] && echo "all programs ran"
[ $failures = 0 ]
