#!/usr/bin/env bash
# What only a GPU can show, in one run: the GPU suites, streams equal to the CPU's, compute-sanitizer. Needs programs alone: they may have been built elsewhere.
# SPDX-License-Identifier: BSD-2-Clause
set -uo pipefail
usage() {
    cat <<TXT
usage: tests/gpu/gpu.sh PROGRAMS SEQUENCES [PART...]
  PROGRAMS   folder with motus and the gpu_*_test programs: a build tree, or a copy of what is in its tools/ and tests/
  SEQUENCES  folder with .y4m files
  PART       suites    each GPU suite
             same      CUDA's streams are the CPU's: sequences x presets x rate controls x lanes
             sanitize  compute-sanitizer's four tools over an encode, CIF and an odd size
             (these where none is named)
             rates     the same in every mode of rate control, presets x lanes, six encodes at a time: SEQUENCES with cuts tell most
             python    arrays of PyTorch, CuPy and JAX in device memory, as far as those are installed
             grid      gpu_grid: pairs of all settings over each sequence, then generated ones of 16x16 to 7680x4320, with 1, 2, 7 and 16 lanes
             long      20,000 pictures of the first CIF sequence: memory; what kills leave behind
             speed     motus bench encode for the 720p and 1080p sequences and the first 1080p one doubled, beside libx264; then python/bench.py
Environment: MOTUS_FRAMES=N, frames of a sequence in \`same\` (8); MOTUS_LIMIT=N, seconds for one suite or sanitizer (120); MOTUS_LIBX264=FILE, the library
to compare with (the loader's); MOTUS_PRESETS, those that \`speed\` measures (medium,fast,faster);
MOTUS_EXHAUST=1: gpu_lost may take all memory of the device, so nothing else may run there.
Example: tests/gpu/gpu.sh build/release ~/sequences suites same
TXT
}
case ${1:-} in -h | --help) usage && exit 0 ;; esac
[ $# -ge 2 ] || { usage >&2 && exit 2; }
programs=$(cd "$1" && pwd) || exit 2
root=$(cd "$(dirname "$0")/../.." && pwd)
sequences=$(cd "$2" && pwd) || exit 2
shift 2
parts=${*:-suites same sanitize}
frames=${MOTUS_FRAMES:-8} limit=${MOTUS_LIMIT:-120} failures=0
export MOTUS_REQUIRE_GPU=1 MOTUS_SEQS=$sequences
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

program() { find "$programs" -name "$1" -type f -perm -u+x | head -n 1; }
motus=$(program motus)
[ -x "$motus" ] || { echo "$programs: no program motus in it" && exit 2; }

# step NAME COMMAND...: says how it went, and of a failure what was said.
step() {
    local name=$1 began=$SECONDS status
    shift
    if [ "$(type -t "$1")" = function ]; then "$@" >log 2>&1; else timeout "$limit" "$@" >log 2>&1; fi
    status=$?
    printf '%-44s %s %4d s\n' "$name" "$([ $status = 0 ] && echo ok || echo "FAILED ($status)")" $((SECONDS - began))
    [ $status = 0 ] && return
    failures=$((failures + 1))
    grep -E 'FAILED|rror|CUDA|^ +[0-9]+\. |race|Invalid' log | head -n 12
}

suites() {
    local suite
    for suite in $(find "$programs" -name 'gpu_*_test' -type f -perm -u+x | sort); do
        step "$(basename "$suite")" "$suite"
    done
}

# same_streams FILE OPTION...: 1, 2 and 7 lanes.
same_streams() {
    local input=$1 lanes
    shift
    "$motus" encode "$input" -o cpu.264 --frames "$frames" --keyint 3 --backend cpu --quiet "$@" || return 1
    for lanes in 1 2 7; do
        "$motus" encode "$input" -o gpu.264 --frames "$frames" --keyint 3 --backend cuda --gop-coders $lanes --quiet "$@" || return 1
        cmp cpu.264 gpu.264 || { echo "FAILED: --gop-coders $lanes $*" && return 1; }
    done
}

same() {
    local input preset
    for input in "$sequences"/*.y4m; do
        for preset in slow medium fast faster; do step "$(basename "$input") $preset" same_streams "$input" --preset $preset --qp 28; done
        step "$(basename "$input") crf" same_streams "$input" --crf 24 --aq-mode 1
        step "$(basename "$input") bitrate" same_streams "$input" --bitrate 500 --preset fast
    done
}

# One line of `rates`: INPUT PRESET LANES OPTION... %LOG in an option: the log of a first pass, which has to be the same as well.
same_rate() {
    local input=$1 preset=$2 lanes=$3 here backend
    shift 3
    here=$(mktemp -d -p "$dir") && cd "$here" || return 1
    for backend in cpu cuda; do
        "$motus" encode "$input" -o $backend.264 --preset "$preset" --gop-coders "$lanes" --frames "$frames" --keyint 12 --backend $backend --quiet \
            "${@//%LOG/$backend.log}" || break
        [[ "$*" != *%LOG* ]] || "$motus" encode "$input" -o $backend-2.264 --preset "$preset" --gop-coders "$lanes" --frames "$frames" --keyint 12 \
            --backend $backend --quiet --bitrate 700 --pass 2 --pass-log $backend.log || break
    done
    if cmp cpu.264 cuda.264 && { [[ "$*" != *%LOG* ]] || { cmp cpu.log cuda.log && cmp cpu-2.264 cuda-2.264; }; }; then echo "same $*"; else echo "FAILED: $input $preset $lanes lanes $*"; fi
    rm -r "$here"
}

rates() {
    local input preset lanes mode
    local modes=('--qp 30' '--crf 24' '--crf 27.5 --aq-mode 1' '--crf 24 --aq-mode 2 --no-mbtree --ipratio 1.4' '--crf 24 --tune zerolatency'
        '--crf 20 --vbv-maxrate 900 --vbv-bufsize 500 --nal-hrd vbr' '--bitrate 700' '--bitrate 700 --vbv-maxrate 800 --vbv-bufsize 300'
        '--bitrate 600 --vbv-maxrate 600 --vbv-bufsize 300 --nal-hrd cbr' '--bitrate 500 --vbv-maxrate 500 --vbv-bufsize 60 --rc-lookahead 0'
        '--crf 23 --slices 4 --scenecut 0' '--crf 25 --pass 1 --pass-log %LOG')
    export -f same_rate
    export motus frames dir
    for input in "$sequences"/*.y4m; do
        for mode in "${modes[@]}"; do
            for preset in slow medium fast faster; do for lanes in 1 3; do echo "$input $preset $lanes $mode"; done; done
        done
    done | xargs -P 6 -d '\n' -I LINE bash -c 'same_rate LINE' >rates.log 2>&1
    grep -v '^same' rates.log
    failures=$((failures + $(grep -c '^FAILED' rates.log)))
    echo "rates: $(grep -c '^same' rates.log) equal to the CPU's"
}

sanitize() {
    local tool input
    command -v compute-sanitizer >/dev/null || { echo "SKIP: compute-sanitizer is missing" && return; }
    "$motus" synth odd.y4m --size 178x130 --frames 4 >/dev/null || return
    for input in odd.y4m "$(find "$sequences" -name '*cif*.y4m' | sort | head -n 1)"; do
        [ -f "$input" ] || continue
        for tool in memcheck racecheck synccheck initcheck; do
            step "$tool $(basename "$input")" compute-sanitizer --tool $tool --error-exitcode 9 "$motus" encode "$input" -o s.264 \
                --qp 28 --frames 4 --keyint 2 --gop-coders 2 --backend cuda --quiet
        done
    done
}

python() { step "python/tests -k gpu" "$root/python/tests/run.sh" python3 "$(find "$programs" -name libmotus.so | head -n 1)" "$motus" -k gpu; }

# first SIZE: the first sequence of this size.
first() {
    local file
    for file in "$sequences"/*.y4m; do
        head -c 100 "$file" | head -n 1 | grep -aq " W${1%x*} H${1#*x} " && echo "$file" && return
    done
}

grid() {
    local grid input size
    grid=$(program gpu_grid)
    for input in "$sequences"/*.y4m; do step "grid $(basename "$input")" "$grid" "$input"; done
    for size in 16x16 34x18 66x130 640x34; do
        "$motus" synth "$size.y4m" --size $size --frames 9 >/dev/null && step "grid $size" "$grid" "$size.y4m"
    done
    "$motus" synth 4k.y4m --size 4096x2304 --frames 4 >/dev/null && step 'grid 4096x2304' "$grid" --whole --rows 4 4k.y4m
    "$motus" synth 8k.y4m --size 7680x4320 --frames 3 >/dev/null && step 'grid 7680x4320' "$grid" --whole --rows 2 8k.y4m
    rm -f ./*.y4m
}

long() {
    local input
    input=$(first 352x288)
    [ -n "$input" ] || { echo 'SKIP: no sequence of 352x288' && return; }
    python3 "$root/tests/tools/long_run.py" "$motus" "$input" || failures=$((failures + 1))
}

# twice FILE: a .y4m with four times the samples on stdout, those between as the means of their neighbours.
twice() {
    python3 - "$1" <<'PY'
import sys
import numpy as np

def wider(plane):
    out = np.repeat(plane, 2, 1)
    out[:, 1:-1:2] = (plane[:, :-1] + plane[:, 1:] + 1) // 2
    return out

data, out = open(sys.argv[1], "rb"), sys.stdout.buffer
words = data.readline().split()
width, height = (int(next(w[1:] for w in words if w[:1] == tag)) for tag in (b"W", b"H"))
out.write(b" ".join(b"W%d" % (2 * width) if w[:1] == b"W" else b"H%d" % (2 * height) if w[:1] == b"H" else w for w in words) + b"\n")
while line := data.readline():
    out.write(line)
    for w, h in ((width, height), (width // 2, height // 2), (width // 2, height // 2)):
        plane = np.frombuffer(data.read(w * h), np.uint8).reshape(h, w).astype(np.uint16)
        out.write(wider(wider(plane).T).T.astype(np.uint8).tobytes())
PY
}

speed() {
    local input peers=(--peers) film
    [ -z "${MOTUS_LIBX264:-}" ] || peers+=(--libx264 "$MOTUS_LIBX264")
    film=$(first 1920x1080)
    [ -z "$film" ] || twice "$film" >2160p.y4m
    for input in "$(first 1280x720)" "$film" 2160p.y4m; do
        [ -s "$input" ] || continue
        echo "---- $(basename "$input")"
        "$motus" bench encode --input "$input" --frames 40 --gop-coders 16 --preset "${MOTUS_PRESETS:-medium,fast,faster}" --backend cuda --runs 1 "${peers[@]}" || failures=$((failures + 1))
    done
    rm -f 2160p.y4m
    MOTUS_LIBRARY=$(find "$programs" -name libmotus.so | head -n 1) python3 "$root/python/bench.py" ${film:+--input "$film"} ${MOTUS_LIBX264:+--libx264 "$MOTUS_LIBX264"} \
        --runs 3 --presets faster,fast --gop-coders 4,8,16 --keyint 31,61 || failures=$((failures + 1))
}

for part in $parts; do
    case $part in
    suites | same | sanitize | python | grid | long | speed | rates) $part ;;
    *) usage >&2 && exit 2 ;;
    esac
done
echo "$failures failed"
[ $failures = 0 ]
