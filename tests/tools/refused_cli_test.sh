#!/usr/bin/env bash
# Tests the program from outside: every bad input ends in one line and an exit status, and nothing
# half-written stays.
#   refused_cli_test.sh MOTUS JSON_CHECK [MEDIA_PROBE]
# SPDX-License-Identifier: BSD-2-Clause
set -u
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

# Files in a playlist are inputs, too.
refuse_rates() {
    local name bad
    bad_encode 2 'one of them decides' --qp 20 --crf 20
    bad_encode 2 'one of them decides' --bitrate 500 --crf 20
    bad_encode 2 '--qp: goes with no VBV' --qp 20 --vbv-maxrate 500 --vbv-bufsize 500
    bad_encode 2 'only together' --bitrate 500 --vbv-maxrate 500
    bad_encode 2 '--nal-hrd: needs' --bitrate 500 --nal-hrd cbr
    bad_encode 2 '--nal-hrd maybe: must be none, vbr or cbr' --bitrate 500 --nal-hrd maybe
    bad_encode 2 '--tune film: must be none, psnr, ssim or zerolatency' --tune film
    bad_encode 2 '--crf nan: is not a number' --crf nan
    bad_encode 2 '--crf 60: must be' --crf 60
    bad_encode 2 '--pass 1: needs --bitrate' --qp 28 --pass 1 --pass-log out.log
    bad_encode 2 '--pass 2: needs --bitrate' --crf 28 --pass 2 --pass-log out.log
    bad_encode 2 '--pass 2: needs --pass-log' --bitrate 500 --pass 2
    bad_encode 1 'above the VBV' --bitrate 500 --vbv-maxrate 100 --vbv-bufsize 100
    bad_encode 2 '--bitrate 0: must be at least 0.001' --bitrate 0
    bad_encode 2 '--bitrate 0.0001: must be at least 0.001' --bitrate 0.0001
    for name in ipratio pbratio; do
        for bad in 0 0.09 10.1 -1; do
            bad_encode 2 "--$name $bad: must be 0.1..10" --$name $bad
        done
    done
    bad_encode 1 'constant rate needs' --bitrate 50 --vbv-maxrate 100 --vbv-bufsize 100 \
        --nal-hrd cbr
    bad_encode 1 'nowhere.log: No such file' --bitrate 500 --pass 2 --pass-log nowhere.log
    bad_encode 1 'pass log: this is no pass log' --bitrate 500 --pass 2 --pass-log in.y4m
    encode in.y4m -o first.264 --bitrate 100 --pass 1 --pass-log first.log
    head -n 4 first.log >cut.log
    bad_encode 1 'in.y4m, cut.log: pass log: it is cut short' --bitrate 500 --pass 2 \
        --pass-log cut.log
    bad_encode 1 'made with other settings' --bitrate 500 --pass 2 --pass-log first.log --keyint 7
    encode in.y4m -o second.264 --bitrate 100 --pass 2 --pass-log first.log
    encode in.y4m -o second.264 --bitrate 100 --pass 2 --pass-log first.log --profile high
    bad_encode 1 'other settings: bframes 7 .*; now bframes 2' --bitrate 100 --pass 2 \
        --pass-log first.log --bframes 2
    encode in.y4m -o first.264 --crf 30 --pass 1 --pass-log crf.log
    encode in.y4m -o second.264 --bitrate 100 --pass 2 --pass-log crf.log
}

