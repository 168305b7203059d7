#!/bin/sh
# Adds the encoder libmotus to a tree of FFmpeg's sources: copies libmotus.c into libavcodec/ and
# lists it beside libopenh264.
#   apply.sh FFMPEG_SOURCES
# Then, with the folder of motus.pc in PKG_CONFIG_PATH: ./configure --enable-libmotus ...
# SPDX-License-Identifier: BSD-2-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:?usage: apply.sh FFMPEG_SOURCES}"

# after FILE PATTERN TEXT: inserts TEXT after the first line that matches PATTERN, once.
after() {
    ! grep -qF -- "$3" "$1" || return 0
    grep -q -- "$2" "$1" || {
        echo "$1: no line '$2': apply.sh was written for another version of FFmpeg" >&2
        exit 1
    }
    text=$(printf '%s' "$3" | sed 's/[&/\\]/\\&/g')
    sed -i "0,/$2/s//&\\n$text/" "$1"
}

cp "$here/libmotus.c" libavcodec/
after configure '^  --enable-libopenh264 .*$' \
    '  --enable-libmotus        enable H.264 encoding via motus [no]'
after configure '^    libopenh264$' '    libmotus'
after configure '^libopenh264_encoder_deps=.*$' 'libmotus_encoder_deps="libmotus"'
check='require_pkg_config libmotus "motus >= 0.2" motus/motus.h motus_version'
after configure '^enabled libopenh264 .*$' "enabled libmotus          && $check"
# shellcheck disable=SC2016 # a variable of the Makefile
after libavcodec/Makefile '^OBJS-$(CONFIG_LIBOPENH264_ENCODER).*$' \
    'OBJS-$(CONFIG_LIBMOTUS_ENCODER)           += libmotus.o'
after libavcodec/allcodecs.c '^extern const FFCodec ff_libopenh264_encoder;$' \
    'extern const FFCodec ff_libmotus_encoder;'
