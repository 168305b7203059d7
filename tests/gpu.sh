#!/usr/bin/env bash
# What only a GPU can show, in one run: the GPU suites, streams equal to the CPU's, compute-sanitizer. Needs programs alone: they may have been built elsewhere.
# SPDX-License-Identifier: BSD-2-Clause
set -uo pipefail
usage() {
    cat <<TXT
usage: tests/gpu.sh PROGRAMS SEQUENCES [PART...]
  PROGRAMS   folder with motus and the gpu_*_test programs: a build tree, or a copy of what is in its tools/ and tests/
  SEQUENCES  folder with .y4m files
  PART       suites    each GPU suite
             same      CUDA's streams are the CPU's: sequences x presets x rate controls x lanes
             sanitize  compute-sanitizer's four tools over an encode, CIF and an odd size
             (these where none is named)
             rates     the same in every mode of rate control, presets x lanes, six encodes at a time: SEQUENCES with cuts tell most
             python    arrays of PyTorch, CuPy and JAX in device memory, as far as those are installed
Environment: MOTUS_FRAMES=N, frames of a sequence in \`same\` (8); MOTUS_LIMIT=N, seconds for one suite or sanitizer (120).
Example: tests/gpu.sh build/release ~/sequences suites same
TXT
}
case ${1:-} in -h | --help) usage && exit 0 ;; esac
[ $# -ge 2 ] || { usage >&2 && exit 2; }
programs=$(cd "$1" && pwd) || exit 2
root=$(cd "$(dirname "$0")/.." && pwd)
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
        "$motus" encode "$input" -o gpu.264 --frames "$frames" --keyint 3 --backend cuda --lanes $lanes --quiet "$@" || return 1
        cmp cpu.264 gpu.264 || { echo "FAILED: --lanes $lanes $*" && return 1; }
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
        "$motus" encode "$input" -o $backend.264 --preset "$preset" --lanes "$lanes" --frames "$frames" --keyint 12 --backend $backend --quiet \
            "${@//%LOG/$backend.log}" || break
        [[ "$*" != *%LOG* ]] || "$motus" encode "$input" -o $backend-2.264 --preset "$preset" --lanes "$lanes" --frames "$frames" --keyint 12 \
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
                --qp 28 --frames 4 --keyint 2 --lanes 2 --backend cuda --quiet
        done
    done
}

python() { step "python/tests -k gpu" "$root/python/tests/run.sh" python3 "$(find "$programs" -name libmotus.so | head -n 1)" "$motus" -k gpu; }

for part in $parts; do
    case $part in
    suites | same | sanitize | python | rates) $part ;;
    *) usage >&2 && exit 2 ;;
    esac
done
echo "$failures failed"
[ $failures = 0 ]