refuse_listed_inputs() {
    mkdir 'a list' && cp in.y4m 'a list/it'\''s one.264' && cp in.y4m 'a list/two.264'
    printf "ffconcat version 1.0\nfile 'it'\\\''s one.264'\n  file two.264\n" >'a list/concat.txt'
    printf '#EXTM3U\r\n#EXT-X-MAP:URI="two.264"\r\n#EXTINF:1,\r\nit'\''s one.264?x=1\r\n' \
        >'a list/media.m3u8'
    printf '#EXTM3U\na list/media.m3u8\nmaster.m3u8\n' >master.m3u8
    # shellcheck disable=SC2016 # $Number$ is DASH's
    printf '%s\n' '<?xml version="1.0"?>' '<MPD><BaseURL>two.264</BaseURL>' \
        '<SegmentTemplate media="it$Number%03d$.264"/></MPD>' >'a list/dash.mpd'
    for list in concat.txt media.m3u8 dash.mpd; do
        refused 2 'is the input as well' encode "a list/$list" -o "a list/it's one.264"
        refused 2 'is the input as well' encode "a list/$list" -o in.264 --recon 'a list/two.264'
    done
    refused 2 'is the input as well' encode master.m3u8 -o 'a list/two.264'
    refused 2 'is the background, an input as well' encode in.y4m -o 'a list/two.264' --key green \
        --background 'a list/concat.txt'
    cp in.y4m three.264 && printf 'three.264\n' >no_list.yuv
    ok 'text that is no playlist names nothing' "$motus" encode no_list.yuv --size 2x2 --frames 1 \
        -o three.264 --quiet
    rm -r 'a list' master.m3u8 three.264 no_list.yuv
}

