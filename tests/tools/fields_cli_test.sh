#!/usr/bin/env bash
# Tests motion fields from outside: a field that --field wrote gives the same stream through
# --mvs-in, any other field a stream, as do coded vectors (--mvs), a wrong one a line; and the
# exports of motus search.
#   fields_cli_test.sh MOTUS
# SPDX-License-Identifier: BSD-2-Clause
set -u
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
motus=$(realpath "$1")
work_folder

runs() {
    "$motus" "$@" --quiet --backend cpu 2>err
    ok "motus $*" [ $? = 0 ]
}

# unfit PATTERN ARGUMENT...: motus refuses a table.
unfit() { refused 1 "$@" --quiet --backend cpu; }

# Each option's stream, its field as a table of either kind, and the stream that this gives.
feed_back() {
    local options
    for options in '--preset slow --qp 30' '--preset medium --crf 28' '--preset fast --bitrate 60' \
        '--preset faster --qp 24' '--subpel full --qp 28' \
        '--partitions 16x16,8x8 --keyint 4 --gop-coders 2 --qp 28'; do
        # shellcheck disable=SC2086
        runs encode in.y4m -o a.264 $options --field a.npy --stats - >/dev/null
        # shellcheck disable=SC2086
        runs encode in.y4m -o b.264 $options --mvs-in a.npy --field b.csv
        ok "stream of $options" cmp -s a.264 b.264
        # shellcheck disable=SC2086
        runs encode in.y4m -o c.264 $options --mvs-in b.csv --field c.npy
        ok "stream of $options by CSV" cmp -s a.264 c.264
        ok "field of $options" cmp -s a.npy c.npy
    done
}

others() {
    runs encode in.y4m -o own.264 --qp 28 --bframes 3
    runs search in.y4m -o searched.npy --lambda 1500
    runs encode in.y4m -o searched.264 --qp 28 --mvs-in searched.npy
    ok 'a field that was searched between source pictures comes near' \
        [ $((100 * $(stat -c %s searched.264))) -lt $((120 * $(stat -c %s own.264))) ]
    "$motus" synth true.y4m --size 64x48 --frames 4 --pan 1.5,-0.25 --vectors true.csv
    runs encode true.y4m -o true.264 --qp 28 --mvs-in true.csv --mvs-final
    ok 'the true vectors are coded' [ -s true.264 ]
    runs search in.y4m -o random.csv --frames 12
    # shellcheck disable=SC2016
    awk -F, -v OFS=, \
        'BEGIN {srand(1)} NR > 1 {$8 = int(200 * rand()) - 100; $9 = int(200 * rand()) - 100} 1' \
        random.csv >r.csv
    runs encode in.y4m -o random.264 --qp 28 --mvs-in r.csv --recon r.y4m
    ok 'a random field costs bits' [ "$(stat -c %s random.264)" -gt "$(stat -c %s own.264)" ]
    if command -v ffmpeg >/dev/null; then
        ffmpeg -v error -i random.264 -f rawvideo - | md5sum >decoded.md5
        ffmpeg -v error -i r.y4m -f rawvideo - | md5sum >recon.md5
        ok 'and decodes to the reconstruction' cmp decoded.md5 recon.md5
    fi
}

# A table with one thing wrong: awk's PROGRAM makes it of the searched one.
wrong() {
    local pattern=$1
    # shellcheck disable=SC2016
    awk -F, -v OFS=, "$2" field.csv >wrong.csv
    unfit "^motus: wrong.csv: $pattern" encode in.y4m -o out.264 --mvs-in wrong.csv
}

