#!/usr/bin/env bash
# Tests the program from outside: the main paths give what they promise.
#   cli_test.sh MOTUS JSON_CHECK [MEDIA_PROBE]
# SPDX-License-Identifier: BSD-2-Clause
set -u
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

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
    encode in.y4m -o t6.264 --seek 3 --frames 1
    encode in.y4m -o t5.264 --seek 3 --duration 0.1ms
    ok 'a duration below a frame' cmp -s t6.264 t5.264
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
    "$motus" encode in.y4m -o t2.264 --no-psnr --stats t.json 2>err
    ok '--no-psnr: the same stream' cmp -s t2.264 t.264
    ok 'without its quality' [ "$(cat err t.json | grep -ciE 'psnr|ssim')" = 0 ]
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
    "$motus" bench encode --size 64x48 --frames 3 --runs 1 --preset faster --backend cpu \
        --pictures 9 --json >b.json 2>err
    ok 'bench encode --preset alone' "$json" b.json rows.0.fps latency.0.{p_median_ms,p_worst_ms}
    "$motus" bench latency --size 64x48 --rate 0,500 --encoders 1,2 --pictures 20 --keyint 9 \
        --backend cpu --beside 'sleep 100' --settle 0 --json >b.json 2>err
    ok 'bench latency' "$json" b.json rows.0.median_ms rows.3.p99_ms rows.3.i_median_ms rows.3.late
    bench_filters
}

alike foreign_words
main_paths
alike odd_sizes
statistics
alike vectors
alike search_fields
other_commands
checks_done
