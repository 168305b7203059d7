#!/usr/bin/env bash
# interop/ffmpeg/libmotus.c compiles against FFmpeg's sources in folder $1, where apply.sh adds it to the encoders; with compiler $2, which takes FFmpeg's headers
# as those of a system. Skipped (77) where the sources are not there: tools/deps.sh --ffmpeg-source fetches them.
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
sources=$1 cc=$2 root=$(cd "$(dirname "$0")/../.." && pwd)
[ -d "$sources" ] || { echo "SKIP: $sources is missing; tools/deps.sh --ffmpeg-source fetches it" && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/ffmpeg/libavcodec" "$dir/configured/libavutil"
cp "$sources/configure" "$dir/ffmpeg/"
cp "$sources"/libavcodec/{Makefile,allcodecs.c} "$dir/ffmpeg/libavcodec/"

"$root/interop/ffmpeg/apply.sh" "$dir/ffmpeg"
"$root/interop/ffmpeg/apply.sh" "$dir/ffmpeg" # a second time changes nothing
for file in configure libavcodec/Makefile libavcodec/allcodecs.c; do
    lines=$(diff "$sources/$file" "$dir/ffmpeg/$file" | grep -c '^>') || true
    [ "$lines" = "$([ $file = configure ] && echo 4 || echo 1)" ] || { echo "apply.sh adds $lines lines to $file" && exit 1; }
    ! diff "$sources/$file" "$dir/ffmpeg/$file" | grep '^<' || { echo "apply.sh takes lines from $file" && exit 1; }
done
sh -n "$dir/ffmpeg/configure"

# What configure would write, as far as the headers ask for it.
touch "$dir/configured/config.h" "$dir/configured/config_components.h"
printf '#define AV_HAVE_BIGENDIAN 0\n#define AV_HAVE_FAST_UNALIGNED 1\n' >"$dir/configured/libavutil/avconfig.h"
"$cc" -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -Wshadow -Wdeclaration-after-statement -isystem "$dir/configured" -isystem "$sources/libavcodec" -isystem "$sources" \
    -I "$root/include" -c "$dir/ffmpeg/libavcodec/libmotus.c" -o "$dir/libmotus.o"
nm -g --defined-only "$dir/libmotus.o" | grep -q ' ff_libmotus_encoder$' || { echo "there is no encoder ff_libmotus_encoder" && exit 1; }
missing=$(nm -u "$dir/libmotus.o" | awk '$2 ~ /^motus_/ { print $2 }' | grep -vxFf <(cat "$root"/tests/install/symbols/*.txt) || true)
[ -z "$missing" ] || { echo "motus exports no $missing" && exit 1; }
