#!/usr/bin/env bash
# Installs the build tree given as $1 into a folder of its own, builds examples against it through pkg-config and runs them.
#   examples.sh BUILD CC          those in C with compiler CC, shared and static; ffmpeg decodes what they wrote
#   examples.sh BUILD NVCC gpu    the one in CUDA, built everywhere, run where a device is
# Skipped (77) where pkg-config is missing; and, after all that can be done without it, where ffmpeg or the device is (a failure under MOTUS_REQUIRE_GPU=1).
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
build=$1 cc=$2 kind=${3:-c} root=$(cd "$(dirname "$0")/.." && pwd)
command -v pkg-config >/dev/null || { echo "SKIP: pkg-config is not installed" && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cmake --install "$build" --prefix "$dir/prefix" >"$dir/install.log" || { cat "$dir/install.log" && exit 1; }
PKG_CONFIG_PATH=$(dirname "$(find "$dir/prefix" -name motus.pc)")
export PKG_CONFIG_PATH
lib=$(realpath "$(pkg-config --variable=libdir motus)")
[ "$lib" = "$(realpath "$PKG_CONFIG_PATH/..")" ] || { echo "motus.pc names $lib, the library is not there" && exit 1; }
read -ra shared <<<"$(pkg-config --cflags --libs motus)"
read -ra static <<<"$(pkg-config --static --cflags --libs motus | sed "s|-lmotus|$lib/libmotus.a|")"

# decodes FILE N: ffmpeg finds N pictures in it. Without ffmpeg the test is skipped here, so this comes last.
decodes() {
    command -v ffmpeg >/dev/null || { echo "SKIP: built and run; ffmpeg, which would decode the streams, is not installed" && exit 77; }
    local pictures
    pictures=$(ffmpeg -nostdin -v error -f h264 -i "$1" -f framecrc - | grep -c '^0,') || true
    [ "$pictures" = "$2" ] || { echo "ffmpeg decodes $pictures pictures of $2 of $1" && exit 1; }
}

in_c() {
    local name
    for name in search encode; do
        "$cc" -std=c11 -Wall -Wextra -Werror "$root/examples/$name.c" "${shared[@]}" -Wl,-rpath,"$lib" -o "$name"
        "$cc" -std=c11 -Wall -Wextra -Werror "$root/examples/$name.c" "${static[@]}" -o "$name-static"
    done
    ./search
    ./search-static >/dev/null
    ./encode shared.264
    ./encode-static static.264 >/dev/null
    cmp shared.264 static.264
    if [ -x prefix/bin/motus ]; then prefix/bin/motus info >/dev/null; fi
    decodes shared.264 30
}

in_cuda() {
    local arch=native
    prefix/bin/motus info | grep -q '^backend cuda *usable' || arch=sm_90
    "$cc" -std=c++17 -arch=$arch -Xcompiler=-Wall,-Wextra,-Werror "$root/examples/encode_gpu.cu" "${shared[@]}" -Xlinker -rpath="$lib" -o encode_gpu
    if [ $arch != native ]; then
        echo "SKIP: built; no usable CUDA device to run it on"
        [ "${MOTUS_REQUIRE_GPU:-0}" != 1 ] || exit 1
        exit 77
    fi
    ./encode_gpu gpu.264
    decodes gpu.264 60
}

cd "$dir"
if [ "$kind" = gpu ]; then in_cuda; else in_c; fi
