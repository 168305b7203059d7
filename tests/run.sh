#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test: release with warnings as errors, address and undefined-behaviour sanitizers, a build without CUDA and
# without FFmpeg's libraries, and the format check. The last line is the summary.
# SPDX-License-Identifier: BSD-2-Clause
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

usage() {
    cat <<TXT
usage: tests/run.sh [--quick] [--jobs N]
  --quick   the release build and its tests only
  --jobs N  compilers and tests at a time (default: one per processor)
Environment:
  MOTUS_NO_INSTALL=1     install nothing
  MOTUS_SEQS=DIR         also run the tests that need real sequences, which lie in DIR
  MOTUS_REQUIRE_GPU=1    a missing GPU is a failure instead of a skipped test
  MOTUS_SEED=N           seed of the random tests (default 1)
TXT
}

quick=0 jobs=$(nproc)
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=1 && shift ;;
    --jobs) jobs=$2 && shift 2 ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
    esac
done

export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive} # several tests run at a time: idle threads must not spin

passed=0 failed=0 skipped=0 failures=()
logs=build/logs
mkdir -p "$logs"

note() {
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

# step NAME COMMAND...: one check of its own; its output is shown only when it fails.
step() {
    local name=$1 began=$SECONDS
    shift
    if "$@" >"$logs/step.log" 2>&1; then
        printf 'ok    %-44s %4d s\n' "$name" $((SECONDS - began))
        note 1 0 0
    else
        printf 'FAIL  %-44s %4d s\n' "$name" $((SECONDS - began))
        tail -n 60 "$logs/step.log"
        note 0 1 0
        failures+=("$name")
        return 1
    fi
}

# suites NAME DIR CTEST_OPTIONS...: runs the tests of a build and counts them.
suites() {
    local name=$1 dir=$2 log=$logs/$1.log
    shift 2
    echo "---- tests: $name"
    ctest --test-dir "$dir" -j "$jobs" --output-on-failure --no-tests=error "$@" 2>&1 | tee "$log" | grep -v '^ *Start '
    local ctest_status=${PIPESTATUS[0]} ok bad skip
    ok=$(grep -cE '^ *[0-9]+/[0-9]+ Test .* Passed ' "$log")
    skip=$(grep -cE '^ *[0-9]+/[0-9]+ Test .*\*\*\*Skipped ' "$log")
    bad=$(($(grep -cE '^ *[0-9]+/[0-9]+ Test ' "$log") - ok - skip))
    [ "$ctest_status" = 0 ] || [ $bad -gt 0 ] || bad=1 # ctest itself failed
    note "$ok" "$bad" "$skip"
    [ $bad = 0 ] || failures+=("tests: $name")
}

# build NAME CMAKE_OPTIONS...: configures and builds build/NAME.
build() {
    local name=$1
    shift
    step "configure $name" cmake -G Ninja -S . -B "build/$name" "$@" && step "build $name" cmake --build "build/$name" -j "$jobs"
}

format_check() {
    git ls-files -z '*.c' '*.h' '*.cu' '*.cuh' | xargs -0 -r "$clang_format" --dry-run -Werror
}

if ! tools/deps.sh --test; then
    echo "0 passed, 1 failed (dependencies)"
    exit 1
fi

if ! tools/deps.sh --browser; then
    echo "SKIP  Chromium could not be installed: the test of reports will be skipped"
fi

if ! tools/deps.sh --gstreamer; then
    echo "SKIP  GStreamer could not be installed: its plug-in is neither built nor tested"
fi

if ! tools/deps.sh --ffmpeg-source; then
    echo "SKIP  FFmpeg's source package could not be had: the test of FFmpeg's encoder libmotus will be skipped"
fi

if build release -DCMAKE_BUILD_TYPE=Release -DMOTUS_TESTS=ON -DMOTUS_WERROR=ON -DMOTUS_CUDA=AUTO; then
    suites release build/release
fi
if [ $quick = 0 ]; then
    if build asan -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMOTUS_SANITIZE=address,undefined -DMOTUS_CUDA=OFF -DMOTUS_WERROR=ON; then
        suites asan build/asan -L unit
    fi
    if build plain -DCMAKE_BUILD_TYPE=Release -DMOTUS_CUDA=OFF -DMOTUS_MEDIA=OFF -DMOTUS_WERROR=ON; then
        suites plain build/plain -L 'unit|cli'
    fi
fi

clang_format=$(command -v clang-format-14 || command -v clang-format || true)
if [ -n "$clang_format" ] && "$clang_format" --version | grep -q 'version 14\.' && git rev-parse --git-dir >/dev/null 2>&1; then
    step "clang-format" format_check
else
    echo "SKIP  clang-format (version 14 is not installed)"
    note 0 0 1
fi

for name in "${failures[@]}"; do echo "FAILED: $name"; done
echo "$passed passed, $failed failed, $skipped skipped in $SECONDS s"
[ $failed = 0 ]