# shellcheck disable=SC2016 # awk's own $1
wrong_fields() {
    runs search in.y4m -o field.csv --modes 16x16,8x8
    runs search in.y4m -o field.npy
    wrong 'row 8: a block at 64, 0, outside a picture of 64x48' 'NR == 9 {$6 = 64} 1'
    wrong 'picture 1 has no vector of the 16x16 block at 48, 32' \
        '!($1 == 1 && $6 >= 48 && $7 >= 32)'
    wrong 'picture 2 has no vector of the 16x16 block at 0, 0' '!($1 == 2 && $4 == 16)'
    wrong 'row 5: 8x16 at 8, 8 is no block of a macroblock' 'NR == 6 {$5 = 16} 1'
    wrong 'row 4: picture 1 has this block already' 'NR == 5 {$7 = 0} 1'
    wrong 'row 2: vector \(40000, 1\) is out of range' 'NR == 3 {$8 = 40000; $9 = 1} 1'
    wrong 'picture 3: vector \(0, 2000\) of macroblock 0, block 0, is outside' \
        '$1 == 3 && $3 == 0 && $2 == 0 {$8 = 0; $9 = 2000} 1'
    wrong 'has no vectors of picture 7, which is a P picture' '$1 != 7'
    wrong 'row 3: picture 0 is out of order' 'NR == 4 {$1 = 0} 1'
    wrong 'row 10 is no row of numbers' 'NR == 11 {$0 = "x"} 1'
    wrong 'row 10 is no row of numbers' 'NR == 11 {$0 = $0 ".5"} 1'
    wrong 'row 10 is no row of numbers' 'NR == 11 {$1 = "99999999999999999999"} 1'
    wrong 'is no table of vectors: has no column mv_x' 'NR == 1 {$8 = "dx"} 1'
    "$motus" search small.y4m -o small.npy --quiet
    unfit 'small.npy: picture 1 has no vector of the 16x16 block at 32, 0: a field of 64x48' \
        encode in.y4m -o out.264 --mvs-in small.npy
    head -c 20000 field.npy >cut.npy
    unfit 'cut.npy: ends in row 785 of 5412' encode in.y4m -o out.264 --mvs-in cut.npy
    sed 's/(5412,)/(785,) /' field.npy >few.npy
    unfit 'few.npy: has more rows than the 785 of its header' encode in.y4m -o out.264 \
        --mvs-in few.npy
    mkfifo pipe.npy
    cat few.npy >pipe.npy &
    unfit 'pipe.npy: has more rows than the 785' encode in.y4m \
        -o out.264 --mvs-in pipe.npy
    unfit 'finer than the encoder' encode in.y4m -o out.264 --mvs-in field.npy --subpel full
    unfit 'none.npy: No such file' encode in.y4m -o out.264 --mvs-in none.npy
    "$motus" encode in.y4m -o in.264 --mvs-in field.npy --field field.npy --quiet 2>err
    ok 'the field is an input' [ $? = 2 ]
}

# Coded vectors of B pictures and of several references, of either kind of table.
coded_vectors() {
    local options
    for options in '--qp 28' '--preset fast --crf 28' '--bframes 0 --ref 4 --qp 30' \
        '--bframes 2 --direct temporal --ref 2 --keyint 5 --gop-coders 2 --qp 26'; do
        # shellcheck disable=SC2086
        runs encode in.y4m -o a.264 $options --mvs a.npy
        # shellcheck disable=SC2086
        runs encode in.y4m -o a.264 $options --mvs a.csv
        # shellcheck disable=SC2086
        runs encode in.y4m -o b.264 $options --mvs-in a.npy --mvs b.csv --recon b.y4m
        # shellcheck disable=SC2086
        runs encode in.y4m -o c.264 $options --mvs-in a.csv
        ok "stream of either table of $options" cmp -s b.264 c.264
        ok "bytes of $options" \
            [ $((100 * $(stat -c %s b.264))) -lt $((105 * $(stat -c %s a.264))) ]
        ok "same pictures and lists of $options" \
            cmp -s <(cut -d, -f1,9 a.csv | sort -u) <(cut -d, -f1,9 b.csv | sort -u)
        command -v ffmpeg >/dev/null || continue
        ok "decoded pictures of $options" \
            cmp -s <(ffmpeg -v error -i b.264 -f rawvideo - | md5sum) \
            <(ffmpeg -v error -i b.y4m -f rawvideo - | md5sum)
    done
    # Other pictures than those that the table was made for.
    runs encode in.y4m -o d.264 --qp 28 --bframes 7 --ref 3 --mvs-in a.csv --mvs-final
    local rows
    # shellcheck disable=SC2016 # awk's own $1
    for rows in '$1 != 6' 'NR == 1 || $1 < 6'; do
        awk -F, "$rows" a.csv >gap.csv
        "$motus" encode in.y4m -o gap.264 --qp 28 --mvs-in gap.csv --backend cpu 2>err
        ok "searched without $rows" grep -q \
            'gap.csv: note: has no vectors of [0-9]* P and B pictures, which were searched' err
    done
}

