#!/bin/sh
# Adds the encoder libmotus to a tree of FFmpeg's sources: copies libmotus.c into libavcodec/ and names it where libopenh264's encoder is named.
#   apply.sh FFMPEG_SOURCES
# Then, with PKG_CONFIG_PATH where motus.pc lies: ./configure --enable-libmotus ...
# SPDX-License-Identifier: BSD-2-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:?usage: apply.sh FFMPEG_SOURCES}"

# after FILE PATTERN TEXT: puts TEXT behind the first line that fits PATTERN, once.
after() {
    ! grep -qF -- "$3" "$1" || return 0
    grep -q -- "$2" "$1" || { echo "$1: no line '$2': another version of FFmpeg than this was written for" >&2 && exit 1; }
    text=$(printf '%s' "$3" | sed 's/[&/\\]/\\&/g')
    sed -i "0,/$2/s//&\\n$text/" "$1"
}

cp "$here/libmotus.c" libavcodec/
after configure '^  --enable-libopenh264 .*$' '  --enable-libmotus        enable H.264 encoding via motus [no]'
after configure '^    libopenh264$' '    libmotus'
after configure '^libopenh264_encoder_deps=.*$' 'libmotus_encoder_deps="libmotus"'
after configure '^enabled libopenh264 .*$' 'enabled libmotus          && require_pkg_config libmotus "motus >= 0.1" motus/motus.h motus_version'
# shellcheck disable=SC2016 # a variable of the Makefile
after libavcodec/Makefile '^OBJS-$(CONFIG_LIBOPENH264_ENCODER).*$' 'OBJS-$(CONFIG_LIBMOTUS_ENCODER)           += libmotus.o'
after libavcodec/allcodecs.c '^extern const FFCodec ff_libopenh264_encoder;$' 'extern const FFCodec ff_libmotus_encoder;'
