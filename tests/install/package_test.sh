#!/usr/bin/env bash
# Checks the Debian packages of the build tree $1: dpkg knows their dependencies, they install into
# an empty root and leave it empty, the program in them runs, and compiler $2 builds a program of
# examples/ with them. Skipped (77) without Debian or dpkg-shlibdeps. Installing needs root; without
# it the packages are unpacked.
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
build=$1 cc=$2 examples=$(cd "$(dirname "$0")/../../examples" && pwd)
# Idle threads must not spin: other tests run beside this one.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}
needs cpack dpkg dpkg-deb dpkg-shlibdeps pkg-config
work_folder

cpack --config "$build/CPackConfig.cmake" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip \
    -B "$work/packages" >cpack.log 2>&1 || {
    cat cpack.log && exit 1
}
debs=("$work"/packages/*.deb)

field() { dpkg-deb --field "$(ls "$work"/packages/"$1"_*.deb)" "$2"; }
soname=$(cd "$build" && objdump -p libmotus.so |
    awk '$1 == "SONAME" { sub(/libmotus\.so\./, "", $2); print $2 }')
field "libmotus$soname" Depends | grep -q 'libc6 (>= ' || die "libmotus$soname depends on no libc6"
field libmotus-dev Depends | grep -q "libmotus$soname (= " ||
    die "libmotus-dev does not depend on its own libmotus$soname"
packages=(libmotus-dev "libmotus$soname") # the other packages need neither
for name in motus motus-mpi gstreamer1.0-motus; do
    [ -z "$(find packages -name "${name}_*.deb")" ] || packages+=("$name")
done
[ ${#debs[@]} = ${#packages[@]} ] || die "packages: ${debs[*]}"
if [[ " ${packages[*]} " == *" motus "* ]]; then
    field motus Depends | grep -q 'libgomp1' || die "the package motus does not depend on libgomp1"
fi

mkdir -p tree/var/lib/dpkg/updates tree/var/lib/dpkg/info tree/bin
touch tree/var/lib/dpkg/status tree/var/lib/dpkg/available
# in_root OPTION...: dpkg on that root. Its dependencies are this machine's; scripts run outside it,
# with a stand-in for ldconfig.
printf '#!/bin/sh\necho called >>"%s"\n' "$work/ldconfig" >tree/bin/ldconfig
chmod +x tree/bin/ldconfig
in_root() {
    PATH="$work/tree/bin:$PATH" dpkg --root="$work/tree" --log=/dev/null --force-depends \
        --force-script-chrootless "$@" >dpkg.log 2>&1 || {
        cat dpkg.log && exit 1
    }
}
if [ "$(id -u)" = 0 ]; then
    in_root --install "${debs[@]}"
    [ -s ldconfig ] || die "installing the library does not run ldconfig"
else
    for deb in "${debs[@]}"; do dpkg-deb -x "$deb" tree; done
fi

usr=$work/tree/usr
if [ -x "$usr/bin/motus" ]; then
    "$usr/bin/motus" synth - --size 64x48 --frames 3 | "$usr/bin/motus" encode - -o out.264 --quiet
    [ -s out.264 ] || die "the installed program wrote nothing"
    [ -f "$usr/share/man/man1/motus-encode.1.gz" ] || die "no man page of motus encode"
fi
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$usr" -name motus.pc)")
lib=$(realpath "$(pkg-config --variable=libdir motus)")
read -ra flags <<<"$(pkg-config --cflags --libs motus)"
"$cc" -std=c11 "$examples/search.c" "${flags[@]}" -o search
LD_LIBRARY_PATH=$lib ./search >/dev/null

if [ "$(id -u)" = 0 ]; then
    in_root --purge "${packages[@]}"
    left=$(find "$usr" ! -type d 2>/dev/null || true)
    [ -z "$left" ] || die "left behind: $left"
fi
