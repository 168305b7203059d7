#!/usr/bin/env bash
# Installs the build tree given as $1 into a folder of its own, builds the examples against it with compiler $2 through pkg-config, shared and static, and runs them.
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
build=$1 cc=$2 root=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cmake --install "$build" --prefix "$dir/prefix" >"$dir/install.log" || { cat "$dir/install.log" && exit 1; }
PKG_CONFIG_PATH=$(dirname "$(find "$dir/prefix" -name motus.pc)")
export PKG_CONFIG_PATH
lib=$(realpath "$(pkg-config --variable=libdir motus)")
[ "$lib" = "$(realpath "$PKG_CONFIG_PATH/..")" ] || { echo "motus.pc names $lib, the library is not there" && exit 1; }

# decodes FILE N: ffmpeg, where it is, finds N pictures in it.
decodes() {
    command -v ffmpeg >/dev/null || return 0
    local pictures
    pictures=$(ffmpeg -nostdin -v error -f h264 -i "$1" -f framecrc - | grep -c '^0,') || true
    [ "$pictures" = "$2" ] || { echo "ffmpeg decodes $pictures pictures of $2 of $1" && exit 1; }
}

for name in search encode; do
    read -ra shared <<<"$(pkg-config --cflags --libs motus)"
    "$cc" -std=c11 -Wall -Wextra -Werror "$root/examples/$name.c" "${shared[@]}" -Wl,-rpath,"$lib" -o "$dir/$name"
    read -ra static <<<"$(pkg-config --static --cflags --libs motus | sed "s|-lmotus|$lib/libmotus.a|")"
    "$cc" -std=c11 -Wall -Wextra -Werror "$root/examples/$name.c" "${static[@]}" -o "$dir/$name-static"
done

# Where nvcc is and the library has the CUDA backend: built everywhere, run where a device is.
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ -x "$nvcc" ] && [ -x "$dir/prefix/bin/motus" ] && ! "$dir/prefix/bin/motus" info | grep -q '^backend cuda *not supported'; then
    arch=native
    "$dir/prefix/bin/motus" info | grep -q '^device' || arch=sm_90
    read -ra flags <<<"$(pkg-config --cflags --libs motus)"
    "$nvcc" -std=c++17 -arch=$arch -Xcompiler=-Wall,-Wextra,-Werror "$root/examples/encode_gpu.cu" "${flags[@]}" -Xlinker -rpath="$lib" -o "$dir/encode_gpu"
    if [ $arch = native ]; then (cd "$dir" && ./encode_gpu gpu.264 && decodes gpu.264 60); fi
fi

cd "$dir"
./search && ./search-static >/dev/null
./encode shared.264 && ./encode-static static.264 >/dev/null
cmp shared.264 static.264
decodes shared.264 30
if [ -x prefix/bin/motus ]; then prefix/bin/motus info >/dev/null; fi
