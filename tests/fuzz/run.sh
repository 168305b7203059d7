#!/bin/sh
# run.sh SECONDS [y4m|raw|media ...]: fuzzes each reader for SECONDS with clang's libFuzzer, address
# and undefined-behaviour sanitizers. Exit status 1 if something was found. Finds are left in
# build/fuzz/finds; `build/fuzz/tests/fuzz/replay_NAME --file FIND` runs one again.
# SPDX-License-Identifier: BSD-2-Clause
set -eu
seconds=${1:?usage: run.sh SECONDS [y4m|raw|media ...]}
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/fuzz
[ $# -gt 0 ] || set -- y4m raw media
failed=0

mkdir -p "$build/finds"
CC=clang cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMOTUS_FUZZ=ON \
    -DMOTUS_CUDA=OFF -DMOTUS_TOOLS=OFF -DMOTUS_WERROR=OFF > "$build.log" 2>&1 || {
    cat "$build.log"
    exit 1
}
for name in "$@"; do
    cmake --build "$build" --target "fuzz_$name" "replay_$name" > "$build.log" 2>&1 || {
        cat "$build.log"
        exit 1
    }
    mkdir -p "$build/corpus/$name"
    "$build/tests/fuzz/replay_$name" --seeds "$build/corpus/$name"
done
running=
for name in "$@"; do # side by side: an hour of each is an hour
    "$build/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -max_len=8192 -timeout=20 \
        -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
        -artifact_prefix="$build/finds/$name-" "$build/corpus/$name" > "$build/$name.log" 2>&1 &
    running="$running $name:$!"
done
trap 'for job in $running; do kill "${job#*:}" 2> /dev/null || true; done' EXIT
for job in $running; do
    status=0
    wait "${job#*:}" || status=$?
    echo "== ${job%:*}"
    grep -e '^stat::' -e 'ERROR' -e 'SUMMARY' -e 'Test unit' "$build/${job%:*}.log" || true
    [ "$status" -eq 0 ] || failed=1
done
trap - EXIT
exit $failed
