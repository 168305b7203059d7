#!/usr/bin/env bash
# Runs the full conformance grid over every .y4m or other video file in the folder MOTUS_SEQS. Not
# part of continuous integration.
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
    cat <<TXT
usage: MOTUS_SEQS=DIR tests/conformance/conformance.sh [--build DIR] [--budget SAMPLES] [FILE...]
  --build DIR       build folder (default build/release; configured and built here)
  --budget SAMPLES  luma samples per stream, which sets the number of frames, 3..12 (default: 12
                    CIF frames)
  FILE...           names in DIR (default: all)
TXT
}

build=build/release budget=1216512
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$2 && shift 2 ;;
    --budget) budget=$2 && shift 2 ;;
    -h | --help) usage && exit 0 ;;
    -*) usage >&2 && exit 2 ;;
    *) break ;;
    esac
done
: "${MOTUS_SEQS:?names the folder with the sequences}"

if [ $# -eq 0 ]; then
    kinds=(-name '*.y4m' -o -name '*.mkv' -o -name '*.mp4')
    mapfile -t names < <(
        cd "$MOTUS_SEQS" && find . -maxdepth 1 -type f \( "${kinds[@]}" \) -printf '%P\n' | sort
    )
    set -- "${names[@]}"
fi
[ $# -gt 0 ] || { echo "conformance.sh: no sequences in $MOTUS_SEQS" >&2 && exit 1; }

[ -f "$build/CMakeCache.txt" ] ||
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$build" --target conformance_grid >/dev/null
# Threads that wait by spinning would slow down a machine that has other work.
OMP_WAIT_POLICY=PASSIVE exec "$build/tests/conformance_grid" \
    --budget "$budget" "${@/#/$MOTUS_SEQS/}"
