#!/usr/bin/env bash
# Makes a playable file from a fresh clone: installs what is missing, builds the program into
# build/demo (with CUDA for this machine's GPU, if it has one), makes a sequence with known motion,
# encodes it.
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -gt 0 ]; then
    echo "usage: tools/demo.sh    (MOTUS_NO_INSTALL=1 in the environment installs nothing)" >&2
    exit 2
fi

mkdir -p build
log=build/demo.log
run() {
    "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2 && exit 1; }
}

echo "1. install what the build needs"
tools/deps.sh --build
cuda=OFF
if command -v nvidia-smi >/dev/null && nvidia-smi >/dev/null 2>&1; then cuda=AUTO; fi
echo "2. build (release, CUDA $cuda)"
run cmake -G Ninja -S . -B build/demo -DCMAKE_BUILD_TYPE=Release -DMOTUS_CUDA=$cuda \
    -DMOTUS_TESTS=OFF -DMOTUS_MPI=OFF -DMOTUS_GSTREAMER=OFF -DMOTUS_X265=OFF
run cmake --build build/demo
motus=build/demo/tools/motus
echo "3. make a sequence of 640x360, 120 pictures"
"$motus" synth build/demo.y4m --size 640x360 --frames 120 -y
echo "4. encode it"
"$motus" encode build/demo.y4m -o build/demo.264 --qp 28 -y
cat <<TXT

The stream is   $PWD/build/demo.264
Play it with    ffplay build/demo.264    (or mpv, vlc)
Its source is   build/demo.y4m
The program is  $motus    (cmake --install build/demo installs it and the library)
TXT
