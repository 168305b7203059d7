#!/usr/bin/env bash
# Makes what is published of the commit that is checked out: source archive, Debian packages, Python
# wheel and source distribution, checksums. With CUDA, if nvcc is there, for all GPUs.
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<TXT
usage: tools/release.sh [--out DIR] [--url URL] [--python PYTHON]
  --out DIR        where the files go (default: build/release-VERSION); must not exist
  --url URL        the project's address, for the metadata of the wheel
  --python PYTHON  a Python with setuptools and wheel (default: /usr/bin/python3)
MOTUS_CMAKE_ARGS in the environment has further settings for CMake, such as -DMOTUS_CUDA=OFF.
A wheel runs where glibc is not older than here: its name says from which version on.
TXT
}

die() {
    echo "release.sh: $*" >&2
    exit 1
}

version=$(sed -n 's/^#define MOTUS_VERSION_[A-Z]* //p' include/motus/version.h | paste -sd .)
out=build/release-$version python=/usr/bin/python3
while [ $# -gt 0 ]; do
    case $1 in
    --out) out=$2 && shift 2 ;;
    --url) export MOTUS_URL=$2 && shift 2 ;;
    --python) python=$2 && shift 2 ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
    esac
done
[ ! -e "$out" ] || die "$out exists"
[ -z "$(git status --porcelain --untracked-files=no)" ] ||
    die "there are changes that are in no commit"
grep -q "^version = \"$version\"\$" python/pyproject.toml ||
    die "python/pyproject.toml is not $version"
"$python" -c 'import setuptools, wheel' || die "$python has no setuptools or no wheel"
mkdir -p "$out"
out=$(realpath "$out")
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$out/release.log

run() {
    "$@" >>"$log" 2>&1 || { tail -n 40 "$log" >&2 && die "failed: $*"; }
}

# Calls one of the hooks that pip calls, without a network and without pip.
setuptools() {
    (cd python && "$python" -c "import setuptools.build_meta as b; b.$1('$out')")
}

echo "1. source archive"
name=motus-$version
git archive --prefix="$name/" -o "$out/$name-source.tar.gz" HEAD
tar -xf "$out/$name-source.tar.gz" -C "$work"
cd "$work/$name"

echo "2. build"
read -ra settings <<<"${MOTUS_CMAKE_ARGS:-}"
run cmake --preset deb -DMOTUS_WHEEL=ON "${settings[@]}"
run cmake --build build/deb -j "$(nproc)"

echo "3. Debian packages"
run cpack --config build/deb/CPackConfig.cmake -B "$work/packages"
mv "$work"/packages/*.deb "$out"

echo "4. Python: source distribution and wheel"
run setuptools build_sdist
MOTUS_LIBRARY=$PWD/build/deb/wheel/libmotus.so run setuptools build_wheel
wheels=("$out"/*-py3-none-manylinux_2_*.whl)
[ -e "${wheels[0]}" ] ||
    die "the wheel needs libraries that it does not contain: $(ls "$out"/*.whl)"

echo "5. a try"
build/deb/tools/motus synth "$work/in.y4m" --size 64x48 --frames 3
build/deb/tools/motus encode "$work/in.y4m" -o "$work/out.264" --quiet
build/deb/tools/motus info | grep '^CUDA code' || echo "without CUDA"
if "$python" -c 'import numpy' 2>/dev/null; then
    run "$python" -m zipfile -e "${wheels[0]}" "$work/wheel"
    (cd / && PYTHONPATH=$work/wheel "$python" -c 'import motus, numpy
assert motus.encode(numpy.zeros((3, 32, 48, 3), numpy.uint8), backend="cpu")[4:8] == b"ftyp"')
fi

rm "$log"
cd "$out"
sha256sum -- * >SHA256SUMS
echo "$out:"
ls -sh
