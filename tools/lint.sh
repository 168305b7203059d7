#!/usr/bin/env bash
# Runs clang-format, clang-tidy, cppcheck and shellcheck over every tracked file. Prints the faults
# and ends with one line.
# SPDX-License-Identifier: BSD-2-Clause
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

usage() { echo "usage: tools/lint.sh"; }

case ${1-} in
"") ;;
-h | --help) usage && exit 0 ;;
*) usage >&2 && exit 2 ;;
esac

tools/deps.sh --test --lint || exit 1
mkdir -p build
failed=()
check() {
    local name=$1 began=$SECONDS
    shift
    if "$@" >build/lint.log 2>&1; then
        printf 'ok    %-14s %4d s\n' "$name" $((SECONDS - began))
    else
        printf 'FAIL  %-14s %4d s\n' "$name" $((SECONDS - began))
        cat build/lint.log
        failed+=("$name")
    fi
}

jobs=$(nproc)
# interop/ffmpeg and interop/x264 compile inside FFmpeg and x264 only; tests with CUDA's headers are
# left out, and so are the refusals of a build without CUDA, which use no parameter.
mapfile -t sources < <(git ls-files '*.c' ':!examples' ':!tests' ':!interop/ffmpeg' \
    ':!interop/x264' ':!*no_cuda.c')
cuda=(-e cuda_runtime_api.h -e tests/gpu/gpu_test.h -e tests/gpu/sequence.h -e '_cuda.h"')
mapfile -t tests < <(git grep -L "${cuda[@]}" -- 'tests/*.c' ':!tests/install/subproject')
mapfile -t all < <(git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.cpp')
mapfile -t scripts < <(git ls-files '*.sh' .ci/run)
format=$(command -v clang-format-14 || command -v clang-format)

# tidy OPTION... -- FILE...: runs clang-tidy with compile commands of a debug build without CUDA:
# clang does not know nvcc's flags; asserts help the analyzer.
tidy() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    cmake -G Ninja -S . -B build/lint -DCMAKE_BUILD_TYPE=Debug -DMOTUS_CUDA=OFF -DMOTUS_TESTS=ON \
        -DCMAKE_C_COMPILER=gcc >/dev/null &&
        ninja -C build/lint tests/arguments/calls.inc >/dev/null &&
        printf '%s\0' "$@" |
        xargs -0 -n 4 -P "$jobs" clang-tidy -p build/lint --quiet "${options[@]}"
}

# The analyzer follows MPI's requests neither into lists nor into other functions.
main_checks=-clang-analyzer-optin.mpi.MPI-Checker
# In tests it does not know that CUnit's fatal checks do not return; readers of test streams call
# the same function twice; modes are signed bytes.
test_checks="-clang-analyzer-*,-misc-redundant-expression,-cert-err34-c"
test_checks+=",-performance-type-promotion-in-math-fn,-bugprone-signed-char-misuse,-cert-str34-c"
test_checks+=",-bugprone-suspicious-include,-readability-function-size"

# Right shifts of negative numbers are arithmetic in every compiler that builds this. Rows of a
# plane are read left of their first sample. Arrays that a loop fills up to a variable end count as
# uninitialized, and members that only some callers set and read. MOTUS_SHARED is empty on a CPU.
cppcheck=(cppcheck --quiet --error-exitcode=1 "--enable=warning,portability,performance"
    --inline-suppr --library=gtk --std=c11 -j "$jobs" -I . -I include)
for suppressed in missingIncludeSystem shiftTooManyBitsSigned \
    "negativeIndex:me/pixel/ref_luma.c" "negativeIndex:tests/*" "uninitvar:me/centres/centres.c" \
    "uninitvar:yuv/io/media_info.c" "uninitvar:encoder/analyse/inter.c" \
    "uninitStructMember:encoder/analyse/inter.c" \
    "uninitvar:encoder/analyse/inter_choice_warp.cuh" \
    "uninitvar:encoder/intra/intra_modes_warp.cuh" "uninitvar:encoder/intra/intra_trial_warp.cuh" \
    "selfAssignment:encoder/intra/intra8x8_warp.cuh" \
    "selfAssignment:encoder/intra/intra_trial_warp.cuh" \
    "uninitvar:encoder/mb/deblock_avx2.c" "uninitvar:tests/*"; do
    cppcheck+=("--suppress=$suppressed")
done

short_lines() {
    ! git grep -nIE '.{101}' -- ':!*.md' ':!*.svg' ':!*/values.txt' ':!*.patch' \
        ':!tools/compare/page/uplot'
}

check "100 columns" short_lines
check clang-format "$format" --dry-run -Werror "${all[@]}"
check clang-tidy tidy "--checks=$main_checks" -- "${sources[@]}"
check "tidy tests" tidy "--checks=$test_checks" -- "${tests[@]}"
check cppcheck "${cppcheck[@]}" "${sources[@]}" "${tests[@]}"
check shellcheck shellcheck "${scripts[@]}"
if [ ${#failed[@]} -gt 0 ]; then
    echo "lint: failed: ${failed[*]}"
    exit 1
fi
echo "lint: clean"
