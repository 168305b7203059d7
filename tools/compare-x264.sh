#!/usr/bin/env bash
# Rate-distortion against x264 with the same tool set (baseline profile, one reference, P pictures, one IDR, fixed QP).
# Bytes are those of the elementary stream without SEI (x264 writes its settings into one; motus writes none). PSNR is measured by ffmpeg on the decoded
# stream, in the same way for both: `psnr_y_global` is the PSNR of the mean squared error over all pictures (quoted), `psnr_y_mean` the mean of the pictures'
# PSNRs (what x264 prints as "Mean Y").
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
export LC_ALL=C
root=$(cd "$(dirname "$0")/.." && pwd)

usage() {
    cat <<TXT
usage: tools/compare-x264.sh [options] SEQS_DIR [NAME...]
  SEQS_DIR          folder with sequences (.y4m, or anything ffmpeg reads losslessly)
  NAME...           beginnings of file names (default: foreman mobile flower soccer crowdrun street)
  --work DIR        streams, measurements and the cache of x264's results (default: build/rd)
  --motus FILE      program to measure (default: build/release/tools/motus)
  --preset NAME     preset of 'motus encode' (x264's stays medium)
  --motus-args STR  further options for 'motus encode'
  --qps "LIST"      default "22 27 32 37"
  --frames N        only the first N pictures
  --csv FILE        default: WORK/rd.csv
  --x264-only       only fill the cache
  --check           compare the PSNR with the one that x264 prints
TXT
}

die() {
    echo "compare-x264.sh: $*" >&2
    exit 1
}

work=$root/build/rd motus=$root/build/release/tools/motus motus_args='' preset='' qps='22 27 32 37' frames=0 csv='' x264_only=0 check=0
while [ $# -gt 0 ]; do
    case $1 in
    --work) work=$2 && shift 2 ;;
    --motus) motus=$2 && shift 2 ;;
    --preset) preset=$2 && shift 2 ;;
    --motus-args) motus_args=$2 && shift 2 ;;
    --qps) qps=$2 && shift 2 ;;
    --frames) frames=$2 && shift 2 ;;
    --csv) csv=$2 && shift 2 ;;
    --x264-only) x264_only=1 && shift ;;
    --check) check=1 && shift ;;
    -h | --help) usage && exit 0 ;;
    -*) usage >&2 && die "unknown option $1" ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || { usage >&2 && exit 2; }
