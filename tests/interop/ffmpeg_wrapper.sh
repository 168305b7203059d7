#!/usr/bin/env bash
# Compiles interop/ffmpeg/libmotus.c with compiler $2 against FFmpeg's sources in folder $1, to
# which apply.sh adds it. FFmpeg's headers count as a system's. Skipped (77) without the sources,
# which tools/deps.sh --ffmpeg-source fetches.
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
sources=$1 cc=$2 root=$(cd "$(dirname "$0")/../.." && pwd)
[ -d "$sources" ] || {
    echo "SKIP: $sources is missing; tools/deps.sh --ffmpeg-source fetches it" && exit 77
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/ffmpeg/libavcodec" "$dir/configured/libavutil"
cp "$sources/configure" "$dir/ffmpeg/"
cp "$sources"/libavcodec/{Makefile,allcodecs.c} "$dir/ffmpeg/libavcodec/"

"$root/interop/ffmpeg/apply.sh" "$dir/ffmpeg"
"$root/interop/ffmpeg/apply.sh" "$dir/ffmpeg" # a second time changes nothing
for file in configure libavcodec/Makefile libavcodec/allcodecs.c; do
    lines=$(diff "$sources/$file" "$dir/ffmpeg/$file" | grep -c '^>') || true
    [ "$lines" = "$([ $file = configure ] && echo 4 || echo 1)" ] || {
        echo "apply.sh adds $lines lines to $file" && exit 1
    }
    ! diff "$sources/$file" "$dir/ffmpeg/$file" | grep '^<' || {
        echo "apply.sh takes lines from $file" && exit 1
    }
done
sh -n "$dir/ffmpeg/configure"

# The part of configure's output that the headers need.
touch "$dir/configured/config.h" "$dir/configured/config_components.h"
printf '#define AV_HAVE_BIGENDIAN 0\n#define AV_HAVE_FAST_UNALIGNED 1\n' \
    >"$dir/configured/libavutil/avconfig.h"
"$cc" -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -Wshadow \
    -Wdeclaration-after-statement -isystem "$dir/configured" -isystem "$sources/libavcodec" \
    -isystem "$sources" -I "$root/include" -c "$dir/ffmpeg/libavcodec/libmotus.c" \
    -o "$dir/libmotus.o"
nm -g --defined-only "$dir/libmotus.o" | grep -q ' ff_libmotus_encoder$' || {
    echo "there is no encoder ff_libmotus_encoder" && exit 1
}
missing=$(nm -u "$dir/libmotus.o" | awk '$2 ~ /^motus_/ { print $2 }' |
    grep -vxFf <(cat "$root"/tests/install/symbols/*.txt) || true)
[ -z "$missing" ] || { echo "motus exports no $missing" && exit 1; }