usage_errors() {
    local bad
    refused 2 'command is missing'
    refused 2 'frobnicate: no such command' frobnicate
    refused 2 'command is missing' --
    refused 2 'encod: no such command' -- encod
    refused 2 'must be at most 8 numbers' bench -- latency --rate x
    encode in.y4m -o t.264
    runs -- encode --quiet -o t2.264 -- in.y4m
    ok 'two dashes end options' cmp -s t.264 t2.264
    rm t.264 t2.264
    wrapper=(env MOTUS_CPU=foo)
    bad_encode 2 'MOTUS_CPU=foo: must be c, avx2 or avx512'
    wrapper=()
    refused 1 'profile main or high' bench encode --bframes 3
    ok 'before a head' [ -z "$("$motus" bench encode --bframes 3 2>err)" ]
    refused 2 'encod: no such command; did you mean encode\?' encod
    refused 2 'input is missing' encode
    refused 2 'output is missing' encode -
    refused 2 'output is missing' encode /dev/null
    refused 2 'one argument too many; the output is -o FILE' encode in.y4m other.y4m -o out.264
    refused 2 'one argument too many' encode -i in.y4m -o out.264 other.264
    bad_encode 2 '--zap: no such option .see' --zap
    bad_encode 2 '-z: no such option .see' -z
    bad_encode 2 '--qp: needs a value' --qp
    bad_encode 2 '--yes=3: takes no value' --yes=3
    bad_encode 2 '--help=3: takes no value' --help=3
    bad_encode 2 '--kyeint=3: no such option; did you mean --keyint\?' --kyeint=3
    bad_encode 2 '-crf: no such option; did you mean --crf\?' -crf 23
    bad_encode 2 '-b:v: no such option; did you mean --bitrate\?' -b:v 800k
    bad_encode 2 '-threads: no such option; did you mean --threads\?' -threads 4
    bad_encode 2 '--maxrate: no such option; did you mean --vbv-maxrate\?' --maxrate 800k
    bad_encode 2 '-c:v: no such option; pictures always become H.264 .see' -c:v libx264
    bad_encode 2 '-bf: no such option; did you mean --bframes\?' -bf 2
    bad_encode 2 '-hide_banner: no such option; did you mean --quiet\?' -hide_banner
    bad_encode 2 '-refs: no such option; did you mean --ref\?' -refs 3
    bad_encode 2 '--subme: no such option; chosen by --preset' --subme 7
    refused 2 '--subme: no such option; did you mean --subpel' search in.y4m -o out.csv --subme 7
    bad_encode 2 'medum: must be placebo, .* or faster; did you mean medium\?' --preset medum
    bad_encode 2 '--profile high10: must be baseline, main or high' --profile high10
    bad_encode 2 '--bframes 17: must be 0\.\.16' --bframes 17
    bad_encode 1 'B pictures need profile main or high' --bframes 3 --profile baseline
    for bad in 1.5 1:60 1e3s :; do
        bad_encode 2 "--seek $bad: must be a number of frames, or a time like" --seek $bad
    done
    bad_encode 2 '--duration 0: must be a time like' --duration 0
    bad_encode 2 '--bitrate 800m: is not a number of kilobits, like 800, 800k or 2M' \
        --bitrate 800m
    for bad in 'qp 99' 'qp -1' 'qp 3x' 'keyint -1' 'range 0' 'range 129' 'threads -1' \
        'threads 257' 'gop-coders 65' 'device x' 'devices 0,0' 'devices 1,' 'devices one' \
        'devices 0,256' 'preset slowest' 'frames 0' 'seek -1' 'qp 99999999999999999999' 'slices 0' \
        'slices 1025' 'slice-max-size 127' 'slice-max-size 1k' 'subpel best' \
        'partitions 16x16,3x3' 'partitions ,' 'backend gpu' 'size 0x0' 'size 16' \
        'size 100000x100000' 'size 16385x16' 'fps 0' \
        'fps 1/1000000000' 'fps abc' 'fps 1/0' 'mvs out.txt'; do
        # shellcheck disable=SC2086
        bad_encode 2 "--$bad: " --$bad
    done
    bad_encode 2 '--device and --devices' --device 0 --devices 0
    bad_encode 2 '--devices: with --backend cpu' --backend cpu --devices 0
    refused 2 '--devices: with --backend cpu' bench encode --backend cpu --devices 0
    refused 2 '--devices: goes with encode' bench me --devices 0
    refused 2 '--preset: goes with encode' bench me --preset fast
    refused 2 '--gops: goes with encode --gop-coders' bench encode --gops 4
    refused 2 '--gops: goes with encode --gop-coders, without --devices' bench encode \
        --gop-coders 2 --devices 0 --gops 4
    refused 2 '--pictures: goes with encode --gop-coders or --devices' bench encode --pictures 100
    refused 2 '--runs: goes with encode, without --devices' bench encode --devices 0 --runs 2
    refused 2 '--runs: goes with encode' bench me --runs 2
    refused 2 '--qp: goes with encode' bench me --qp 0
    refused 2 '--upload: goes with me' bench encode --upload
    refused 2 '--peers: goes with me' bench encode --gop-coders 2 --devices 0 --peers
    refused 2 'is the input as well' encode in.y4m -o in.y4m
    bad_encode 2 'is the input as well' --recon ./in.y4m
    ln -sf in.y4m link.y4m
    refused 2 'is the input as well' encode in.y4m -o link.y4m
    cp in.y4m linked.y4m && ln -f linked.y4m other_name.264
    refused 2 'is the input as well; nothing was done' encode linked.y4m -o other_name.264
    ln -f linked.y4m back.y4m
    bad_encode 2 'back.y4m: is the background, an input' --key green --background linked.y4m \
        --recon back.y4m
    refused 2 'back.y4m: is the background, an input' filter in.y4m -o back.y4m --key green \
        --background linked.y4m
    bad_encode 2 'back.csv: is the field \(--mvs-in\), an input as well' --mvs back.csv \
        --mvs-in back.csv
    bad_encode 2 'back.log: is the pass log \(--pass-log\), an input as well' --bitrate 9 --pass 2 \
        --pass-log back.log --stats back.log
    cp in.y4m series01.264
    refused 2 'series01.264: is the input as well' encode 'series%02d.264' -o series01.264
    refuse_rates
    rm linked.y4m other_name.264 back.y4m series01.264
    refused 2 'out.avi: ends in none of .264' encode in.y4m -o out.avi
    refused 2 'out: ends in none of .264' encode in.y4m -o out
    bad_encode 2 '--format avi: must be h264, mp4, mov, mkv or ts' --format avi
    bad_encode 2 '--fragment: only .mp4 and .mov' --fragment
    bad_encode 2 '--deinterlace maybe: ' --deinterlace maybe
    bad_encode 2 'named for two outputs' --recon out.264
    refused 2 'named for two outputs' encode in.y4m -o - --stats -
    bad_encode 2 '--recon out.mp4: must end in .y4m or .yuv' --recon out.mp4
    refused 2 '-o out.mp4: must end in .y4m or .yuv' filter in.y4m -o out.mp4 --equalize
    refused 2 '--plot out.jpg: must end in .png' filter in.y4m -o out.y4m --equalize --plot out.jpg
    refused 2 'OUTPUT out: must end in .y4m or .yuv' synth out
    refused 2 '--vectors out.npy: must end in .csv' synth out.y4m --vectors out.npy
    bad_encode 2 '--log-level quiet: must be error, warning or info' --log-level quiet
    refused 2 '--pan 0.1,0: ' synth out.y4m --pan 0.1,0
    refused 2 '--zoom 2: ' synth out.y4m --zoom 2
    refused 2 '--rotate nan: ' synth out.y4m --rotate nan
    refused 2 'must be me, encode, latency or filters' bench
    refused 2 'must be at most 8 numbers' bench latency --rate 30,x
    refused 2 'output is missing' search in.y4m
    refused 2 '-o out.264: must end in .csv, .npy or .flo' search in.y4m -o out.264
    ln -sf in.y4m in.csv
    refused 2 'is the input as well' search in.y4m -o in.csv
    for bad in 'modes none' 'modes 5x5' 'lambda -1' 'lambda 65536' 'frames 1' 'range 129'; do
        # shellcheck disable=SC2086
        refused 2 "--$bad: " search in.y4m -o out.csv --$bad
    done
    refused 2 'one argument too many' info more
}

