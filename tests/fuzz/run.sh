#!/bin/sh
# Fuzzes each reader for SECONDS with clang's libFuzzer, address and undefined-behaviour sanitizers: run.sh SECONDS [y4m|raw|media ...]
# Exit status 1 when something was found. Finds are left in build/fuzz/finds; `build/fuzz/tests/fuzz/replay_NAME --file FIND` runs one again.
# SPDX-License-Identifier: BSD-2-Clause
set -eu
seconds=${1:?usage: run.sh SECONDS [y4m|raw|media ...]}
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/fuzz
[ $# -gt 0 ] || set -- y4m raw media
failed=0

CC=clang cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMOTUS_FUZZ=ON -DMOTUS_CUDA=OFF -DMOTUS_TOOLS=OFF \
    -DMOTUS_WERROR=OFF > "$build.log" 2>&1 || { cat "$build.log"; exit 1; }
mkdir -p "$build/finds"
for name in "$@"; do
    cmake --build "$build" --target "fuzz_$name" "replay_$name" > "$build.log" 2>&1 || { cat "$build.log"; exit 1; }
    corpus=$build/corpus/$name
    mkdir -p "$corpus"
    "$build/tests/fuzz/replay_$name" --seeds "$corpus"
    echo "== $name"
    status=0
    "$build/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -max_len=8192 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
        -verbosity=0 -artifact_prefix="$build/finds/$name-" "$corpus" > "$build/$name.log" 2>&1 || status=$?
    grep -e '^stat::' -e 'ERROR' -e 'SUMMARY' -e 'Test unit' "$build/$name.log"
    [ "$status" -eq 0 ] || failed=1
done
exit $failed
