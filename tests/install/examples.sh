#!/usr/bin/env bash
# Installs the build tree BUILD, moves the files elsewhere, builds the programs of examples/ against
# them and runs them.
#   examples.sh BUILD CC CXX         C11 and C++17, shared and static library, through pkg-config
#                                    and find_package; ffmpeg decodes the streams
#   examples.sh BUILD NVCC none gpu  the CUDA program, built everywhere, run where a device is
# Skipped (77) without pkg-config; and, after the rest, without ffmpeg or a device (a failure under
# MOTUS_REQUIRE_GPU=1).
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
build=$(realpath "$1") cc=$2 cxx=$3 kind=${4:-c} root=$(cd "$(dirname "$0")/../.." && pwd)
needs pkg-config
work_folder

cmake --install "$build" --prefix "$work/first" >"$work/install.log" || {
    cat "$work/install.log" && exit 1
}
mv "$work/first" "$work/prefix"
! grep -rlI "$work/first" "$work/prefix" || die "these name the folder that they were installed to"
# Idle threads must not spin: other tests run beside this one.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name motus.pc)")
export PKG_CONFIG_PATH
lib=$(realpath "$(pkg-config --variable=libdir motus)")
[ "$lib" = "$(realpath "$PKG_CONFIG_PATH/..")" ] ||
    die "motus.pc names $lib, the library is not there"
read -ra shared <<<"$(pkg-config --cflags --libs motus)"
read -ra static <<<"$(pkg-config --static --cflags --libs motus | sed 's/-lmotus/-l:libmotus.a/')"
warnings=(-Wall -Wextra -Werror)

# decodes FILE N: ffmpeg finds N pictures in it. Without ffmpeg the test is skipped here, so this
# comes last.
decodes() {
    needs ffmpeg
    local pictures
    pictures=$(ffmpeg -nostdin -v error -f h264 -i "$1" -f framecrc - | grep -c '^0,') || true
    [ "$pictures" = "$2" ] || die "ffmpeg decodes $pictures pictures of $2 of $1"
}

by_pkg_config() { # NAME
    local source=$root/examples/$1.c soname=libmotus
    "$cc" -std=c11 "${warnings[@]}" "$source" "${shared[@]}" -Wl,-rpath,"$lib" -o "$1-pc-c-shared"
    "$cc" -std=c11 "${warnings[@]}" "$source" "${static[@]}" -o "$1-pc-c-static"
    "$cxx" -std=c++17 "${warnings[@]}" -x c++ "$source" -x none "${shared[@]}" -Wl,-rpath,"$lib" \
        -o "$1-pc-cxx-shared"
    "$cxx" -std=c++17 "${warnings[@]}" -x c++ "$source" -x none "${static[@]}" -o "$1-pc-cxx-static"
    readelf -d "$1-pc-c-shared" | grep -q "NEEDED.*$soname\.so\.[0-9]" ||
        die "$1 does not ask for the library by its soname"
    ! readelf -d "$1-pc-c-static" | grep -q "NEEDED.*$soname" ||
        die "$1 needs the shared library, although it was linked with the static one"
}

by_find_package() { # makes NAME-cmake-(c|cxx)-(shared|static) of all
    local project=(cmake -G Ninja -S "$root/tests/install/installed"
        -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx")
    local wrong
    { "${project[@]}" -B cmake && cmake --build cmake; } >cmake.log 2>&1 || {
        cat cmake.log && exit 1
    }
    cp cmake/*-cmake-* .
    for wrong in 'VERSION=9.0' 'COMPONENTS=wrong'; do
        ! "${project[@]}" -B wrong -DASK_"$wrong" >wrong.log 2>&1 ||
            die "find_package accepts $wrong"
        grep -qE 'has no component wrong|requested version .9\.0' wrong.log || {
            cat wrong.log && die "find_package refuses $wrong without a reason"
        }
        rm -r wrong
    done
}

# Two pictures of the width and height that arrows.c takes for granted: noise, and the same moved to
# the left by three samples.
moving_noise() {
    local size=$((352 * 288 * 3 / 2))
    head -c 3000000 "$lib/libmotus.a" | gzip -9nc >noise
    head -c $size noise
    head -c $((size + 3)) noise | tail -c $size
}

run_all() { # NAME: each of its programs; what they write is the same
    local how file
    for how in {pc,cmake}-{c,cxx}-{shared,static}; do
        file=$1-$how
        case $1 in
        encode*) "./$file" "$file.264" >"$file.txt" && sed -i '/^wrote /d' "$file.txt" ;;
        arrows)
            "./$file" <noise.yuv >"$file.txt"
            [ "$(grep -o '←' "$file.txt" | wc -l)" -ge 350 ] # of 396
            ;;
        vectors)
            "./$file" noise.y4m "$file.ppm" >"$file.txt"
            grep -qF '(+3.00, +0.00)' "$file.txt" && cmp "$file.ppm" vectors-pc-c-shared.ppm
            ;;
        *) "./$file" >"$file.txt" ;;
        esac
        cmp "$file.txt" "$1-pc-c-shared.txt"
        [[ $1 != encode* ]] || cmp "$file.264" "$1-pc-c-shared.264"
    done
    cat "$1-pc-c-shared.txt"
}

in_c() {
    local source names=()
    for source in "$root"/examples/*.c; do names+=("$(basename "$source" .c)"); done
    for name in "${names[@]}"; do by_pkg_config "$name"; done
    by_find_package
    moving_noise >noise.yuv
    {
        echo 'YUV4MPEG2 W352 H288 F25:1 C420'
        echo FRAME && head -c $((352 * 432)) noise.yuv
        echo FRAME && tail -c $((352 * 432)) noise.yuv
    } >noise.y4m
    for name in "${names[@]}"; do run_all "$name"; done
    if [ -x prefix/bin/motus ]; then prefix/bin/motus info >/dev/null; fi
    decodes encode-pc-c-shared.264 30
    decodes encode_rgb-pc-c-shared.264 30
}

in_cuda() {
    local arch=native
    prefix/bin/motus info | grep -q '^backend cuda *usable' || arch=sm_90
    "$cc" -std=c++17 -arch=$arch -Xcompiler=-Wall,-Wextra,-Werror "$root/examples/encode_gpu.cu" \
        "${shared[@]}" -Xlinker -rpath="$lib" -o encode_gpu
    if [ $arch != native ]; then
        echo "SKIP: built; no usable CUDA device to run it on"
        [ "${MOTUS_REQUIRE_GPU:-0}" != 1 ] || exit 1
        exit 77
    fi
    ./encode_gpu gpu.264
    decodes gpu.264 60
}

if [ "$kind" = gpu ]; then in_cuda; else in_c; fi
