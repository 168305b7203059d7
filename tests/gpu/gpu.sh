#!/usr/bin/env bash
# Runs all that needs a GPU: gpu_test's suites, streams against the CPU's, compute-sanitizer,
# benchmarks. Only the programs are needed; they may have been built elsewhere.
# SPDX-License-Identifier: BSD-2-Clause
set -uo pipefail
[ ! -t 0 ] || exec </dev/null # on a terminal motus asks before it replaces a file
usage() {
    cat <<TXT
usage: tests/gpu/gpu.sh PROGRAMS SEQUENCES [PART...]
  PROGRAMS   folder with motus and gpu_test: a build tree, or a copy of its tools/ and tests/
  SEQUENCES  folder with .y4m files
  PART       suites    each suite of gpu_test, in a process of its own
             same      CUDA's streams are the CPU's: sequences x presets x rate controls x
                       GOP coders
             sanitize  compute-sanitizer's four tools over an encode, CIF and an odd size
             (these three by default)
             kernels   compute-sanitizer's four tools over gpu_test's kernels, few cases of each
             bench     times of gpu_test's kernels at 1080p
             rates     as same, every mode of rate control, six encodes at a time; SEQUENCES with
                       cuts tell most
             python    arrays of PyTorch, CuPy and JAX in device memory, as far as installed
             grid      gpu_grid: pairs of all settings over each sequence and generated ones,
                       16x16 to 7680x4320, 1 to 16 GOP coders
             long      20,000 pictures of the first CIF sequence: memory; what kills leave behind
             speed     motus bench encode for 720p, 1080p and 4K, beside libx264; then
                       python/bench.py
Environment:
  MOTUS_FRAMES=N        frames of a sequence in same and rates (8)
  MOTUS_LIMIT=N         seconds for one step (120)
  MOTUS_LIBX264=FILE    the library to compare with (the loader's)
  MOTUS_PRESETS=LIST    what speed measures (medium,fast,faster)
  MOTUS_EXHAUST=1       the suite lost may take all memory of the device; nothing else may run
                        there
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
test=$(program gpu_test)

# step NAME COMMAND...: prints how it went, and the errors of a failure.
step() {
    local name=$1 began=$SECONDS status result=ok
    shift
    if [ "$(type -t "$1")" = function ]; then
        "$@" >log 2>&1
    else
        timeout "$limit" "$@" >log 2>&1
    fi
    status=$?
    [ $status = 0 ] || result="FAILED ($status)"
    printf '%-44s %s %4d s  %s\n' "$name" "$result" $((SECONDS - began)) \
        "$(sed -n 's/^gpu_[a-z_]*: \(.*\), [0-9]* s$/\1/p' log)"
    [ $status = 0 ] && return
    failures=$((failures + 1))
    grep -E 'FAILED|rror|CUDA|^ +[0-9]+\. |race|Invalid|gpu_test --seed' log | head -n 12
}

# check COMMAND...: counts a failure.
check() { "$@" || failures=$((failures + 1)); }

suites() {
    local suite
    for suite in $("$test" --list | cut -d. -f1 | uniq); do step "gpu_$suite" "$test" "$suite"; done
    step arguments "$(program arguments_test)" # opens CUDA's objects where there is a GPU
}

bench() { check "$test" --bench; }

# same_streams FILE OPTION...: with 1, 2 and 7 GOP coders.
same_streams() {
    local input=$1 coders common
    shift
    common=(--frames "$frames" --keyint 3 --quiet "$@")
    "$motus" encode "$input" -o cpu.264 --backend cpu "${common[@]}" || return 1
    for coders in 1 2 7; do
        "$motus" encode "$input" -o gpu.264 --backend cuda --gop-coders $coders "${common[@]}" ||
            return 1
        cmp cpu.264 gpu.264 || { echo "FAILED: --gop-coders $coders $*" && return 1; }
    done
}

# presets: the names that the program tells.
presets() {
    "$motus" encode none -o none.264 --preset '?' 2>&1 | sed 's/.*must be //; s/,\| or\|;.*//g'
}

same() {
    local input preset name
    for input in "$sequences"/*.y4m; do
        name=$(basename "$input")
        for preset in $(presets); do
            step "$name $preset" same_streams "$input" --preset "$preset" --qp 28
        done
        step "$name crf" same_streams "$input" --crf 24 --aq-mode 1
        step "$name bitrate" same_streams "$input" --bitrate 500 --preset fast
    done
}

# same_rate INPUT PRESET GOP-CODERS OPTION...: one line of `rates`. %LOG in an option is the log of
# a first pass, which must be the same, too.
same_rate() {
    local input=$1 here backend common equal=1
    common=("$input" --preset "$2" --gop-coders "$3" --frames "$frames" --keyint 12 --quiet)
    shift 3
    here=$(mktemp -d -p "$dir") && cd "$here" || return 1
    for backend in cpu cuda; do
        "$motus" encode "${common[@]}" -o $backend.264 --backend $backend \
            "${@//%LOG/$backend.log}" || break
        [[ "$*" == *%LOG* ]] || continue
        "$motus" encode "${common[@]}" -o $backend-2.264 --backend $backend --bitrate 700 \
            --pass 2 --pass-log $backend.log || break
    done
    cmp cpu.264 cuda.264 || equal=0
    if [[ "$*" == *%LOG* ]]; then cmp cpu.log cuda.log && cmp cpu-2.264 cuda-2.264 || equal=0; fi
    if [ $equal = 1 ]; then echo "same $*"; else echo "FAILED: ${common[*]} $*"; fi
    rm -r "$here"
}

rates() {
    local input preset coders mode modes
    modes=('--qp 30' '--crf 24' '--crf 27.5 --aq-mode 1'
        '--crf 24 --aq-mode 2 --no-mbtree --ipratio 1.4' '--crf 24 --tune zerolatency'
        '--crf 20 --vbv-maxrate 900 --vbv-bufsize 500 --nal-hrd vbr' '--bitrate 700'
        '--bitrate 700 --vbv-maxrate 800 --vbv-bufsize 300'
        '--bitrate 600 --vbv-maxrate 600 --vbv-bufsize 300 --nal-hrd cbr'
        '--bitrate 500 --vbv-maxrate 500 --vbv-bufsize 60 --rc-lookahead 0'
        '--crf 23 --slices 4 --scenecut 0' '--crf 25 --pass 1 --pass-log %LOG')
    export -f same_rate
    export motus frames dir
    for input in "$sequences"/*.y4m; do
        for mode in "${modes[@]}"; do
            for preset in $(presets); do
                for coders in 1 3; do echo "$input $preset $coders $mode"; done
            done
        done
    done | xargs -P 6 -d '\n' -I LINE bash -c 'same_rate LINE' >rates.log 2>&1
    grep -v '^same' rates.log
    failures=$((failures + $(grep -c '^FAILED' rates.log)))
    echo "rates: $(grep -c '^same' rates.log) equal to the CPU's"
}

# sanitized NAME COMMAND...: under each of compute-sanitizer's tools.
sanitized() {
    local name=$1 tool
    shift
    for tool in memcheck racecheck synccheck initcheck; do
        step "$tool $name" compute-sanitizer --tool $tool --error-exitcode 9 "$@"
    done
}

has_sanitizer() {
    command -v compute-sanitizer >/dev/null || { echo 'SKIP: no compute-sanitizer' && return 1; }
}

sanitize() {
    local input
    has_sanitizer || return
    "$motus" synth odd.y4m --size 178x130 --frames 4 >/dev/null || return
    for input in odd.y4m "$(find "$sequences" -name '*cif*.y4m' | sort | head -n 1)"; do
        [ -f "$input" ] || continue
        sanitized "$(basename "$input")" "$motus" encode "$input" -o s.264 --qp 28 --frames 4 \
            --keyint 2 --gop-coders 2 --backend cuda --quiet
    done
}

kernels() {
    has_sanitizer || return
    MOTUS_CASES=3 sanitized kernels "$test" centres.centres colour deblock decide.generated \
        filters.dct_forward filters.dct_inverse filters.equalize filters.wavelet image.convert \
        lookahead.half_planes lookahead.intra_costs lookahead.search lookahead.aq_offsets \
        lookahead.mb_tree_propagate lookahead.mb_tree_offsets me.random_cases slice.contents
}

library() { find "$programs" -name libmotus.so | head -n 1; }

python() {
    step 'python/tests -k gpu' "$root/python/tests/run.sh" python3 "$(library)" "$motus" -k gpu
}

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
        "$motus" synth $size.y4m --size $size --frames 9 >/dev/null &&
            step "grid $size" "$grid" $size.y4m
    done
    "$motus" synth 4k.y4m --size 4096x2304 --frames 4 >/dev/null &&
        step 'grid 4096x2304' "$grid" --whole --rows 4 4k.y4m
    "$motus" synth 8k.y4m --size 7680x4320 --frames 3 >/dev/null &&
        step 'grid 7680x4320' "$grid" --whole --rows 2 8k.y4m
    rm -f ./*.y4m
}

long() {
    local input
    input=$(first 352x288)
    [ -n "$input" ] || { echo 'SKIP: no sequence of 352x288' && return; }
    check python3 "$root/tests/tools/long_run.py" "$motus" "$input"
}

# twice FILE: writes a .y4m of twice the size to stdout, with means of neighbours in between.
twice() {
    python3 - "$1" <<'PY'
import sys
import numpy as np

def wider(plane):
    out = np.repeat(plane, 2, 1)
    out[:, 1:-1:2] = (plane[:, :-1] + plane[:, 1:] + 1) // 2
    return out

def doubled(word):
    return b"%c%d" % (word[0], 2 * int(word[1:])) if word[:1] in (b"W", b"H") else word

data, out = open(sys.argv[1], "rb"), sys.stdout.buffer
words = data.readline().split()
width, height = (int(next(w[1:] for w in words if w[:1] == tag)) for tag in (b"W", b"H"))
out.write(b" ".join(map(doubled, words)) + b"\n")
while line := data.readline():
    out.write(line)
    for w, h in ((width, height), (width // 2, height // 2), (width // 2, height // 2)):
        plane = np.frombuffer(data.read(w * h), np.uint8).reshape(h, w).astype(np.uint16)
        out.write(wider(wider(plane).T).T.astype(np.uint8).tobytes())
PY
}

speed() {
    local input film x264=() presets=${MOTUS_PRESETS:-medium,fast,faster}
    [ -z "${MOTUS_LIBX264:-}" ] || x264=(--libx264 "$MOTUS_LIBX264")
    film=$(first 1920x1080)
    [ -z "$film" ] || twice "$film" >2160p.y4m
    for input in "$(first 1280x720)" "$film" 2160p.y4m; do
        [ -s "$input" ] || continue
        echo "---- $(basename "$input")"
        check "$motus" bench encode --input "$input" --frames 40 --gop-coders 16 \
            --preset "$presets" --backend cuda --runs 1 --peers "${x264[@]}"
    done
    rm -f 2160p.y4m
    MOTUS_LIBRARY=$(library) check python3 "$root/python/bench.py" ${film:+--input "$film"} \
        "${x264[@]}" --runs 3 --presets faster,fast --gop-coders 4,8,16 --keyint 31,61
}

for part in $parts; do
    case $part in
    suites | same | sanitize | kernels | bench | rates | python | grid | long | speed) $part ;;
    *) usage >&2 && exit 2 ;;
    esac
done
echo "$failures failed"
[ $failures = 0 ]
