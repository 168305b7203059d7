#!/usr/bin/env bash
# Compiles interop/ffmpeg/libmotus.c with compiler $2 against FFmpeg's sources in folder $1, to
# which apply.sh adds it. FFmpeg's headers count as a system's. Skipped (77) without the sources,
# which tools/deps.sh --ffmpeg-source fetches.
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
sources=$1 cc=$2 root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
[ -d "$sources" ] || skip "$sources is missing; tools/deps.sh --ffmpeg-source fetches it"
sources=$(realpath "$sources")
work_folder
mkdir -p ffmpeg/libavcodec configured/libavutil
cp "$sources/configure" ffmpeg/
cp "$sources"/libavcodec/{Makefile,allcodecs.c} ffmpeg/libavcodec/

"$root/interop/ffmpeg/apply.sh" ffmpeg
"$root/interop/ffmpeg/apply.sh" ffmpeg # a second time changes nothing
for file in configure libavcodec/Makefile libavcodec/allcodecs.c; do
    lines=$(diff "$sources/$file" "ffmpeg/$file" | grep -c '^>') || true
    [ "$lines" = "$([ $file = configure ] && echo 4 || echo 1)" ] ||
        die "apply.sh adds $lines lines to $file"
    ! diff "$sources/$file" "ffmpeg/$file" | grep '^<' || die "apply.sh takes lines from $file"
done
sh -n ffmpeg/configure

# The part of configure's output that the headers need.
touch configured/config.h configured/config_components.h
printf '#define AV_HAVE_BIGENDIAN 0\n#define AV_HAVE_FAST_UNALIGNED 1\n' \
    >configured/libavutil/avconfig.h
"$cc" -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -Wshadow \
    -Wdeclaration-after-statement -isystem configured -isystem "$sources/libavcodec" \
    -isystem "$sources" -I "$root/include" -c ffmpeg/libavcodec/libmotus.c \
    -o libmotus.o
nm -g --defined-only libmotus.o | grep -q ' ff_libmotus_encoder$' ||
    die "there is no encoder ff_libmotus_encoder"
missing=$(nm -u libmotus.o | awk '$2 ~ /^motus_/ { print $2 }' |
    grep -vxFf <(cat "$root"/tests/install/symbols/*.txt) || true)
[ -z "$missing" ] || die "motus exports no $missing"