seqs=$1 && shift
[ $# -gt 0 ] || set -- foreman mobile flower soccer crowdrun street
[ -d "$seqs" ] || die "$seqs is not a folder"
for tool in x264 ffmpeg ffprobe python3; do command -v $tool >/dev/null || die "$tool is missing (tools/deps.sh --bench installs it)"; done
[ $x264_only = 1 ] || [ -x "$motus" ] || die "$motus is missing; build it first (cmake --preset release && cmake --build --preset release)"
mkdir -p "$work"/{seqs,x264,motus}
[ -n "$csv" ] || csv=$work/rd.csv

# find_sequence NAME: sets seq (a .y4m with at most $frames pictures), tag, count and fps (as N/D).
find_sequence() {
    local found=("$seqs/$1"*) limit=()
    [ -f "${found[0]}" ] || die "no sequence $1* in $seqs"
    seq=${found[0]}
    tag=$(basename "${seq%.*}")
    if [ "$frames" != 0 ]; then
        tag=${tag}_first$frames
        limit=(-frames:v "$frames")
    fi
    if [[ $seq != *.y4m ]] || [ "$frames" != 0 ]; then
        if [ ! -s "$work/seqs/$tag.y4m" ]; then
            ffmpeg -nostdin -v error -y -i "$seq" -map 0:v:0 "${limit[@]}" -pix_fmt yuv420p "$work/seqs/part.y4m"
            mv "$work/seqs/part.y4m" "$work/seqs/$tag.y4m"
        fi
        seq=$work/seqs/$tag.y4m
    fi
    count=$(ffprobe -v error -count_packets -show_entries stream=nb_read_packets -of default=nw=1:nk=1 "$seq")
    fps=$(ffprobe -v error -show_entries stream=r_frame_rate -of default=nw=1:nk=1 "$seq")
}

# measure STREAM: prints "bytes kbps psnr_y_mean psnr_y_global" of a stream of $seq.
measure() {
    local stats=$work/stats.$$ bare=$work/bare.$$.264 bytes
    ffmpeg -nostdin -v error -y -f h264 -i "$1" -c copy -bsf:v filter_units=remove_types=6 -f h264 "$bare"
    bytes=$(stat -c %s "$bare")
    ffmpeg -nostdin -v error -f h264 -i "$1" -i "$seq" -fps_mode passthrough -enc_time_base 1:1000 -f null - -lavfi \
        "[0:v]settb=1/1000,setpts=N[a];[1:v]settb=1/1000,setpts=N[b];[a][b]psnr=shortest=1:stats_file=$stats"
    awk -v bytes="$bytes" -v fps="$fps" -v count="$count" '
        { split($3, v, ":"); mse = v[2]; sum += mse; split($7, p, ":"); mean += p[2] == "inf" ? 100 : p[2]; n++ }
        END {
            if (n != count) { print "decoded " n " pictures of " count > "/dev/stderr"; exit 1 }
            split(fps, f, "/")
            printf "%d %.4f %.4f %.4f\n", bytes, bytes * 8 / count * f[1] / f[2] / 1000, mean / n, sum ? 10 * log(255 * 255 * n / sum) / log(10) : 100
        }' "$stats" || die "$1 does not hold every picture of $seq"
    rm -f "$stats" "$bare"
}

run_x264() {
    local out=$work/x264/$tag.qp$1
    if [ ! -s "$out.txt" ]; then
        x264 --profile baseline --preset medium --tune psnr --ref 1 --bframes 0 --keyint infinite --no-scenecut --threads 1 --qp "$1" \
            --psnr --no-progress -o "$out.264" "$seq" 2>"$out.log" || die "x264 failed: $(tail -n 1 "$out.log")"
        measure "$out.264" >"$out.part"
        mv "$out.part" "$out.txt"
    fi
    cat "$out.txt"
}

run_motus() {
    local out=$work/motus/$tag.qp$1
    # shellcheck disable=SC2086 # the options are several words
    "$motus" encode "$seq" -o "$out.264" --keyint 0 --qp "$1" ${preset:+--preset "$preset"} $motus_args >"$out.log" 2>&1 || die "motus failed: $(tail -n 1 "$out.log")"
    measure "$out.264"
}

# row ENCODER QP RESULT...: one line of the table and of the CSV.
row() {
    printf '%-24s %-6s %3d %10d %10.2f %9.3f %9.3f\n' "$tag" "$1" "$2" "$3" "$4" "$5" "$6"
    echo "$tag,$1,$2,$3,$4,$5,$6" >>"$csv.part"
}

echo sequence,encoder,qp,bytes,kbps,psnr_y_mean,psnr_y_global >"$csv.part"
printf '%-24s %-6s %3s %10s %10s %9s %9s\n' sequence coder QP bytes kb/s 'mean Y' 'global Y'
for name in "$@"; do
    find_sequence "$name"
    for qp in $qps; do
        result=$(run_x264 "$qp")
        # shellcheck disable=SC2086 # four words
        row x264 "$qp" $result
        if [ $check = 1 ]; then
            said=$(sed -n 's/.*PSNR Mean Y:\([0-9.]*\).*/\1/p' "$work/x264/$tag.qp$qp.log" | tail -n 1)
            awk -v a="$said" -v b="$(cut -d' ' -f3 <<<"$result")" 'BEGIN { d = a - b; exit d > 0.02 || d < -0.02 }' ||
                die "$tag QP $qp: x264 says mean luma PSNR $said, measured $(cut -d' ' -f3 <<<"$result")"
        fi
    done
    [ $x264_only = 1 ] && continue
    for qp in $qps; do
        result=$(run_motus "$qp")
        # shellcheck disable=SC2086 # four words
        row motus "$qp" $result
    done
done
mv "$csv.part" "$csv"
[ $check = 0 ] || echo "x264's own luma PSNR agrees with the measured one everywhere (0.02 dB)"
[ $x264_only = 1 ] || { echo && python3 "$root/tools/bdrate.py" --table "$csv" --psnr psnr_y_global; }
