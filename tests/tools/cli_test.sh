#!/usr/bin/env bash
# Tests the program from outside: every bad input ends in one line and an exit status, nothing
# half-written stays, the main paths give what they promise.
#   cli_test.sh MOTUS JSON_CHECK [MEDIA_PROBE]
# MEDIA_PROBE is left out where the build has no libavformat.
# SPDX-License-Identifier: BSD-2-Clause
set -u
export LC_ALL=C
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
motus=$(realpath "$1") json=$(realpath "$2") probe=${3:+$(realpath "$3")}
[ -x "$motus" ] && [ -x "$json" ] || exit 2
work=$(mktemp -d) || exit 2
mounted=''
cleanup() {
    [ -z "$mounted" ] || umount "$mounted"
    rm -rf "$work"
}
trap cleanup EXIT
cd "$work" || exit 2
launcher=()

no_parts() { [ -z "$(find . -name '*.motus-*')" ]; }

# refused STATUS PATTERN ARGUMENT...: motus exits with STATUS, says one line that matches PATTERN,
# and leaves no output behind (outputs are named out.*).
refused() {
    local status=$1 pattern=$2 got
    shift 2
    rm -f out.*
    checks=$((checks + 1))
    "${launcher[@]}" "$motus" "$@" >stdout 2>err
    got=$?
    [ $got = "$status" ] || fail "motus $*: exit status $got, not $status"
    [ "$(wc -l <err)" = 1 ] || fail "motus $*: not one line"
    grep -q '^motus: ' err || fail "motus $*: the line does not say who speaks"
    grep -qE -- "$pattern" err || fail "motus $*: the line has no '$pattern'"
    [ ! -s stdout ] || fail "motus $*: wrote to stdout"
    [ -z "$(find . -name 'out.*')" ] || fail "motus $*: left $(find . -name 'out.*')"
    no_parts || fail "motus $*: left a part"
}

# runs ARGUMENT...: motus succeeds and says nothing.
runs() {
    checks=$((checks + 1))
    "$motus" "$@" 2>err || fail "motus $*"
    [ ! -s err ] || fail "motus $*: not silent"
}

