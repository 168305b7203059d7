#!/usr/bin/env bash
# Installs what motus needs to be built and tested on Debian 12, 13 or Ubuntu 24.04, by apt. Returns
# at once if nothing is missing.
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail

build=(build-essential cmake ninja-build pkgconf libavformat-dev libavcodec-dev libavutil-dev
    libswscale-dev libcjson-dev zlib1g-dev)
tests=(libavfilter-dev libcunit1-dev libopenh264-dev ffmpeg python3 python3-numpy python3-pytest
    python3-setuptools python3-wheel python3-pip x264 libopenmpi-dev openmpi-bin libx265-dev
    valgrind libffmpeg-nvenc-dev libmfx-dev)
browser=(chromium)
python=(python3-av python3-aiortc)
gstreamer=(libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev gstreamer1.0-tools
    gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-nice
    python3-gi gir1.2-gst-plugins-base-1.0 gir1.2-gst-plugins-bad-1.0)
bench=(x264 ffmpeg time libopencv-dev nasm)
lint=(clang-format-14 clang-tidy cppcheck shellcheck)

usage() {
    cat <<TXT
usage: tools/deps.sh [--build] [--test] [--browser] [--python] [--gstreamer] [--bench] [--lint]
                     [--list]
       tools/deps.sh --ffmpeg-source | --x264-source
  --build      compiler, CMake, Ninja, FFmpeg's libraries, cJSON (always included)
  --test       also for the tests (default): CUnit, ffmpeg, x264, Open MPI, libx265, Python with
               NumPy and pytest; and libavfilter, which deinterlaces
  --browser    also Chromium, in which the tests open reports (440 MB on the disk)
  --python     also PyAV and aiortc, for sound and WebRTC in Python's tests
  --gstreamer  also GStreamer, for the plug-in and its tests
  --bench      also for comparisons: x264, ffmpeg, time, OpenCV, NASM
  --lint       also the tools of tools/lint.sh
  --list       print the packages instead of installing them
  --ffmpeg-source
               put the parts of the distribution's FFmpeg source package (10 MB) that
               tests/interop/ffmpeg_wrapper.sh needs into build/ffmpeg-source
  --x264-source
               put the distribution's x264 source package (1 MB), which interop/x264/build.sh
               builds, into build/x264-source
MOTUS_NO_INSTALL=1 in the environment makes this script do nothing.
TXT
}

# source_package NAME [FILE...]: gets a source package, or some of its files, into
# build/NAME-source, from the sources of the system's own packages, without changing apt's
# configuration.
source_package() {
    local name=$1 to=$PWD/build/$1-source dir option=() file
    shift
    [ ! -e "$to" ] || return 0
    dir=$(mktemp -d)
    mkdir -p "$dir"/{parts,lists/partial,cache/archives/partial}
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
        [ -f "$file" ] || continue
        case $file in
        *.list) sed -n 's/^deb /deb-src /p' "$file" >"$dir/parts/${file##*/}" ;;
        *.sources) sed 's/^Types:.*/Types: deb-src/' "$file" >"$dir/parts/${file##*/}" ;;
        esac
    done
    option=(-qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$dir/parts"
        -o Dir::State::lists="$dir/lists" -o Dir::Cache="$dir/cache" -o APT::Sandbox::User=root
        -o Acquire::Languages=none)
    { apt-get "${option[@]}" update || true; } >"$dir/log" 2>&1 # one missing list does not matter
    if (cd "$dir" && apt-get "${option[@]}" source --download-only "$name") >>"$dir/log" 2>&1; then
        mkdir -p "$dir/tree" build
        tar -xf "$dir/$name"_*.orig.tar.?z -C "$dir/tree" --strip-components=1 --wildcards "$@"
        mv "$dir/tree" "$to"
    fi
    rm -rf "$dir"
    [ -e "$to" ]
}

wanted=("${build[@]}") list=0 source=
[ $# -gt 0 ] || set -- --test
for option in "$@"; do
    case $option in
    --build) ;;
    --test) wanted+=("${tests[@]}") ;;
    --browser) wanted+=("${browser[@]}") ;;
    --gstreamer) wanted+=("${gstreamer[@]}") ;;
    --python) wanted+=("${python[@]}") ;;
    --bench) wanted+=("${bench[@]}") ;;
    --lint) wanted+=("${lint[@]}") ;;
    --list) list=1 ;;
    --ffmpeg-source | --x264-source) source=${option#--} ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
    esac
done
if [ $list = 1 ]; then
    printf '%s\n' "${wanted[@]}" | sort -u
    exit 0
fi
[ "${MOTUS_NO_INSTALL:-0}" != 1 ] || exit 0

die() {
    echo "deps.sh: $*" >&2
    exit 1
}

if [ -n "$source" ]; then
    cd "$(dirname "$0")/.."
    case $source in
    ffmpeg-source)
        source_package ffmpeg '*/libavcodec/*.h' '*/libavutil/*.h' '*/configure' \
            '*/libavcodec/Makefile' '*/libavcodec/allcodecs.c'
        ;;
    x264-source) source_package x264 ;;
    esac
    exit
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    die "this is not Debian or Ubuntu; install the like of these and set MOTUS_NO_INSTALL=1:" \
        "${wanted[@]}"
fi

missing=()
for package in $(printf '%s\n' "${wanted[@]}" | sort -u); do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || true
    [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
        die "neither root nor sudo; ask your administrator to install:" "${missing[@]}"
    as_root=(sudo)
    if [ ! -t 0 ]; then
        as_root=(sudo -n) # without a terminal for a password
        sudo -n true 2>/dev/null ||
            die "sudo wants a password without a terminal; install these first:" "${missing[@]}"
    fi
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 \
        -o DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1 </dev/null
}
echo "deps.sh: installing ${missing[*]}"
apt update || true # a stale list may do; else the next line fails
apt install -y --no-install-recommends --no-remove "${missing[@]}" || {
    tail -n 20 "$log" >&2
    die "apt-get could not install:" "${missing[@]}"
}