bad_inputs() {
    refused 1 'missing.y4m: No such file' encode missing.y4m -o out.264
    refused 1 'http://nowhere.invalid/in.mp4: is a URL, and motus opens files' encode \
        http://nowhere.invalid/in.mp4 -o out.264
    refused 1 'rtsp://nowhere.invalid/in: is a URL, and motus opens files' search \
        rtsp://nowhere.invalid/in -o out.csv
    refused 2 'rtmp://nowhere.invalid/out: is a URL; motus writes files and pipes' encode in.y4m \
        -o rtmp://nowhere.invalid/out
    refused 2 'in.y4m: is the input as well' encode file:in.y4m -o in.y4m
    encode "file://$PWD/in.y4m" -o t.264
    ok 'a file by a URL' cmp -s t.264 ref.264
    mkdir -p folder
    refused 1 'folder: is a directory' encode folder -o out.264
    : >empty.y4m
    refused 1 'empty.y4m: is empty' encode empty.y4m -o out.264
    head -c 20 in.y4m >bad.y4m
    refused 1 'bad.y4m: ends inside' encode bad.y4m -o out.264
    head -c 3000 in.y4m >bad.y4m
    refused 1 'bad.y4m: ends inside frame 0' encode bad.y4m -o out.264
    y4m 'W352 H288 F25:1 Im' </dev/null
    refused 1 'bad.y4m: .*interlaced' encode bad.y4m -o out.264
    y4m 'W64 H48 F1:1000000000' <in.y4m
    refused 1 'bad.y4m: bad y4m header tag "F1:1000000000"' encode bad.y4m -o out.264
    local size
    for size in 'W0 H0' 'W100000 H100000' 'W1 H1' 'W1 H64' 'W64 H1'; do
        head -c 9999 in.y4m | y4m "$size F25:1"
        refused 1 'bad.y4m: ' encode bad.y4m -o out.264
    done
    head -c 5000 /dev/urandom >bad.bin
    refused 1 'bad.bin: ' encode bad.bin -o out.264
    head -c 5000 /dev/urandom >bad.yuv
    refused 1 'bad.yuv: ' encode bad.yuv -o out.264
    refused 1 'bad.yuv: ' encode bad.yuv -o out.264 --size 352x288
    refused 1 'missing.y4m: No such file' search missing.y4m -o out.csv
    head -c 6000 in.y4m >bad.y4m
    refused 1 'bad.y4m: ends inside frame 1' search bad.y4m -o out.csv
    head -c 4674 in.y4m >bad.y4m
    refused 1 'bad.y4m: .*(second frame|ends inside)' search bad.y4m -o out.npy
    refused 1 'backend cuda' search in.y4m -o out.csv --backend cuda
    bad_encode 1 'seek' --seek 12
    bad_encode 1 'backend cuda' --backend cuda
    bad_encode 1 'devices needs .*backend cuda' --devices all
    bad_encode 1 'devices needs .*backend cuda' --devices 0,2
    refused 1 'backend cuda' bench encode --devices all
    if [ -z "$probe" ]; then
        { echo FRAME && head -c 8192 /dev/zero; } | y4m 'W64 H64 F25:1 C422'
        refused 1 'bad.y4m: ' encode bad.y4m -o out.264
        refused 1 'libavformat' encode in.y4m -o out.mp4
    fi
}

