#!/usr/bin/env bash
# motus filter, dct and wavelet from outside.
#   filters_cli_test.sh MOTUS PNG       PNG: 1 where the build writes PNG files, else 0
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2016  # "$0" is for the inner shell
set -u
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
motus=$(realpath "$1") png=$2
work_folder

as_long() { [ "$(stat -c %s "$1")" -eq "$(stat -c %s "$2")" ]; }

same() { cmp "$1" "$2"; }
differ() { ! cmp -s "$1" "$2"; }

"$motus" synth fg.y4m --size 96x80 --frames 6 >/dev/null 2>&1 || exit 2
"$motus" synth bg.y4m --size 96x80 --frames 3 --seed 9 >/dev/null 2>&1 || exit 2
"$motus" synth big.y4m --size 128x96 --frames 2 --seed 7 >/dev/null 2>&1 || exit 2
f() { "$motus" filter "$@" --backend cpu --quiet; }

ok 'no filter copies' f fg.y4m -o copy.y4m
ok 'copy' same fg.y4m copy.y4m
ok 'equalize' f fg.y4m -o eq.y4m --equalize
ok 'equalize: every frame' as_long eq.y4m fg.y4m
ok 'equalize: changed' differ fg.y4m eq.y4m
ok 'equalize rgb' f fg.y4m -o rgb.y4m --equalize=rgb
ok 'equalize rgb: every frame' as_long rgb.y4m fg.y4m
ok 'equalize rgb: not luma alone' differ eq.y4m rgb.y4m
ok 'equalize rgb, clahe' f fg.y4m -o rgbclahe.y4m --equalize=rgb,clahe,smooth=0
ok 'equalize rgb: by tiles' differ rgb.y4m rgbclahe.y4m
ok 'equalize rgb: one thread' f fg.y4m -o rgb1.y4m --equalize=rgb --threads 1
ok 'equalize rgb: one thread gives the same' same rgb.y4m rgb1.y4m
ok 'clahe and denoise' f fg.y4m -o chain.y4m --equalize=clahe,clip=3,tiles=4x4,smooth=0 \
    --denoise 5,levels=2
ok 'other order' f fg.y4m -o other.y4m --denoise 5,levels=2 \
    --equalize=clahe,clip=3,tiles=4x4,smooth=0
ok 'the order matters' differ chain.y4m other.y4m
ok 'one thread' f fg.y4m -o chain1.y4m --equalize=clahe,clip=3,tiles=4x4,smooth=0 \
    --denoise 5,levels=2 --threads 1
ok 'one thread gives the same' same chain.y4m chain1.y4m
ok 'key, background ends early' f fg.y4m -o hold.y4m --key '#808080,hue=360,sat=2,value=2' \
    --background bg.y4m
ok 'key: every frame' as_long hold.y4m fg.y4m
ok 'key, loop' f fg.y4m -o loop.y4m --key '#808080,hue=360,sat=2,value=2' --background bg.y4m --loop
ok 'held and looped differ' differ hold.y4m loop.y4m
cat bg.y4m >twice.y4m
tail -c +$((1 + $(head -1 bg.y4m | wc -c))) bg.y4m >>twice.y4m
ok 'a key that takes everything shows the background, looped' bash -c \
    'cmp <(tail -n +2 loop.y4m) <(tail -n +2 twice.y4m)'
ok 'scaled background' f fg.y4m -o scaled.y4m --key green --background big.y4m --scale
ok 'filters before encoding' "$motus" encode fg.y4m -o enc.264 --key green --background big.y4m \
    --scale --denoise 3 --equalize --backend cpu --quiet
ok 'through pipes' bash -c \
    '"$0" filter - -o - --denoise 4 --quiet --backend cpu <fg.y4m >pipe.y4m' "$motus"

refusals_and_signals() {
    refused 1 'is 128x96, the foreground 96x80' filter fg.y4m -o out.y4m --key green \
        --background big.y4m --backend cpu
    refused 2 '--key: needs --background FILE' filter fg.y4m -o out.y4m --key green
    for bad in '--background bg.y4m' --loop --scale; do
        # shellcheck disable=SC2086
        refused 2 '--background, --loop and --scale: go with --key' \
            filter fg.y4m -o out.y4m --denoise 3 $bad
    done
    refused 2 '--key: needs --background FILE' encode fg.y4m -o out.264 --key green
    refused 1 'No such file' filter fg.y4m -o out.y4m --key green \
        --background none.y4m --backend cpu
    refused 1 'No such file' filter none.y4m -o out.y4m --equalize
    refused 1 'levels are too many' filter fg.y4m -o out.y4m --denoise 5,levels=9 --backend cpu
    refused 2 'must be 1..100' dct fg.y4m -o out.d --quality 0
    refused 2 'must be 1..100' dct fg.y4m -o out.d --quality 101
    refused 1 'has no frame 99' dct fg.y4m -o out.d --frame 99
    refused 1 'levels are too many' wavelet fg.y4m -o out.d --levels 9
    for bad in --key=mauve --key=green,hue=0 --key=green,soft=x --equalize=tiles=0x4 \
        --equalize=dark --equalize=rgb=1 --denoise=-1 --denoise=5,levels=0; do
        refused 2 "${bad%%=*}" filter fg.y4m -o out.y4m "$bad" --background bg.y4m
    done
    head -c 9000 fg.y4m >tiny.y4m
    refused 1 'tiny.y4m' filter tiny.y4m -o out.y4m --equalize
    # A signal while the next frame is awaited: earlier frames are written; without any nothing is.
    mkfifo fifo && head -1 fg.y4m >header
    for frames in fg.y4m header; do
        rm -f out.y4m
        env --default-signal=INT "$motus" filter - -o out.y4m --equalize --backend cpu --quiet \
            <fifo 2>err &
        pid=$!
        exec 3>fifo
        cat $frames >&3
        sleep 1
        kill -INT $pid
        wait $pid
        ok "interrupted, $frames: exit status" [ $? = 130 ]
        exec 3>&-
        if [ $frames = fg.y4m ]; then
            ok 'interrupted: the frames so far' same out.y4m eq.y4m
        else
            ok 'interrupted: said so' grep -q 'interrupted before the first picture' err
            ok 'interrupted: no output' [ ! -e out.y4m ]
        fi
    done
}

alike refusals_and_signals
if [ "$png" = 1 ]; then
    ok 'dct' "$motus" dct fg.y4m -o pictures --quality 30
    ok 'wavelet' "$motus" wavelet fg.y4m -o pictures --levels 2 --symmetric
    ok 'plot' f fg.y4m -o eq.y4m --equalize --plot pictures/plot.png
    for p in dct wavelet plot; do
        ok "$p.png is one" bash -c 'head -c 4 "$0" | grep -q PNG' "pictures/$p.png"
    done
    ok 'a still as background' f fg.y4m -o still.y4m --key green --background pictures/dct.png \
        --scale
    wrapper=(bash -c 'ulimit -f 4 && exec "$@"' limited)
    refused 1 'File too large' dct fg.y4m -o made
    refused 1 'File too large' wavelet fg.y4m -o made
    wrapper=()
else
    refused 1 'no PNG encoder' dct fg.y4m -o made
fi
ok 'a failure leaves no folder' [ ! -e made ]
checks_done
