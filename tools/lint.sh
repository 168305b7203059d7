#!/usr/bin/env bash
# clang-format, clang-tidy, cppcheck and shellcheck over every tracked file. Prints what is wrong; ends with one line.
# SPDX-License-Identifier: BSD-2-Clause
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

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
mapfile -t sources < <(git ls-files '*.c' ':!examples' ':!tests' ':!interop/ffmpeg') # that is a file of FFmpeg's
mapfile -t tests < <(git grep -L -e cuda_runtime_api.h -e tests/gpu/gpu_test.h -e tests/gpu/sequence.h -e '_cuda.h"' -- 'tests/*.c' ':!tests/install/subproject') # without CUDA's headers
mapfile -t all < <(git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.cpp')
mapfile -t scripts < <(git ls-files '*.sh' .ci/run)
format=$(command -v clang-format-14 || command -v clang-format)

# tidy OPTION... -- FILE...: clang-tidy with the compile commands of a build without CUDA, whose flags clang does not know. A debug build: asserts tell the
# analyzer what holds.
tidy() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    cmake -G Ninja -S . -B build/lint -DCMAKE_BUILD_TYPE=Debug -DMOTUS_CUDA=OFF -DMOTUS_TESTS=ON -DCMAKE_C_COMPILER=gcc >/dev/null &&
        ninja -C build/lint tests/arguments/calls.inc >/dev/null &&
        printf '%s\0' "$@" | xargs -0 -n 4 -P "$jobs" clang-tidy -p build/lint --quiet "${options[@]}"
}

check clang-format "$format" --dry-run -Werror "${all[@]}"
# MPI's requests live in lists, and are waited for elsewhere than where they began.
check clang-tidy tidy "--checks=-clang-analyzer-optin.mpi.MPI-Checker" -- "${sources[@]}"
# Tests: the analyzer does not know that CUnit's fatal checks do not return; readers of test streams call the same function twice on purpose; the cores' modes are
# signed numbers of a byte.
check "tidy tests" tidy "--checks=-clang-analyzer-*,-misc-redundant-expression,-cert-err34-c,-performance-type-promotion-in-math-fn,-bugprone-signed-char-misuse,-cert-str34-c,-bugprone-suspicious-include" \
    -- "${tests[@]}"
# Right shifts of negative numbers are arithmetic in every compiler that builds this. Rows of a plane are read left of their first sample on purpose. Arrays that
# a loop fills from its start to a variable end count as uninitialized. MOTUS_SHARED is nothing on a CPU.
check cppcheck cppcheck --quiet --error-exitcode=1 --enable=warning,portability,performance --inline-suppr --library=gtk --std=c11 -j "$jobs" -I . -I include \
    --suppress=missingIncludeSystem --suppress=shiftTooManyBitsSigned --suppress=negativeIndex:me/pixel/ref_luma.c \
    --suppress=uninitvar:yuv/io/media_rate.c --suppress=uninitvar:encoder/analyse/inter_choice_cpu.h --suppress=uninitStructMember:encoder/analyse/inter_choice_cpu.h --suppress=uninitvar:encoder/analyse/intra_modes_warp.cuh --suppress=selfAssignment:encoder/analyse/intra_trial_warp.cuh --suppress=uninitvar:encoder/mb/deblock_avx2.c \
    "--suppress=negativeIndex:tests/*" "--suppress=uninitvar:tests/*" "${sources[@]}" "${tests[@]}"
check shellcheck shellcheck "${scripts[@]}"
if [ ${#failed[@]} -gt 0 ]; then
    echo "lint: failed: ${failed[*]}"
    exit 1
fi
echo "lint: clean"