# A table of coded vectors with one thing wrong.
wrong_coded() {
    local pattern=$1
    # shellcheck disable=SC2016
    awk -F, -v OFS=, "$2" a.csv >wrong.csv
    unfit "^motus: wrong.csv: $pattern" encode in.y4m -o out.264 --qp 28 --mvs-in wrong.csv
}

# shellcheck disable=SC2016 # awk's own $1
wrong_coded_vectors() {
    runs encode in.y4m -o a.264 --qp 28 --mvs a.csv
    wrong_coded 'row 4: distance 0 is that of no reference picture' 'NR == 5 {$10 = 0} 1'
    wrong_coded 'row 4: distance 40000 is that' 'NR == 5 {$10 = 40000} 1'
    wrong_coded 'row 3: a block at 64, ' 'NR == 4 {$2 = 64} 1'
    wrong_coded 'row 3: 5x[0-9]* at .* is no block of a macroblock' 'NR == 4 {$6 = 5} 1'
    wrong_coded 'picture 1 has two vectors of the [0-9]*x[0-9]* block at' \
        '{print} $1 == 1 && !n++'
    wrong_coded 'picture [0-9]*: the [0-9]*x[0-9]* block at .* vector \(0, 2100\) is outside the' \
        'NR == 5 {$4 = 0; $5 = 2100} 1'
    wrong_coded 'row 9: picture 0 is out of order' 'NR == 10 {$1 = 0} 1'
    wrong_coded 'row 5 is no row of numbers' 'NR == 6 {NF = 9} 1'
    "$motus" encode small.y4m -o small.264 --mvs small.csv --quiet
    "$motus" encode in.y4m -o in.264 --mvs a.npy --quiet
    unfit 'a.npy: row [0-9]*: a block at .*, outside a picture of 32x48' \
        encode small.y4m -o out.264 --mvs-in a.npy
}

# Outputs of motus search beside tables. 12 macroblocks, 11 fields.
exports() {
    local kind
    runs search in.y4m -o flow-%03d.flo --lambda 1500
    ok 'a .flo file a picture' \
        [ "$(find . -name 'flow-0*.flo' -size "$((12 + 8 * 64 * 48))c" | wc -l)" = 11 ]
    ok 'its magic and size' cmp -s <(head -c 12 flow-011.flo) <(printf 'PIEH\100\0\0\0\060\0\0\0')
    # The background moves by +1.5, -0.25 samples: -1.5, 0.25 from each picture to the one before.
    ok 'most of it is the pan' \
        [ "$(tail -c +13 flow-005.flo | od -An -v -tf4 -w8 | sort | uniq -c | sort -rn |
        awk 'NR == 1 {print $2, $3}')" = '-1.5 0.25' ]
    runs search in.y4m -o all.npy --format flow --lambda 1500
    ok 'the same as an array' cmp -s <(tail -c +129 all.npy) \
        <(for kind in flow-0*.flo; do tail -c +13 "$kind"; done)
    ok 'of this shape' grep -aq "'shape': (11, 48, 64, 2)" all.npy
    for kind in nvenc:24 nvenc-hints:36 fei:128; do
        runs search in.y4m -o "${kind%:*}.bin" --format "${kind%:*}" --lambda 1500
        ok "size of ${kind%:*}" [ "$(stat -c %s "${kind%:*}.bin")" = $((11 * 12 * ${kind#*:})) ]
    done
    runs search in.y4m -o two.flo --frames 2 --lambda 1500
    ok 'a single field' cmp -s two.flo flow-001.flo
    unfit 'out.flo: a .flo file holds one field' search in.y4m -o out.flo
    for kind in '-o out.bin' '-o out.csv --format avi' '-o out.flo --modes 8x8'; do
        # shellcheck disable=SC2086
        "$motus" search in.y4m $kind 2>err
        ok "usage: $kind" [ $? = 2 ]
    done
}

"$motus" synth in.y4m --size 64x48 --frames 12 --pan 1.5,-0.25 --objects 1 || exit 1
"$motus" synth small.y4m --size 32x48 --frames 12 --pan 1.5,-0.25 || exit 1
tables() {
    feed_back
    others
    wrong_fields
    coded_vectors
    wrong_coded_vectors
}

alike tables
exports
checks_done
