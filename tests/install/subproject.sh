#!/usr/bin/env bash
# Builds motus as a part of another project, and alone: it brings its library only (no program,
# plug-in or tests; no files to install in another project), and its flags stay its own.
#   subproject.sh CC
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
work_folder

quietly() {
    "$@" >log 2>&1 || { cat log && die "$*"; }
}

# Without optimization, to be quick; nothing is to be found out about speed here.
configure() {
    quietly cmake -G Ninja -S "$root/tests/install/subproject" -DMOTUS_SOURCE="$root" \
        -DMOTUS_CUDA=OFF -DCMAKE_C_COMPILER="$cc" "$@"
}
cc=$1
configure -B fetched -DFETCH=ON -DBUILD_SHARED_LIBS=ON
configure -B build
quietly cmake --build build
version=$(sed -n 's/^#define MOTUS_VERSION_[A-Z]* //p' "$root/include/motus/version.h" |
    paste -sd .)
for program in with_motus with_shared with_static; do
    [ "$(build/$program)" = "$version" ] || die "$program does not say $version"
done
readelf -d build/with_shared | grep -q 'NEEDED.*libmotus' ||
    die "motus::shared is not the shared library"
! readelf -d build/with_motus | grep -q 'NEEDED.*libmotus' ||
    die "motus::motus is not the static library by default"
for target in motus motus_synth motus_io motus_harness; do
    ! cmake --build build --target help | grep -qE "(^|/)$target:" ||
        die "there is a target $target"
done
ctest --test-dir build -N | grep -q 'Total Tests: 0' || die "motus brings tests"
quietly cmake --install build --prefix prefix
[ "$(find prefix -type f)" = prefix/bin/with_static ] || die "installed: $(find prefix -type f)"

quietly cmake -G Ninja -S "$root" -B alone -DMOTUS_TOOLS=OFF -DMOTUS_TESTS=OFF \
    -DMOTUS_CUDA=OFF -DCMAKE_C_COMPILER="$cc"
linked=$(sed -n 's/^build .*_LINKER__\([a-z0-9_]*\)_Release .*/\1/p' alone/build.ninja | sort)
linked=${linked//$'\n'/ }
[ "$linked" = "motus_shared motus_static" ] || die "the library alone builds $linked"