# Files in a playlist are inputs, too.
refuse_rates() {
    refused 2 'one of them decides' encode in.y4m -o out.264 --qp 20 --crf 20
    refused 2 'one of them decides' encode in.y4m -o out.264 --bitrate 500 --crf 20
    refused 2 '--qp: goes with no VBV' encode in.y4m -o out.264 --qp 20 --vbv-maxrate 500 \
        --vbv-bufsize 500
    refused 2 'only together' encode in.y4m -o out.264 --bitrate 500 --vbv-maxrate 500
    refused 2 '--nal-hrd: needs' encode in.y4m -o out.264 --bitrate 500 --nal-hrd cbr
    refused 2 '--nal-hrd maybe: must be none, vbr or cbr' encode in.y4m -o out.264 --bitrate 500 \
        --nal-hrd maybe
    refused 2 '--tune film: must be none, psnr, ssim or zerolatency' encode in.y4m -o out.264 \
        --tune film
    refused 2 '--crf nan: is not a number' encode in.y4m -o out.264 --crf nan
    refused 2 '--crf 60: must be' encode in.y4m -o out.264 --crf 60
    refused 2 '--pass 1: needs --bitrate' encode in.y4m -o out.264 --qp 28 --pass 1 \
        --pass-log out.log
    refused 2 '--pass 2: needs --bitrate' encode in.y4m -o out.264 --crf 28 --pass 2 \
        --pass-log out.log
    refused 2 '--pass 2: needs --pass-log' encode in.y4m -o out.264 --bitrate 500 --pass 2
    refused 1 'above the VBV' encode in.y4m -o out.264 --bitrate 500 --vbv-maxrate 100 \
        --vbv-bufsize 100
    refused 1 'no bitrate given' encode in.y4m -o out.264 --bitrate 0
    refused 1 'constant rate needs' encode in.y4m -o out.264 --bitrate 50 --vbv-maxrate 100 \
        --vbv-bufsize 100 --nal-hrd cbr
    refused 1 'nowhere.log: No such file' encode in.y4m -o out.264 --bitrate 500 --pass 2 \
        --pass-log nowhere.log
    refused 1 'pass log: this is no pass log' encode in.y4m -o out.264 --bitrate 500 --pass 2 \
        --pass-log in.y4m
    encode in.y4m -o first.264 --bitrate 100 --pass 1 --pass-log first.log
    head -n 4 first.log >cut.log
    refused 1 'pass log: it is cut short' encode in.y4m -o out.264 --bitrate 500 --pass 2 \
        --pass-log cut.log
    refused 1 'made with other settings' encode in.y4m -o out.264 --bitrate 500 --pass 2 \
        --pass-log first.log --keyint 7
    encode in.y4m -o second.264 --bitrate 100 --pass 2 --pass-log first.log
    encode in.y4m -o second.264 --bitrate 100 --pass 2 --pass-log first.log --profile high
    refused 1 'other settings: bframes 7 .*; now bframes 2' encode in.y4m -o out.264 \
        --bitrate 100 --pass 2 --pass-log first.log --bframes 2
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

encode() { runs encode "$@" --quiet; }

# y4m_header TEXT: a file that begins so, with the bytes of stdin behind it.
y4m() { { printf 'YUV4MPEG2 %s\n' "$1" && cat; } >bad.y4m; }

usage_errors() {
    local bad
    refused 2 'command is missing'
    refused 2 'frobnicate: no such command' frobnicate
    refused 2 'encod: no such command; did you mean encode\?' encod
    refused 2 'input is missing' encode
    refused 2 'output is missing' encode -
    refused 2 'output is missing' encode /dev/null
    refused 2 'one argument too many; the output is -o FILE' encode in.y4m other.y4m -o out.264
    refused 2 'one argument too many' encode -i in.y4m -o out.264 other.264
    refused 2 '--zap: no such option .see' encode in.y4m -o out.264 --zap
    refused 2 '-z: no such option .see' encode in.y4m -o out.264 -z
    refused 2 '--qp: needs a value' encode in.y4m -o out.264 --qp
    refused 2 '--yes=3: takes no value' encode in.y4m -o out.264 --yes=3
    refused 2 '--help=3: takes no value' encode in.y4m -o out.264 --help=3
    refused 2 '--kyeint=3: no such option; did you mean --keyint\?' encode in.y4m -o out.264 \
        --kyeint=3
    refused 2 '-crf: no such option; did you mean --crf\?' encode in.y4m -o out.264 -crf 23
    refused 2 '-b:v: no such option; did you mean --bitrate\?' encode in.y4m -o out.264 -b:v 800k
    refused 2 '-threads: no such option; did you mean --threads\?' encode in.y4m -o out.264 \
        -threads 4
    refused 2 '--maxrate: no such option; did you mean --vbv-maxrate\?' encode in.y4m -o out.264 \
        --maxrate 800k
    refused 2 '-c:v: no such option; pictures always become H.264 .see' encode in.y4m -o out.264 \
        -c:v libx264
    refused 2 '-bf: no such option; did you mean --bframes\?' encode in.y4m -o out.264 -bf 2
    refused 2 '-hide_banner: no such option; did you mean --quiet\?' encode in.y4m -o out.264 \
        -hide_banner
    refused 2 '-refs: no such option; did you mean --ref\?' encode in.y4m -o out.264 \
        -refs 3
    refused 2 '--subme: no such option; chosen by --preset' encode in.y4m -o out.264 --subme 7
    refused 2 '--subme: no such option; did you mean --subpel' search in.y4m -o out.csv --subme 7
    refused 2 \
        'medum: must be slow, medium, fast, faster, slower or placebo; did you mean medium\?' \
        encode in.y4m -o out.264 --preset medum
    refused 2 '--profile high10: must be baseline, main or high' encode in.y4m -o out.264 \
        --profile high10
    refused 2 '--bframes 17: must be 0\.\.16' encode in.y4m -o out.264 --bframes 17
    refused 1 'B pictures need profile main or high' encode in.y4m -o out.264 --bframes 3 \
        --profile baseline
    for bad in 1.5 1:60 1e3s :; do
        refused 2 "--seek $bad: must be a number of frames, or a time like" encode in.y4m \
            -o out.264 --seek $bad
    done
    refused 2 '--duration 0: must be a time like' encode in.y4m -o out.264 --duration 0
    refused 2 '--bitrate 800m: is not a number of kilobits, like 800, 800k or 2M' encode in.y4m \
        -o out.264 --bitrate 800m
    for bad in 'qp 99' 'qp -1' 'qp 3x' 'keyint -1' 'range 0' 'range 129' 'threads -1' \
        'threads 257' 'gop-coders 65' 'device x' 'devices 0,0' 'devices 1,' 'devices one' \
        'devices 0,256' 'preset slowest' 'frames 0' 'seek -1' 'qp 99999999999999999999' 'slices 0' \
        'slices 1025' 'slice-max-size 127' 'slice-max-size 1k' 'subpel best' \
        'partitions 16x16,3x3' 'partitions ,' 'backend gpu' 'size 0x0' 'size 16' \
        'size 100000x100000' 'size 16385x16' 'fps 0' 'fps abc' 'fps 1/0' 'mvs out.txt'; do
        # shellcheck disable=SC2086
        refused 2 "--$bad: " encode in.y4m -o out.264 --$bad
    done
    refused 2 '--device and --devices' encode in.y4m -o out.264 --device 0 --devices 0
    refused 2 '--devices: with --backend cpu' encode in.y4m -o out.264 --backend cpu --devices 0
    refused 2 '--devices: with --backend cpu' bench encode --backend cpu --devices 0
    refused 2 '--devices: goes with encode' bench me --devices 0
    refused 2 '--preset: goes with encode --gop-coders' bench encode --preset fast
    refused 2 '--gops: goes with encode --gop-coders' bench encode --gops 4
    refused 2 '--gops: goes with encode --gop-coders, without --devices' bench encode \
        --gop-coders 2 --devices 0 --gops 4
    refused 2 '--pictures: goes with encode --devices' bench encode --gop-coders 2 --pictures 100
    refused 2 '--runs: goes with encode, without --devices' bench encode --devices 0 --runs 2
    refused 2 '--runs: goes with encode' bench me --runs 2
    refused 2 '--qp: goes with encode' bench me --qp 0
    refused 2 '--upload: goes with me' bench encode --upload
    refused 2 '--peers: goes with me' bench encode --gop-coders 2 --devices 0 --peers
    refused 2 'is the input as well' encode in.y4m -o in.y4m
    refused 2 'is the input as well' encode in.y4m -o out.264 --recon ./in.y4m
    ln -sf in.y4m link.y4m
    refused 2 'is the input as well' encode in.y4m -o link.y4m
    cp in.y4m linked.y4m && ln -f linked.y4m other_name.264
    refused 2 'is the input as well; nothing was done' encode linked.y4m -o other_name.264
    ln -f linked.y4m back.y4m
    refused 2 'back.y4m: is the background, an input' encode in.y4m -o out.264 --key green \
        --background linked.y4m --recon back.y4m
    refused 2 'back.y4m: is the background, an input' filter in.y4m -o back.y4m --key green \
        --background linked.y4m
    refused 2 'back.csv: is the field \(--mvs-in\), an input as well' encode in.y4m -o out.264 \
        --mvs back.csv --mvs-in back.csv
    refused 2 'back.log: is the pass log \(--pass-log\), an input as well' encode in.y4m \
        -o out.264 --bitrate 9 --pass 2 --pass-log back.log --stats back.log
    cp in.y4m series01.264
    refused 2 'series01.264: is the input as well' encode 'series%02d.264' -o series01.264
    refuse_listed_inputs
    refuse_rates
    rm linked.y4m other_name.264 back.y4m series01.264
    refused 2 'out.avi: ends in none of .264' encode in.y4m -o out.avi
    refused 2 'out: ends in none of .264' encode in.y4m -o out
    refused 2 '--format avi: must be h264, mp4, mov, mkv or ts' encode in.y4m -o out.264 \
        --format avi
    refused 2 '--fragment: only .mp4 and .mov' encode in.y4m -o out.264 --fragment
    refused 2 '--deinterlace maybe: ' encode in.y4m -o out.264 --deinterlace maybe
    refused 2 'named for two outputs' encode in.y4m -o out.264 --recon out.264
    refused 2 'named for two outputs' encode in.y4m -o - --stats -
    refused 2 '--recon out.mp4: must end in .y4m or .yuv' encode in.y4m -o out.264 --recon out.mp4
    refused 2 '-o out.mp4: must end in .y4m or .yuv' filter in.y4m -o out.mp4 --equalize
    refused 2 '--plot out.jpg: must end in .png' filter in.y4m -o out.y4m --equalize --plot out.jpg
    refused 2 'OUTPUT out: must end in .y4m or .yuv' synth out
    refused 2 '--vectors out.npy: must end in .csv' synth out.y4m --vectors out.npy
    refused 2 '--log-level quiet: must be error, warning or info' encode in.y4m -o out.264 \
        --log-level quiet
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
    refused 1 'seek' encode in.y4m -o out.264 --seek 12
    refused 1 'backend cuda' encode in.y4m -o out.264 --backend cuda
    refused 1 'devices needs .*backend cuda' encode in.y4m -o out.264 --devices all
    refused 1 'devices needs .*backend cuda' encode in.y4m -o out.264 --devices 0,2
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
    refused 1 'nowhere/r.y4m: No such file' encode in.y4m -o out.264 --recon nowhere/r.y4m
    launcher=(bash -c 'ulimit -f 4 && exec "$@"' limited)
    refused 1 'out.264: File too large' encode in.y4m -o out.264 --qp 0
    [ -z "$probe" ] || refused 1 'out.mp4: File too large' encode in.y4m -o out.mp4 --qp 0
    launcher=()
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

# Names as people have them; what an output replaces or goes through; and what is not ours.
output_names() {
    cp in.y4m t.264.part && cp in.y4m part_input.264.part
    encode part_input.264.part -o part_input.264
    ok 'an input called OUTPUT.part' cmp -s part_input.264 ref.264
    ok 'is what it was' cmp -s part_input.264.part in.y4m
    encode in.y4m -o t.264
    ok "a stranger's part is what it was" cmp -s t.264.part in.y4m
    rm t.264.part part_input.264.part
    echo old >kept.264 && chmod 604 kept.264 && ln -sf kept.264 link.264
    encode in.y4m -o link.264
    ok 'a link stays one' [ -L link.264 ]
    ok 'the file behind it is new' cmp -s kept.264 ref.264
    ok 'and has its permissions' [ "$(stat -c %a kept.264)" = 604 ]
    encode in.y4m -o stream --format h264
    ok '--format for a name without ending' cmp -s stream ref.264
    encode in.y4m -o t.H264
    ok 'endings in capitals' cmp -s t.H264 ref.264
    [ ! -e /dev/full ] || {
        "$motus" encode in.y4m -o t.264 --recon /dev/full --mvs t.csv --quiet 2>err
        ok 'a file beside the stream that fails in the middle is a failure' [ $? = 1 ]
        ok 'and said in one line' \
            [ "$(grep -c '^motus: /dev/full: No space left.* given up, the stream is not' err)" \
            = "$(wc -l <err)" ]
        ok 'the stream is whole' cmp -s t.264 ref.264
        ok 'the other files too' cmp -s t.csv ref.csv
    }
}

# same_as NAME THEIRS OURS: both lists of options give the same stream.
same_as() {
    # shellcheck disable=SC2086
    encode in.y4m -o t.264 $2
    # shellcheck disable=SC2086
    encode in.y4m -o t2.264 $3
    ok "$1" cmp -s t.264 t2.264
}

# B pictures and references that nobody asked for.
default_pictures() {
    encode in.y4m -o t.264 --bframes 0
    ok 'B pictures by default' [ "$(cmp t.264 ref.264 2>&1 | wc -l)" = 1 ]
    same_as 'none in Baseline' '--profile baseline' '--profile baseline --bframes 0'
    same_as 'none with zerolatency' '--tune zerolatency' '--tune zerolatency --bframes 0'
    same_as 'none with --field' '--preset slow --field f.npy' '--preset slow --bframes 0 --ref 1'
    same_as 'none with --mvs-in' '--mvs-in f.npy' '--mvs-in f.npy --bframes 0 --ref 1'
    same_as 'as many as asked for' '--field f.npy --bframes 2' '--bframes 2 --ref 1'
    same_as 'references and B pictures of slow' '--preset slow' '--preset slow --ref 3 --bframes 7'
    same_as 'B pictures of fast' '--preset fast' '--preset fast --ref 1 --bframes 3'
    same_as 'AQ of --tune ssim' '--tune ssim' '--tune ssim --aq-mode 2 --aq-strength 1.5'
    same_as 'those of slower' '--preset slower' '--preset slower --ref 5 --bframes 7'
}

# Words of x264 and ffmpeg.
foreign_words() {
    encode -i in.y4m -o t.264
    ok '-i names the input' cmp -s t.264 ref.264
    encode -i in.y4m t2.264 --profile high --bframes 7 --b-adapt 1 --ref 1 --preset medium
    ok 'and the operand behind it the output; defaults' cmp -s t2.264 ref.264
    default_pictures
    encode in.y4m -o t.264 --bframes 2 --keyint 4 --recon b.y4m --mvs b.csv --stats b.json
    ok 'files beside a stream with B pictures are in display order' \
        [ "$(grep -o '"frame":[0-9]*' b.json | sort -c -t: -nk2 2>&1)" = '' ]
    ok 'B pictures are counted' "$json" b.json types.B.frames types.B.psnr_y mb_types.B_Skip \
        mb_types.B_Direct_16x16 mb_types.B_16x16 mb_types.P_Skip per_frame.1.mb_types.B_8x8 \
        per_frame.1.b_samples.Bi b_samples.L1
    ok 'MVs of both lists' [ "$(tail -n +2 b.csv | cut -d, -f9 | sort -u | tr '\n' ' ')" = '0 1 ' ]
    encode in.y4m -o t2.264 --bframes 2 --tune zerolatency --keyint 4
    encode in.y4m -o t3.264 --tune zerolatency --keyint 4
    ok 'zerolatency is without B pictures' cmp -s t2.264 t3.264
    local theirs ours
    for theirs in veryfast=faster veryslow=slower; do
        ours=${theirs#*=} theirs=${theirs%=*}
        "$motus" encode in.y4m -o t.264 --frames 3 --preset "$theirs" 2>err
        ok "$theirs: in one line" \
            [ "$(grep '^motus: ' err | cut -d, -f1)" \
            = "motus: note: --preset $theirs: taken as $ours" ]
        encode in.y4m -o t2.264 --frames 3 --preset "$ours"
        ok "$theirs is $ours" cmp -s t.264 t2.264
    done
    encode in.y4m -o t.264 --bitrate 120 --vbv-maxrate 150 --vbv-bufsize 1500
    encode in.y4m -o t2.264 --bitrate 120k --vbv-maxrate 0.15M --vbv-bufsize 1500K
    ok 'k and M' cmp -s t.264 t2.264
    ok '--version is in the help' grep -q -- '--version' <("$motus" --help)
}

# The output that is not named, and files that are there already.
old_outputs() {
    local ending=${probe:+mp4} said
    mkdir beside && cp in.y4m beside/film.y4m
    encode beside/film.y4m
    ok 'an output beside the input' \
        [ "$(ls beside)" = "$(printf 'film.%s\n' "${ending:-264}" y4m | sort)" ]
    "$motus" encode beside/film.y4m --quiet 2>err
    ok 'is not replaced unasked' \
        [ "$? $(grep -c 'exists already; -o names another output, -y replaces it' err)" = '2 1' ]
    encode beside/film.y4m -y
    encode beside/film.y4m --format h264 -y
    ok 'and has the ending of its format' cmp -s beside/film.264 ref.264
    [ -z "$probe" ] || {
        encode beside/film.mp4
        ok 'and never the name of the input' grep -q '^h264' <("$probe" beside/film.h264.mp4 2>err)
    }
    echo old | tee keep.264 >keep.png
    refused 1 'keep.264: exists already; nothing was done' encode in.y4m -o keep.264 --no-overwrite
    refused 1 'keep.264, ref.y4m: exist already; nothing was done' encode in.y4m -o keep.264 \
        --recon ref.y4m --no-overwrite
    refused 1 'in.csv: exists already' search ref.y4m -o in.csv --no-overwrite
    refused 1 'ref.y4m: exists already' filter in.y4m -o ref.y4m --equalize --no-overwrite
    refused 1 'ref.y4m: exists already' synth ref.y4m --no-overwrite
    [ -z "$probe" ] || refused 1 'keep.png: exists already' view in.csv -o keep.png --no-overwrite
    encode in.y4m -o new.264 --no-overwrite
    command -v python3 >/dev/null || return 0
    # asked ANSWER ARGUMENT...: the exit status of an encode on a terminal, and what it says there.
    asked() {
        python3 -c '
import os, pty, sys
pid, terminal = pty.fork()
if not pid: os.execv(sys.argv[2], sys.argv[2:])
said = b""
try:
    while piece := os.read(terminal, 4096):
        if b"[y/N]" in piece: os.write(terminal, sys.argv[1].encode() + b"\n")
        said += piece
except OSError: pass
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(status, said.decode())' "$1" "$motus" encode in.y4m -o keep.264 "${@:2}"
    }
    said=$(asked n)
    ok 'a terminal is asked' grep -q 'motus: keep.264: exists already. Replace it? .y/N.' <<<"$said"
    ok 'n keeps the file' [ "${said%% *} $(cat keep.264)" = '1 old' ]
    said=$(asked '' --mvs ref.csv)
    ok 'no answer, too' [ "${said%% *} $(cat keep.264)" = '1 old' ]
    ok 'one question for all' grep -q 'keep.264, ref.csv: exist already. Replace them?' <<<"$said"
    asked y >said
    ok 'y replaces it' cmp -s keep.264 ref.264
    echo old >keep.264
    ok '-y asks nothing' grep -qv 'y/N' <(asked n -y)
    ok 'and replaces' cmp -s keep.264 ref.264
}

# One object a line, which ends with all frames.
progress_objects() {
    "$motus" encode in.y4m -o t.264 --progress json --quiet 2>objects
    ok 'objects alone' [ "$(grep -cv '^{"frame": .*}$' objects)" = 0 ]
    tail -n 1 objects >last.json
    ok 'the last one' [ "$("$json" last.json frame frames end | paste -sd ' ')" = '12 12 true' ]
    ok 'its figures' "$json" last.json seconds fps kbps bytes
    head -c 99999999 in.y4m | "$motus" encode - -o t.264 --progress json 2>&1 |
        grep -q '^{"frame": 12, "frames": null, ' || fail 'frames of a pipe'
    "$motus" encode in.y4m -o t.264 --progress none 2>err
    ok 'none' [ "$(grep -c '^{' err)" = 0 ]
    refused 2 '--progress xml: must be auto, json or none' encode in.y4m -o out.264 --progress xml
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

cut_input() {
    "$motus" encode cut.y4m -o cut.264 --quiet 2>err
    ok 'a cut last frame is no failure' [ $? = 0 ]
    ok 'but a warning' grep -q '^motus: cut.y4m: ends inside frame 3' err
    encode in.y4m -o first3.264 --frames 3
    ok 'whole frames before the cut are encoded' cmp -s cut.264 first3.264
    "$motus" encode cut.y4m -o cut.264 --quiet --strict 2>err
    ok 'with --strict it fails' [ $? = 1 ]
}

main_paths() {
    local n
    for n in 1 2 3 7; do
        encode in.y4m -o t.264 --threads $n --recon t.y4m --mvs t.csv
        ok "stream of $n threads" cmp -s t.264 ref.264
        ok "reconstruction of $n threads" cmp -s t.y4m ref.y4m
        ok "vectors of $n threads" cmp -s t.csv ref.csv
    done
    MOTUS_CPU=c encode in.y4m -o t.264
    ok 'plain C gives the same stream' cmp -s t.264 ref.264
    "$motus" encode - -o - --quiet <in.y4m >t.264
    ok 'through pipes' cmp -s t.264 ref.264
    "$motus" encode in.y4m -o - 2>/dev/null | cmp -s - ref.264
    ok 'to a pipe' [ $? = 0 ]
    runs synth in.yuv --size 64x48 --frames 12 --pan 1.5,-0.25 --objects 1
    encode in.yuv -o raw.264 --size 64x48 --recon t.y4m
    ok 'headerless input' cmp -s <(tail -n +2 t.y4m) <(tail -n +2 ref.y4m)
    encode in.yuv -o t2.264 --size 64x48 --fps 25 --seek 3 --frames 4
    dd if=in.yuv of=part.yuv bs=4608 skip=3 count=4 status=none
    encode part.yuv -o t3.264 --size 64x48 --fps 25
    ok '--seek and --frames' cmp -s t2.264 t3.264
    encode in.y4m -o t4.264 --seek 3 --frames 4
    encode in.y4m -o t5.264 --seek 00:00:00.12 --duration 160ms
    ok 'by times' cmp -s t4.264 t5.264
    encode in.y4m -o t5.264 --seek 0.1s --duration 0.15 # between two frames
    ok 'by times between frames' cmp -s t4.264 t5.264
    encode in.y4m -o t5.264 --seek 4 --frames 3
    ok '--seek in y4m' [ "$(cmp t4.264 t5.264 2>&1 | wc -l)" = 1 ]
    encode in.y4m -o /dev/null --recon /dev/null
    ok '/dev/null is still a device' [ -c /dev/null ]
    encode in.y4m -o plain.264 --partitions none --subpel full --no-deblock --aud --preset faster \
        --keyint 2 --range 8
    ok 'options change the stream' [ "$(cmp plain.264 ref.264 2>&1 | wc -l)" = 1 ]
    encode in.y4m -o one.264 --keyint 3 --gop-coders 1
    encode in.y4m -o many.264 --keyint 3 --gop-coders 5 --recon lanes_r.y4m --stats lanes.json
    ok 'any number of lanes gives the same stream' cmp -s one.264 many.264
    "$motus" encode in.y4m -o t.264 >stdout 2>err
    ok 'a summary on stderr' grep -q '^quality  *PSNR Y' err
    ok 'nothing on stdout' [ ! -s stdout ]
    ok 'no live line in a pipe' [ "$(tr -d '\n' <err | tr -d '[:print:]' | wc -c)" = 0 ]
    no_parts || fail 'a part is left'
}

odd_sizes() {
    runs synth odd.y4m --size 35x19 --frames 3 --pan 1,0
    "$motus" encode odd.y4m -o odd.264 --recon odd_r.y4m 2>err
    ok 'odd sizes are encoded' [ $? = 0 ]
    ok 'with a note' grep -q '^motus: odd.y4m: note: 35x19 is cropped to 34x18' err
    ok 'cropped' grep -q 'W34 H18' <(head -1 odd_r.y4m)
    "$motus" encode odd.y4m -o odd.264 --quiet 2>err
    ok 'told with --quiet, too' grep -qx 'motus: odd.y4m: note: 35x19 is cropped to 34x18.*' err
    "$motus" encode odd.y4m -o odd.264 --log-level error --strict 2>err
    ok 'with --strict the lost row and column are a failure' [ $? = 1 ]
    ok 'of which --log-level error says nothing' [ ! -s err ]
    "$motus" encode in.y4m -o t.264 --log-level warning --strict 2>err
    ok '--strict without a loss, --log-level without a summary' [ "$? $(wc -c <err)" = '0 0' ]
    "$motus" encode odd.y4m -o - >&- 2>err
    ok 'a closed standard output is not there' grep -q \
        '^motus: standard output: Bad file descriptor' err
    encode tiny.y4m -o tiny.264 --recon tiny_r.y4m
    ok '2x2' grep -q 'W2 H2' <(head -1 tiny_r.y4m)
}

# mb_types FILE.json TYPES: the number of MBs of these types.
mb_types() {
    local type n=0
    for type in $2; do n=$((n + $("$json" "$1" "mb_types.$type"))); done
    echo $n
}

statistics() {
    local values
    encode in.y4m -o t.264 --stats t.json --qp 30 --keyint 5 --bframes 0
    values=$("$json" t.json input size.width size.height frames settings.qp backend seconds fps \
        bytes kbps psnr_y psnr_u psnr_v ssim mb_types.P_Skip mb_types.I_8x8 partitions.16x16 \
        partitions.4x4 per_frame.# per_frame.0.type per_frame.0.qp per_frame.1.qp \
        per_frame.11.bits per_frame.11.psnr_y complete 2>err) || fail "statistics lack a field"
    # shellcheck disable=SC2086
    set -- $values
    ok 'input' [ "$1" = in.y4m ]
    ok 'size' [ "$2x$3" = 64x48 ]
    ok 'frames' [ "$4/${19}" = 12/12 ]
    ok 'settings' [ "$5" = 30 ]
    ok 'backend' [ "$6" = cpu ]
    ok 'bytes' [ "$9" = "$(stat -c %s t.264)" ]
    ok 'types and QPs' [ "${20} ${21} ${22}" = 'I 27 30' ]
    ok 'complete' [ "${25}" = true ]
    ok 'every MB has a type' [ $((12 * 12)) = \
        "$(mb_types t.json 'P_Skip P_16x16 P_16x8 P_8x16 P_8x8 I_4x4 I_8x8 I_16x16 I_PCM')" ]
    encode in.y4m -o i.264 --stats i.json --keyint 1 --qp 30
    ok 'Intra8x8 in High' [ "$(mb_types i.json I_8x8)" -gt 0 ]
    encode in.y4m -o i.264 --stats i.json --keyint 1 --qp 30 --profile main
    ok 'not in Main' [ "$(mb_types i.json I_8x8)" = 0 ]
    if command -v ffmpeg >/dev/null && "$json" t.json per_frame.0.recon_md5 >/dev/null 2>&1; then
        ffmpeg -v error -i t.264 -fps_mode passthrough -f framemd5 - | grep -v '^#' |
            awk '{ print $NF }' >their.md5
        grep -o '"recon_md5":"[0-9a-f]*"' t.json | cut -d '"' -f 4 >our.md5
        ok "MD5s of a decoder's pictures" cmp their.md5 our.md5
        ok 'as many as pictures' [ "$(wc -l <our.md5)" = 12 ]
    fi
    "$motus" encode in.y4m -o t.264 --stats - --quiet >s.json 2>err
    ok 'statistics on stdout' "$json" s.json frames
}

vectors() {
    encode in.y4m -o t.264 --mvs t.npy
    ok 'csv header' [ "$(head -1 ref.csv)" = frame,x,y,mv_x,mv_y,w,h,skip,list,distance ]
    local rows header
    rows=$(($(wc -l <ref.csv) - 1))
    header=$((10 + $(od -An -tu2 -j8 -N2 t.npy)))
    ok 'npy rows' [ "$(stat -c %s t.npy)" = $((header + 18 * rows)) ]
    ok 'npy alignment' [ $((header % 64)) = 0 ]
    ok 'npy shape' grep -aq "'shape': ($rows,)" t.npy
    ok 'every block of a P picture once' \
        [ "$(awk -F, 'NR > 1 && $1 == 1 {
            twice += seen[$2, $3, $9]++ # in one list
            if (!area[$2, $3]++) n += $6 * $7
        } END {print n % 256, twice + 0}' ref.csv)" = '0 0' ]
    # The background moves by +1.5, -0.25 samples: most vectors say so.
    encode in.y4m -o t.264 --mvs t.csv --bframes 0
    ok 'vectors are those of the pan' \
        [ "$(tail -n +2 t.csv | cut -d, -f4,5 | sort | uniq -c | sort -rn |
        awk 'NR == 1 {print $2}')" = -6,1 ]
}

search_fields() {
    local n rows=$((11 * 12 * 41)) header=384
    runs search in.y4m -o field.csv
    ok 'field header' [ "$(head -1 field.csv)" = frame,mb,block,w,h,x,y,mv_x,mv_y,sad,cost ]
    ok 'field rows' [ "$(wc -l <field.csv)" = $((rows + 1)) ]
    ok 'field finds the pan' \
        [ "$(awk -F, '$4 == 16 && $5 == 16 {print $8, $9}' field.csv | sort | uniq -c | sort -rn |
        awk 'NR == 1 {print $2, $3}')" = '-6 1' ]
    for n in 1 3; do
        runs search in.y4m -o f$n.csv --threads $n
        ok "field of $n threads" cmp -s f$n.csv field.csv
    done
    runs search in.y4m -o field.npy
    ok 'field in npy' [ "$(stat -c %s field.npy)" = $((header + 25 * rows)) ]
    ok 'npy shape' grep -aq "'shape': ($rows,)" field.npy
    runs search in.y4m -o part.csv --modes 16x16,8x8 --frames 3
    ok 'modes and frames' cmp -s part.csv \
        <(awk -F, 'NR == 1 || ($1 < 3 && (($4 == 16 && $5 == 16) || ($4 == 8 && $5 == 8)))' \
        field.csv)
    "$motus" search in.y4m -o - --subpel full --range 4 >full.csv 2>err
    ok 'field to a pipe' [ ! -s err ]
    # shellcheck disable=SC2016
    ok 'whole samples within the range' \
        awk -F, 'NR > 1 && ($8 % 4 || $9 % 4 || $8 > 16 || $8 < -16 || $10 != $11) {exit 1}' \
        full.csv
    local level
    for level in half quarter best; do
        runs search in.y4m -o $level.csv --subpel $level --range 4 --lambda 800
    done
    # shellcheck disable=SC2016
    ok 'best costs less than quarter, quarter less than half' \
        awk -F, 'FNR == 1 {n++} FNR > 1 {j[n] += $11} END {exit !(j[3] < j[2] && j[2] < j[1])}' \
        half.csv quarter.csv best.csv
    ok 'and has the same rows' cmp -s <(cut -d, -f-7 quarter.csv) <(cut -d, -f-7 best.csv)
    "$motus" search cut.y4m -o cut.csv 2>err
    ok 'a cut last frame is a warning' [ $? = 0 ]
    ok 'which is said' grep -q '^motus: cut.y4m: ends inside frame 3' err
    no_parts || fail 'a part is left'
}

interrupts() {
    mkfifo pipe
    local signal number pid name
    for signal in INT TERM; do
        number=$([ $signal = INT ] && echo 130 || echo 143)
        rm -f int.264 int.json
        env --default-signal=INT "$motus" encode - -o int.264 --qp 26 --stats int.json --quiet \
            <pipe 2>err &
        pid=$!
        exec 3>pipe
        cat in.y4m >&3
        until [ -n "$(find . -name 'int.264.motus-*')" ] || ! kill -0 $pid; do sleep 0.05; done
        sleep 1
        kill -$signal $pid
        wait $pid
        ok "exit status after SIG$signal" [ $? = "$number" ]
        exec 3>&-
        encode in.y4m -o t.264 --qp 26 --frames "$("$json" int.json frames)"
        ok 'the stream so far is whole' cmp -s int.264 t.264
        ok 'statistics say that it was cut short' [ "$("$json" int.json complete)" = false ]
        ok 'no part' no_parts
    done
    # The second signal is for good, but leaves no part.
    env --default-signal=INT "$motus" encode - -o int.264 --quiet <pipe 2>err &
    pid=$!
    exec 3>pipe
    cat in.y4m >&3
    sleep 0.5
    kill -STOP $pid
    kill -INT $pid && kill -TERM $pid
    kill -CONT $pid
    wait $pid
    ok 'exit status after two signals' [ $? -gt 128 ]
    exec 3>&-
    ok 'no part after two signals' no_parts
    # Waiting for the first byte, and for a container's.
    for name in - pipe; do
        env --default-signal=INT "$motus" encode "$name" -o none.264 <pipe 2>err &
        pid=$!
        exec 3>pipe
        until grep -qE '^SigCgt:.*[1-9a-f]' /proc/$pid/status || ! kill -0 $pid; do sleep 0.05; done
        sleep 0.5
        kill -INT $pid
        wait $pid
        ok "exit status while waiting for the first byte of $name" [ $? = 130 ]
        exec 3>&-
        ok 'one line says so' [ "$(wc -l <err)" = 1 ]
        ok 'nothing is there' [ ! -e none.264 ]
    done
    # A reader that has stopped reading.
    mkfifo slow
    env --default-signal=INT "$motus" encode in.y4m -o slow --qp 0 --recon /dev/null --quiet 2>err &
    pid=$!
    exec 4<slow
    sleep 0.3
    wait $pid
    ok 'a slow reader is waited for' [ $? = 0 ]
    exec 4<&-
}

# loses PATTERN ARGUMENT...: an encode with --quiet says that something is lost, and fails with
# --strict alone.
loses() {
    local pattern=$1
    shift
    "$motus" encode "$@" --quiet 2>err
    ok "a loss is no failure: $*" [ $? = 0 ]
    ok "a loss is told: $pattern" grep -q "$pattern" err
    "$motus" encode "$@" --quiet --strict 2>err
    ok "a loss with --strict: $*" [ $? = 1 ]
}

losses() {
    printf '1\n00:00:00,100 --> 00:00:00,200\nHello\n\n' >subs.srt
    ffmpeg -v error -i in.y4m -i subs.srt -map 0 -map 1 -c:v mpeg4 -c:s copy subs.mkv
    loses 'note: left out, a byte stream holds .*: subtitle subrip' subs.mkv -o t.264
    "$motus" filter subs.mkv -o t.y4m --equalize --quiet 2>err
    ok 'filter tells what it leaves out' grep -q \
        't.y4m: note: left out, .* pictures only: subtitle subrip' err
    {
        ffmpeg -v error -y -display_rotation 90 -i t.mp4 -c copy turned.mp4 ||
            ffmpeg -v error -y -i t.mp4 -c copy -metadata:s:v:0 rotate=90 turned.mp4
    } 2>err
    loses 'note: left out, a byte stream holds .*: rotation by' turned.mp4 -o t.264
    encode turned.mp4 -o t2.mp4 --strict
    ffmpeg -v error -i t3.mp4 -i subs.srt -map 0 -map 1 -c copy -c:s mov_text -metadata title=Name \
        -metadata com.maker=me -movflags use_metadata_tags kept.mp4
    encode kept.mp4 -o t2.mp4 --strict
    # tags_of FILE: its codecs and tags, sorted.
    tags_of() {
        ffprobe -v error -show_entries stream=codec_name:format_tags=title,com.maker \
            -of default=nw=1 "$1" | sort
    }
    ok 'subtitles and tags are kept in MP4' cmp <(tags_of kept.mp4) <(tags_of t2.mp4)
    ok 'there are some' [ "$(tags_of t2.mp4 | grep -cE '=(mov_text|Name|me)$')" = 3 ]
    encode subs.mkv -o t2.mp4 --strict
    encode kept.mp4 -o t2.mkv
    for name in mp4:mov_text mkv:subrip; do
        ok "subtitles in $name" cmp subs.srt <(ffmpeg -v error -i "t2.${name%:*}" -map 0:s -f srt -)
        ok "as $name" grep -q "${name#*:}" <(tags_of "t2.${name%:*}")
    done
    loses 'left out, MPEG-TS .*: subtitle mov_text, tags title, com.maker$' kept.mp4 -o t2.ts
    # Messages must not go into a file that got number 2.
    "$motus" encode kept.mp4 -o closed.ts 0>&- 1>&- 2>&-
    ok 'descriptors 0 to 2 may be closed' cmp -s closed.ts t2.ts
}

containers() {
    local ending line sum whole
    local usual='h264 64x48 25/1 packets=12 key=3 first=0.0000 end=0.4800 avcc=1'
    whole=$("$probe" ref.y4m | sed 's/.*sum=//')
    for ending in mp4 mkv mov; do
        encode in.y4m -o t.$ending --keyint 5 --recon t.y4m
        line=$("$probe" t.$ending 2>err) || fail "$ending does not decode cleanly"
        sum=$("$probe" t.y4m | sed 's/.*sum=//')
        ok "$ending: $line" grep -qx "$usual frames=12 sum=$sum" <<<"$line"
        encode in.y4m -o t2.$ending --keyint 5
        ok "$ending is the same each time" cmp -s t.$ending t2.$ending
        encode in.y4m -o t2.$ending --keyint 5 --profile high --backend cpu
        ok "$ending: avcC of High" grep -aqP '\xFD\xF8\xF8\x00' t2.$ending
    done
    encode in.y4m -o ntsc.mp4 --fps 30000/1001
    ok 'the rate reaches the container' grep -q ' 30000/1001 .* end=0.4004 ' <("$probe" ntsc.mp4)
    for ending in mp4 mov mkv ts; do
        encode in.y4m -o fmt --format $ending
        ok "--format $ending" grep -q "^h264 64x48 .*frames=12 sum=$whole" <("$probe" fmt 2>err)
        encode in.y4m -o t3.$ending --stats t.json
    done
    encode in.y4m -o t.mp4 --fragment --keyint 5
    ok 'fragments' grep -q "packets=12 .*frames=12" <("$probe" t.mp4 2>err)
    ok 'there are some' grep -q moof t.mp4
    ls t.mp4.* 2>/dev/null && fail 'fragments are built beside a file that is not there'
    (ulimit -f 16 &&
        exec "$motus" encode in.y4m -o cut.mp4 --fragment --keyint 1 --qp 0 --fps 4 --bframes 0 \
            --quiet) 2>err
    ok 'a full disk' [ $? = 1 ]
    ok 'is told, with what stays' grep -qx \
        'motus: cut.mp4: what was written stays; it plays up to its last whole fragment' err
    ok 'and plays' grep -Eq '^h264 64x48 .* frames=[4-7] ' <("$probe" cut.mp4 2>/dev/null)
    encode in.y4m -o cut.mp4 --fragment --keyint 5
    ok 'and is replaced' cmp -s cut.mp4 t.mp4
    # A playlist without an end may grow: it is read from its beginning and waited for, until a
    # signal comes.
    "$motus" synth longer.y4m --size 64x48 --frames 96 2>err
    encode longer.y4m -o longer.ts
    printf '#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:3.84,\nlonger.ts\n' >live.m3u8
    "$motus" encode live.m3u8 -o live.mp4 --qp 26 --quiet 2>err &
    local pid=$!
    until [ -n "$(find . -name 'live.mp4.motus-*')" ] || ! kill -0 $pid; do sleep 0.05; done
    sleep 1
    kill -TERM $pid
    wait $pid
    ok 'a growing playlist ends at a signal' [ $? = 143 ]
    ok 'with what there was' grep -Eq '^h264 64x48 .* frames=[1-9][0-9] ' <("$probe" live.mp4 2>err)
    ok 'silently' [ ! -s err ]
    for ending in mp4 mkv ts; do
        "$motus" encode in.y4m -o - --format $ending 2>err >piped.$ending
        ok "$ending into a pipe" grep -q "frames=12 sum=$whole" \
            <("$probe" piped.$ending 2>/dev/null)
    done
    "$motus" encode in.y4m -o - --format mp4 2>&1 >/dev/null |
        grep -q 'note: is no file, so MP4 is written in fragments' ||
        fail 'fragments into a pipe are not told'
    { printf '\0\0\0\024ftypqt  \0\0\0\0qt  \0\0\020\0mdat' && head -c 2000 /dev/zero; } >bad.mov
    refused 1 'bad.mov: libavformat cannot open it: .* .moov atom not found.' encode bad.mov \
        -o out.264
    encode t.mkv -o again.264 --frames 3
    for ending in mp4 mkv ts; do
        encode t3.$ending -o t2.264 --seek 3 --frames 4
        encode t3.$ending -o t4.264 --seek 120ms --duration 00:00:00.16
        ok "--seek and --duration by times in $ending" cmp -s t2.264 t4.264
    done
    encode t3.mp4 -o t4.mp4 --seek 0.12s --duration 0.16
    ok 'into a container' grep -q ' packets=4 .* first=0.0000 end=0.1600 ' <("$probe" t4.mp4)
    refused 1 't3.mp4: ends before 00:01:30 .--seek.' encode t3.mp4 -o out.264 --seek 00:01:30
    { echo FRAME && head -c 8192 /dev/zero; } | y4m 'W64 H64 F25:1 C422'
    loses '^motus: bad.y4m: note: its pictures .yuv422p. are converted to 8-bit' bad.y4m -o conv.264
    { echo FRAME && head -c 12288 /dev/zero; } | y4m 'W64 H64 F25:1 C420p10'
    loses '^motus: bad.y4m: note: its pictures .yuv420p10le. are converted to 8-bit' bad.y4m \
        -o conv.264
    { echo FRAME && head -c 4096 /dev/zero; } | y4m 'W64 H64 F25:1 Cmono'
    encode bad.y4m -o conv.264 --strict
    ! command -v ffmpeg >/dev/null || losses
}

other_commands() {
    "$motus" --version | grep -qx 'motus [0-9.]*' || fail version
    "$motus" info | grep -q '^backend cpu *usable' || fail info
    local command
    for command in encode search view synth bench info; do
        "$motus" $command --help | grep -q '^usage: motus ' || fail "$command --help"
    done
    runs synth a.y4m --size 48x32 --frames 4 --objects 2 --noise 3 --seed 5 --cut 3 \
        --vectors a.csv --grid 8
    runs synth b.y4m --size 48x32 --frames 4 --objects 2 --noise 3 --seed 5 --cut 3
    ok 'synth repeats itself' cmp -s a.y4m b.y4m
    ok 'true vectors: none in the first frame of a scene' [ "$(wc -l <a.csv)" = $((1 + 2 * 24)) ]
    "$motus" synth - --size 48x32 --frames 4 --objects 2 --noise 3 --seed 5 --cut 3 2>/dev/null |
        cmp -s - a.y4m
    ok 'synth to a pipe' [ $? = 0 ]
    "$motus" bench me --size 64x48 --frames 3 --json >b.json 2>err
    ok 'bench me' "$json" b.json cpu full.fps_median quarter.fps_best best.fps_median \
        full.mb_points_per_second
    "$motus" bench encode --size 64x48 --frames 3 --runs 2 --json >b.json 2>err
    ok 'bench encode' "$json" b.json encode.fps_median encode.fps_best kbps
    "$motus" bench latency --size 64x48 --rate 200,500 --encoders 1,2 --pictures 20 --keyint 9 \
        --backend cpu --beside 'sleep 100' --settle 0 --json >b.json 2>err
    ok 'bench latency' "$json" b.json rows.0.median_ms rows.3.p99_ms rows.3.i_median_ms rows.3.late
    bench_filters
}

# OpenCV's results must be near ours (equalization rounds otherwise): a time of another job would be
# no comparison.
bench_filters() {
    "$motus" bench filters --quick --json >b.json 2>err
    ok 'bench filters' "$json" b.json cpu rows.0.scalar_ms rows.10.cores_ms
    if [ "$("$json" b.json opencv)" = null ]; then
        ok 'no row of OpenCV without it' bash -c '! grep -q opencv_ b.json'
        ok 'and the table says so' grep -qx 'opencv   not in this build' \
            <("$motus" bench filters --quick 2>err)
    else
        ok "OpenCV's times" "$json" b.json rows.{0,1,6,7,8}.opencv_ms \
            rows.{0,1,6,7,8}.opencv_cores_ms
        # shellcheck disable=SC2016
        ok "OpenCV's results" awk '/opencv_distance/ && $2 + 0 >= 0.7 {exit 1}' b.json
    fi
}

"$motus" synth in.y4m --size 64x48 --frames 12 --pan 1.5,-0.25 --objects 1 || exit 1
"$motus" synth tiny.y4m --size 2x2 --frames 2 --pan 1,0 || exit 1
head -c $((4 * 4614)) in.y4m >cut.y4m
head -c 200 in.y4m >cut0.y4m
encode in.y4m -o ref.264 --recon ref.y4m --mvs ref.csv
usage_errors
bad_inputs
bad_outputs
old_output_survives
output_names
foreign_words
old_outputs
progress_objects
cut_input
main_paths
odd_sizes
statistics
vectors
search_fields
interrupts
[ -z "$probe" ] || containers
other_commands
checks_done
