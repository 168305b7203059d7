#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test: release, sanitizers, a build without CUDA
# and without FFmpeg's libraries, the format check. CUDA is compiled for this machine's GPU, or for
# sm_90 without optimization. The last line is the summary.
# SPDX-License-Identifier: BSD-2-Clause
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

usage() {
    cat <<TXT
usage: tests/run.sh [--quick | --long] [--jobs N]
  --quick   the release build and its tests only
  --long    more rounds of the random tests, every program and test of each build, and a build for
            all GPUs
  --jobs N  compilers and tests at a time (default: one per processor)
Environment:
  MOTUS_NO_INSTALL=1     install nothing
  MOTUS_SEQS=DIR         also run the tests that need real sequences, which lie in DIR
  MOTUS_REQUIRE_GPU=1    a missing GPU is a failure instead of a skipped test
  MOTUS_SEED=N           seed of the random tests (default 1)
TXT
}

mode=normal jobs=$(nproc)
while [ $# -gt 0 ]; do
    case $1 in
    --quick | --long) mode=${1#--} && shift ;;
    --jobs) jobs=$2 && shift 2 ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
    esac
done
# Targets of the other builds and labels of their tests (docs/testing.md).
asan_target=unit_tests plain_target=plain_tests plain_label=plain leave_to_plain=''
if [ "$mode" = long ]; then
    asan_target=all plain_target=all plain_label='unit|cli'
    export MOTUS_FILES=all MOTUS_RACES=200 MOTUS_CORRUPT=1000 MOTUS_VBV=300 MOTUS_KILLS=50 \
        MOTUS_RANKS='1 2 3 5 8' MOTUS_BATCH=10000 MOTUS_FUZZ_CASES=5000 MOTUS_PIP_BUILD=1
fi
[ "$mode" != normal ] || leave_to_plain=1
# Several tests run at a time: idle threads must not spin.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive} GOMP_SPINCOUNT=${GOMP_SPINCOUNT:-0}
quick=OFF # without a GPU nothing runs CUDA code: it need not be fast
nvidia-smi >/dev/null 2>&1 || { quick=ON && export CUDAARCHS=${CUDAARCHS:-90-real}; }

passed=0 failed=0 skipped=0 failures=()
logs=build/logs
mkdir -p "$logs"

