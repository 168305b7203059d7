#!/usr/bin/env bash
# Tests the outputs from outside: names, defaults, progress, containers, what ends early and what is
# lost.
#   outputs_cli_test.sh MOTUS JSON_CHECK [MEDIA_PROBE]
# SPDX-License-Identifier: BSD-2-Clause
set -u
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

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
    ln -sf in.y4m in.csv
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

cut_input() {
    "$motus" encode cut.y4m -o cut.264 --quiet 2>err
    ok 'a cut last frame is no failure' [ $? = 0 ]
    ok 'but a warning' grep -q '^motus: cut.y4m: ends inside frame 3' err
    encode in.y4m -o first3.264 --frames 3
    ok 'whole frames before the cut are encoded' cmp -s cut.264 first3.264
    "$motus" encode cut.y4m -o cut.264 --quiet --strict 2>err
    ok 'with --strict it fails' [ $? = 1 ]
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

# AAC with ADTS headers into fragments, and an MP4 that a pipe cannot go back in.
adts_and_late_index() {
    local ending
    ffmpeg -v error -f lavfi -i sine=duration=3 -c:a aac -f adts sine.aac
    ffmpeg -v error -i longer.ts -i sine.aac -map 0 -map 1 -c copy adts.ts
    for ending in mp4 mov; do
        encode adts.ts -o t2.$ending --fragment --strict
        ok "AAC of MPEG-TS in fragments, $ending" \
            cmp <(ffmpeg -v error -i adts.ts -map 0:a -f md5 -) \
            <(ffmpeg -v error -i t2.$ending -map 0:a -f md5 -)
    done
    "$motus" encode adts.ts -o - --format mkv --quiet 2>err >t2.mkv
    ok "libavformat's words are told" grep -qi 'refuses them as they are (.*)$' err
    encode longer.y4m -o front.mp4 --qp 1
    ffmpeg -v error -i front.mp4 -c copy behind.mp4
    # shellcheck disable=SC2002 # a pipe is what is tested
    cat behind.mp4 | "$motus" encode - -o t2.264 2>err
    ok 'an index behind the pictures fails in a pipe' [ $? = 1 ]
    ok 'in one line' [ "$(wc -l <err)" = 1 ]
    ok 'with a hint' grep -q 'its index is behind its pictures.*faststart' err
    # shellcheck disable=SC2002
    cat front.mp4 | "$motus" encode - -o t2.264 --quiet 2>err
    ok 'in front it is read' [ $? = 0 ]
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
    adts_and_late_index
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

# Five bars of 32 samples, in gray of one and of two bytes: full range, as pictures are.
gray_inputs() {
    local bytes most value
    for bytes in 1 2; do
        most=$((256 ** bytes - 1))
        {
            printf 'P5\n160 16\n%d\n' $most
            for _ in {1..16}; do
                for value in '\000' '\100' '\200' '\300' '\377'; do
                    for _ in $(seq $((32 * bytes))); do printf '%b' "\\0${value#?}"; done
                done
            done
        } >gray.pgm
        "$motus" encode gray.pgm -o t.264 --qp 0 --recon t.y4m --quiet 2>err
        ok "gray of $most is full range" grep -aq 'XCOLORRANGE=FULL' t.y4m
        ok 'and keeps its samples' [ "$(tail -n +3 t.y4m | head -c 160 | od -An -v -tx1 -w32 |
            uniq | cut -c 2-3 | tr '\n' ' ')" = '00 40 80 c0 ff ' ]
    done
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
    gray_inputs
    { echo FRAME && head -c 4096 /dev/zero; } | y4m 'W64 H64 F25:1 Cmono'
    encode bad.y4m -o conv.264 --strict
    ! command -v ffmpeg >/dev/null || losses
}

alike output_names
old_outputs
alike progress_objects
alike cut_input
interrupts
[ -z "$probe" ] || containers
checks_done