bad_outputs() {
    local name
    for name in out.264 out.h264; do
        refused 1 "nowhere/$name: No such file" encode in.y4m -o "nowhere/$name"
    done
    refused 1 'folder: Is a directory' encode in.y4m -o folder
    refused 1 '/dev/full: No space left' encode in.y4m -o /dev/full
    refused 1 '/dev/full: No space left' synth /dev/full
    refused 1 'nowhere/v.csv: No such file' synth out.y4m --vectors nowhere/v.csv
    bad_encode 1 'nowhere/r.y4m: No such file' --recon nowhere/r.y4m
    wrapper=(bash -c 'ulimit -f 4 && exec "$@"' limited)
    bad_encode 1 'out.264: File too large' --qp 0
    [ -z "$probe" ] || refused 1 'out.mp4: File too large' encode in.y4m -o out.mp4 --qp 0
    wrapper=()
    if [ -n "$probe" ]; then
        refused 1 'nowhere/out.mp4: No such file' encode in.y4m -o nowhere/out.mp4
    fi
    "$motus" --help >/dev/full 2>err
    ok 'help into a full device fails' [ $? = 1 ]
    mkdir -p small
    if mount -t tmpfs -o size=8k motus-test small 2>/dev/null; then
        mounted=$work/small
        refused 1 'small/out.264: No space left' encode in.y4m -o small/out.264 --qp 0
        [ -z "$probe" ] ||
            refused 1 'small/out.mp4: No space left' encode in.y4m -o small/out.mp4 --qp 0
        ok 'nothing on the full disk' [ -z "$(ls small)" ]
        umount small && mounted=''
    else
        echo 'note: no small file system could be mounted; /dev/full and a size limit replace it'
    fi
}

# A file that stood under the name stays as it is when the encode fails.
old_output_survives() {
    echo old >keep.264
    "$motus" encode cut0.y4m -o keep.264 --quiet 2>err
    ok 'failure keeps the old file' [ "$(cat keep.264)" = old ]
    ok 'no part' no_parts
    encode in.y4m -o keep.264
    ok 'success replaces the old file' cmp -s keep.264 ref.264
    rm keep.264
    "$motus" encode in.y4m -o keep.264 --recon /dev/full --quiet 2>err
    ok 'another output that fails is a failure' [ $? = 1 ]
    ok 'the stream is whole all the same' cmp -s keep.264 ref.264
}

alike usage_errors
refuse_listed_inputs
bad_inputs
bad_outputs
old_output_survives
checks_done
