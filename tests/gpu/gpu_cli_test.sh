#!/usr/bin/env bash
# motus encode and motus filter, $1 being the program: --backend cuda and auto write the files that --backend cpu
# writes. Skipped (77) without a GPU; failed under MOTUS_REQUIRE_GPU=1.
# SPDX-License-Identifier: BSD-2-Clause
set -u
export LC_ALL=C
motus=$(realpath "$1")
if ! "$motus" info | grep -q '^backend cuda *usable'; then
    echo "no usable CUDA device"
    [ "${MOTUS_REQUIRE_GPU:-0}" = 1 ] && exit 1
    exit 77
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
failures=0 checks=0

# same COMMAND INPUT ENDING ARGUMENT...: the outputs, and what else is written (NAME@ in an argument stands for a file of the backend's own), are equal.
same() {
    local command=$1 input=$2 ending=$3 backend
    shift 3
    checks=$((checks + 1))
    rm -rf cpu cuda auto
    for backend in cpu cuda auto; do
        mkdir "$backend"
        "$motus" "$command" "$input" -o "$backend/out.$ending" --backend "$backend" --quiet "${@//@//$backend/}" >log 2>&1 && [ ! -s log ] && continue
        failures=$((failures + 1))
        echo "FAILED: $command $input $* --backend $backend: $(cat log)"
        return
    done
    if ! diff -rq cpu cuda || ! diff -rq cpu auto; then
        failures=$((failures + 1))
        echo "FAILED: $command $input $*: backends differ"
    fi
}

make() { "$motus" synth "$@" >log 2>&1 || { cat log && exit 2; }; }
make fg.y4m --size 352x288 --frames 13
make odd.y4m --size 97x81 --frames 9
make one.y4m --size 64x48 --frames 1
make bg.y4m --size 352x288 --frames 5 --seed 9
make hd.y4m --size 1918x1078 --frames 6
head -c 700000 fg.y4m >cut.y4m

for input in fg.y4m odd.y4m one.y4m hd.y4m; do
    for filters in '--equalize' '--equalize=rgb' '--equalize=rgb,clahe --denoise 3' '--denoise 4' \
        '--equalize=clahe,clip=3,tiles=4x4 --denoise 6,levels=2' \
        '--key #808080,hue=60,soft=0.3,spill=1 --background bg.y4m --scale --loop --denoise 3 --equalize'; do
        read -ra list <<<"$filters"
        same filter $input y4m "${list[@]}"
        [ "$input" = hd.y4m ] && [ "$filters" = --equalize ] && same encode $input 264 "${list[@]}" --recon ./@recon.y4m
        [ "$input" = hd.y4m ] || same encode $input 264 "${list[@]}" --keyint 4 --recon ./@recon.y4m --mvs ./@mvs.csv
    done
    same encode $input 264 --frames 3
done
same filter fg.y4m y4m --equalize --frames 3
same encode fg.y4m 264 --equalize --frames 3 --seek 4
# An input that ends inside a frame: the whole frames are there, and the warning.
for output in filter.y4m encode.264; do
    for backend in cpu cuda; do
        "$motus" ${output%.*} cut.y4m -o $backend-$output --backend $backend --denoise 3 --quiet 2>$backend.log || failures=$((failures + 1))
    done
    if ! cmp cpu-$output cuda-$output || ! cmp cpu.log cuda.log || [ ! -s cpu.log ]; then failures=$((failures + 1)); fi
done
# Lanes on all devices.
"$motus" encode fg.y4m -o cpu.264 --backend cpu --keyint 3 --quiet
for devices in all 0; do
    if ! "$motus" encode fg.y4m -o all.264 --devices $devices --keyint 3 --quiet || ! cmp cpu.264 all.264; then failures=$((failures + 1)); fi
done
if "$motus" encode fg.y4m -o all.264 --devices 0,200 2>log || ! grep -q 'no CUDA device 200' log; then failures=$((failures + 1)); fi
if ! "$motus" bench encode --size 176x144 --frames 5 --devices all --gop-coders 2 --pictures 80 --preset faster >log || ! grep -q same log; then
    failures=$((failures + 1))
fi
echo "$((checks + 6)) checks, $failures failed"
[ $failures -eq 0 ]
