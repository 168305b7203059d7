#!/bin/sh
# Builds x264 with the search method "motus": copies Debian 12's sources, applies motus.patch, adds
# motus.c and motus.h, and links libmotus. Leaves build/x264/x264.
#   build.sh MOTUS_BUILD [X264_SOURCES]
# MOTUS_BUILD holds libmotus.so. Without X264_SOURCES, tools/deps.sh fetches the source package.
# CONFIGURE holds further options of x264's configure, such as --disable-asm where NASM is missing.
# x264 is under the GNU General Public License, version 2 or later, and so are the patch, motus.c,
# motus.h and the program that is built. libmotus does not link x264 and keeps its own licence.
# SPDX-License-Identifier: BSD-2-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
library=$(realpath "${1:?usage: build.sh MOTUS_BUILD [X264_SOURCES]}")
[ -e "$library/libmotus.so" ] || { echo "build.sh: $library has no libmotus.so" >&2 && exit 1; }
sources=${2:-$root/build/x264-source}
[ -e "$sources/x264.h" ] || [ $# -gt 1 ] || "$root/tools/deps.sh" --x264-source || true
[ -e "$sources/x264.h" ] || { echo "build.sh: no sources of x264 in $sources" >&2 && exit 1; }
tree=$root/build/x264
rm -rf "$tree"
cp -r "$sources" "$tree"
cd "$tree"
patch -p1 -s <"$here/motus.patch"
cp "$here/motus.c" "$here/motus.h" encoder/
# shellcheck disable=SC2086 # several options
./configure --disable-avs --disable-ffms --disable-gpac --disable-lavf --disable-lsmash \
    --disable-opencl --disable-swscale --extra-cflags="-I$root/include" \
    --extra-ldflags="-L$library -Wl,-rpath,$library -lmotus" ${CONFIGURE:-} >configure.log
make -j"$(nproc)" x264 >make.log 2>&1 || { tail -20 make.log >&2 && exit 1; }
echo "build.sh: built $tree/x264"
