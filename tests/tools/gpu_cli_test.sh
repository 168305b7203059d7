#!/usr/bin/env bash
# motus encode and motus filter ($1 is the program) write the same files with --backend cpu, cuda
# and auto. Without a GPU the test is skipped (77), or fails under MOTUS_REQUIRE_GPU=1.
# SPDX-License-Identifier: BSD-2-Clause
set -u
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
motus=$(realpath "$1")
if ! "$motus" info | grep -q '^backend cuda *usable'; then
    echo "no usable CUDA device"
    [ "${MOTUS_REQUIRE_GPU:-0}" = 1 ] && exit 1
    exit 77
fi
work_folder

# same COMMAND INPUT ENDING ARGUMENT...: compares the output files. @ in an argument stands for the
# backend's folder.
same() {
    local command=$1 input=$2 ending=$3 backend
    shift 3
    checks=$((checks + 1))
    rm -rf cpu cuda auto
    for backend in cpu cuda auto; do
        mkdir "$backend"
        "$motus" "$command" "$input" -o "$backend/out.$ending" --backend "$backend" --quiet \
            "${@//@//$backend/}" >log 2>&1 && [ ! -s log ] && continue
        fail "$command $input $* --backend $backend: $(cat log)"
        return
    done
    if ! diff -rq cpu cuda || ! diff -rq cpu auto; then fail "$command $input $*"; fi
}

make() { "$motus" synth "$@" >log 2>&1 || { cat log && exit 2; }; }
make fg.y4m --size 352x288 --frames 13
make odd.y4m --size 97x81 --frames 9
make one.y4m --size 64x48 --frames 1
make bg.y4m --size 352x288 --frames 5 --seed 9
make hd.y4m --size 1918x1078 --frames 6
head -c 700000 fg.y4m >cut.y4m

key='--key #808080,hue=60,soft=0.3,spill=1 --background bg.y4m --scale --loop'
filters=('--equalize' '--equalize=rgb' '--equalize=rgb,clahe --denoise 3' '--denoise 4'
    '--equalize=clahe,clip=3,tiles=4x4 --denoise 6,levels=2'
    "$key --denoise 3 --equalize")
for input in fg.y4m odd.y4m one.y4m hd.y4m; do
    for filter in "${filters[@]}"; do
        read -ra list <<<"$filter"
        same filter $input y4m "${list[@]}"
        if [ "$input" != hd.y4m ]; then
            same encode $input 264 "${list[@]}" --keyint 4 --recon ./@recon.y4m --mvs ./@mvs.csv
        elif [ "$filter" = --equalize ]; then
            same encode $input 264 "${list[@]}" --recon ./@recon.y4m
        fi
    done
    same encode $input 264 --frames 3
done
same filter fg.y4m y4m --equalize --frames 3
same encode fg.y4m 264 --equalize --frames 3 --seek 4
# An input that ends inside a frame gives the whole frames and a warning.
for output in filter.y4m encode.264; do
    for backend in cpu cuda; do
        "$motus" ${output%.*} cut.y4m -o $backend-$output --backend $backend --denoise 3 --quiet \
            2>$backend.log || fail "${output%.*} cut.y4m --backend $backend"
    done
    if ! cmp cpu-$output cuda-$output || ! cmp cpu.log cuda.log || [ ! -s cpu.log ]; then
        fail "cut.y4m $output"
    fi
done
# GOP coders on all devices.
"$motus" encode fg.y4m -o cpu.264 --backend cpu --keyint 3 --quiet
for devices in all 0; do
    "$motus" encode fg.y4m -o all.264 --devices $devices --keyint 3 --quiet || fail "$devices"
    cmp cpu.264 all.264 || fail "--devices $devices"
done
"$motus" encode fg.y4m -o all.264 --devices 0,200 2>log && fail '--devices 0,200'
grep -q 'no CUDA device 200' log || fail "--devices 0,200: $(cat log)"
"$motus" bench encode --size 176x144 --frames 5 --devices all --gop-coders 2 --pictures 80 \
    --preset faster >log || fail 'bench encode --devices all'
grep -q same log || fail 'bench encode --devices all: other streams'
checks=$((checks + 6))
checks_done