note() {
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

# report NAME STATUS SECONDS LOG: one line on a check of its own; its output only if it failed.
report() {
    if [ "$2" = 0 ]; then
        printf 'ok    %-44s %4d s\n' "$1" "$3"
        note 1 0 0
    else
        printf 'FAIL  %-44s %4d s\n' "$1" "$3"
        tail -n 60 "$4"
        note 0 1 0
        failures+=("$1")
    fi
    return "$2"
}

# step NAME COMMAND...: runs a check.
step() {
    local name=$1 began=$SECONDS status=0
    shift
    "$@" >"$logs/step.log" 2>&1 || status=$?
    report "$name" $status $((SECONDS - began)) "$logs/step.log"
}

# build PRESET TARGET: configures and builds.
build() {
    cmake --preset "$1" -DMOTUS_WERROR=ON -DMOTUS_CUDA_QUICK=$quick &&
        cmake --build "build/$1" -j "$jobs" --target "$2"
}

# build_later PRESET TARGET: the same beside the tests of another build, for built() to report.
build_later() {
    local began=$SECONDS status=0
    build "$@" >"$logs/build_$1.log" 2>&1 || status=$?
    echo "$status $((SECONDS - began))" >"$logs/build_$1.status"
}

built() {
    local status seconds
    read -r status seconds <"$logs/build_$1.status"
    report "build $1" "$status" "$seconds" "$logs/build_$1.log"
}

# suites PRESET CTEST_OPTIONS...: runs the tests of a build and counts them.
suites() {
    local name=$1 log=$logs/$1.log ctest_status ok bad skip
    shift
    echo "---- tests: $name"
    # One more than processors: some tests wait for most of their time.
    ctest --test-dir "build/$name" -j $((jobs + 1)) --output-on-failure --no-tests=error "$@" 2>&1 |
        tee "$log" | grep -v '^ *Start '
    ctest_status=${PIPESTATUS[0]}
    ok=$(grep -cE '^ *[0-9]+/[0-9]+ Test .* Passed ' "$log")
    skip=$(grep -cE '^ *[0-9]+/[0-9]+ Test .*\*\*\*Skipped ' "$log")
    bad=$(($(grep -cE '^ *[0-9]+/[0-9]+ Test ' "$log") - ok - skip))
    [ "$ctest_status" = 0 ] || [ $bad -gt 0 ] || bad=1 # ctest itself failed
    note "$ok" "$bad" "$skip"
    [ $bad = 0 ] || failures+=("tests: $name")
}

# True if the program was compiled for more than one GPU and says so, or without CUDA.
has_all_gpus() {
    local code
    code=$(build/dist/tools/motus info | grep '^CUDA code') || return 0
    [[ $code == *" sm_80 "*" sm_90 "*" compute_"* ]]
}

# Installs the demo's build and runs it.
demo() {
    tools/demo.sh && cmake --install build/demo --prefix "$PWD/build/demo/prefix" &&
        build/demo/prefix/bin/motus info
}

# format_check: no line has more than 100 columns, and clang-format changes nothing.
format_check() {
    ! git grep -nIE '.{101}' -- ':!*.md' ':!*.svg' ':!*/values.txt' ':!*.patch' \
        ':!tools/compare/page/uplot' &&
        git ls-files -z '*.c' '*.h' '*.cu' '*.cuh' |
        xargs -0 -r -n 64 -P "$jobs" "$clang_format" --dry-run -Werror
}

if ! tools/deps.sh --test; then
    echo "0 passed, 1 failed (dependencies)"
    exit 1
fi
tools/deps.sh --browser || echo "SKIP  no Chromium: the test of reports will be skipped"
tools/deps.sh --python || echo "SKIP  no PyAV or aiortc: their tests in Python will be skipped"
tools/deps.sh --gstreamer || echo "SKIP  no GStreamer: its plug-in is neither built nor tested"
tools/deps.sh --ffmpeg-source ||
    echo "SKIP  no source package of FFmpeg: nothing tests the encoder libmotus"

step "build release" build release all
release=$?
if [ "$mode" != quick ]; then
    # Tests wait a lot; compilers at the lowest priority take what they leave.
    (
        renice -n 19 "$BASHPID" >/dev/null
        build_later asan $asan_target
        build_later plain $plain_target
        [ "$mode" != long ] || build_later dist motus
    ) &
fi
# Release leaves to `plain`, whose tests follow, what both would do alike.
[ $release != 0 ] || MOTUS_LEAVE_TO_PLAIN=$leave_to_plain suites release
if [ "$mode" != quick ]; then
    wait
    built asan && suites asan -L unit
    built plain && suites plain -L "$plain_label"
    if [ "$mode" = long ]; then
        built dist && step "code for all GPUs" has_all_gpus
        step demo demo
        if command -v clang >/dev/null; then
            step "fuzz targets" tests/fuzz/run.sh 20
        else
            echo "SKIP  fuzz targets (clang is not installed)"
            note 0 0 1
        fi
        if git diff --quiet HEAD 2>/dev/null; then
            rm -rf build/release-test
            MOTUS_CMAKE_ARGS=-DMOTUS_CUDA=OFF step release tools/release.sh --out build/release-test
        else
            echo "SKIP  release (changes that are in no commit)"
            note 0 0 1
        fi
    fi
fi

clang_format=$(command -v clang-format-14 || command -v clang-format || true)
if [ -n "$clang_format" ] && "$clang_format" --version | grep -q 'version 14\.' &&
    git rev-parse --git-dir >/dev/null 2>&1; then
    step "clang-format" format_check
else
    echo "SKIP  clang-format (version 14 is not installed)"
    note 0 0 1
fi

for name in "${failures[@]}"; do echo "FAILED: $name"; done
echo "$passed passed, $failed failed, $skipped skipped in $SECONDS s"
[ $failed = 0 ]
