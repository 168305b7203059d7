#!/usr/bin/env bash
# motus view: sizes and colours of its pictures, every kind of source, and what it refuses.
#   view_test.sh MOTUS PYTHON
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
motus=$(realpath "$1") python=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

die() { echo "$*" && exit 1; }

# Prints "WIDTHxHEIGHT HUE COUNT SUM": the size, the most frequent hue of coloured pixels in steps
# of 6 degrees ("-": none), its number of pixels, and a checksum of all but the 47 rows of a small
# caption. Fails if the file is no whole PNG.
colour() {
    "$python" - "$1" <<'PY'
import collections, colorsys, struct, sys, zlib
data = open(sys.argv[1], "rb").read()
width, height = struct.unpack(">II", data[16:24])
assert data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR"
assert data[24:29] == bytes([8, 2, 0, 0, 0])
at, packed = 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    end = at + 8 + size
    assert zlib.crc32(data[at + 4:end]) == struct.unpack(">I", data[end:end + 4])[0]
    packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
    at += 12 + size
rows = zlib.decompress(packed)
stride = 3 * width + 1
assert kind == b"IEND" and len(rows) == stride * height and not any(rows[::stride])
rows = [rows[y * stride + 1:(y + 1) * stride] for y in range(height)]
counts = collections.Counter(row[i:i + 3] for row in rows for i in range(0, len(row), 3))
hues = collections.Counter()
for c, n in counts.items():
    if max(c) - min(c) > 24:
        hues[round(60 * colorsys.rgb_to_hsv(*c)[0]) % 60 * 6] += n
hue, n = hues.most_common(1)[0] if hues else ("-", 0)
print(f"{width}x{height}", hue, n, zlib.crc32(b"".join(rows[:-47])))
PY
}

view() { "$motus" view "$@" -o out.png 2>log || die "motus view $*: $(cat log)"; }

# The movement's colour, over a picture and as flow: right red, down yellow, left cyan, up violet.
# Pictures of 88x72 samples.
for case in 3,0:0 0,3:54 -3,0:192 0,-3:264; do
    pan=${case%:*} hue=${case#*:}
    "$motus" synth in.y4m --size 88x72 --frames 3 --pan "$pan" 2>log
    "$motus" encode in.y4m -o out.264 --quiet --recon recon.y4m --mvs mvs.npy
    "$motus" encode in.y4m -o out.264 --quiet --mvs mvs.csv
    view mvs.npy --picture recon.y4m --frame 2 --zoom 2
    read -r size got n _ <<<"$(colour out.png)"
    [ "$size" = 176x191 ] || die "$size" # 72 * 2 and three lines of text
    # 30 macroblocks, lines of twelve pixels
    if [ "$got" != "$hue" ] || [ "$n" -lt 200 ]; then die "arrows, pan $pan: $got $n"; fi
    cp out.png npy.png
    view mvs.csv --picture recon.y4m --frame 2 --zoom 2 # the caption names the file
    [ "$(colour npy.png)" = "$(colour out.png)" ] || die "csv and npy differ"
    for source in mvs.npy out.264 in.y4m; do
        view $source --frame 2 --style flow --zoom 1
        read -r size got n _ <<<"$(colour out.png)"
        if [ "$got" != "$hue" ] || [ "$n" -lt 3000 ]; then
            die "flow of $source, pan $pan: $size $got $n"
        fi
    done
done

# Side by side, and every style of every kind of source.
"$motus" search in.y4m -o field.npy 2>log
"$motus" synth in2.y4m --size 88x72 --frames 3 --pan 0,-3 --vectors truth.csv 2>log
view out.264 --both --zoom 1
[ "$(colour out.png | cut -d ' ' -f 1)" = 184x119 ] || die 'side by side'
view truth.csv field.npy --zoom 1
# A field reaches to the end of its MBs.
[ "$(colour out.png | cut -d ' ' -f 1)" = 184x127 ] || die 'two tables'
for style in arrows flow partitions cost bits; do
    for source in out.264 in.y4m field.npy mvs.npy; do
        view $source --picture in.y4m --style $style --zoom 1
    done
done
# All blocks of a Baseline stream are known, from a byte stream and from a container.
"$motus" synth in3.y4m --size 88x72 --frames 3 --pan 3,1 --objects 6 --noise 4 2>log
"$motus" encode in3.y4m -o out3.264 --quiet --recon recon3.y4m --mvs mvs3.npy --qp 18
"$motus" encode in3.y4m -o out3.mp4 --quiet --qp 18
for style in arrows partitions bits; do
    sums=()
    for source in mvs3.npy out3.264 out3.mp4; do
        view $source --picture recon3.y4m --frame 2 --zoom 2 --style $style
        sums+=("$(colour out.png | cut -d ' ' -f 4)")
    done
    if [ "${sums[0]}" != "${sums[1]}" ] || [ "${sums[0]}" != "${sums[2]}" ]; then
        die "$style: ${sums[*]}"
    fi
done
# An I picture is intra all over.
view out.264 --frame 0 --style partitions --zoom 1
read -r size got n _ <<<"$(colour out.png)"
[ "$n" -ge 700 ] || die "I picture: $got $n"

# A table's own costs: two macroblocks, dark violet and yellow.
printf '%s\n' frame,x,y,w,h,mv_x,mv_y,cost 1,0,0,16,16,4,0,0 1,16,0,16,16,4,0,2560 \
    1,32,0,16,16,4,0,2560 >cost.csv
view cost.csv --style cost --zoom 1
read -r size got n _ <<<"$(colour out.png)"
[ "$n" -ge 400 ] || die "costs: $got $n"

refused() { # refused STATUS PATTERN ARGUMENT...
    local status=$1 pattern=$2 got=0
    shift 2
    rm -f out2.png
    "$motus" view "$@" 2>err >log || got=$?
    if [ $got != "$status" ] || ! grep -qE -- "$pattern" err || [ "$(wc -l <err)" != 1 ] ||
        [ -e out2.png ]; then
        die "view $*: $got: $(cat err)"
    fi
}
refused 2 'source is missing' -o out2.png
refused 2 'output is missing' mvs.npy
refused 2 'must end in .png' mvs.npy -o out2.jpg
refused 2 '--style heat: must be arrows' mvs.npy -o out2.png --style heat
refused 2 '--blocks 5x5: must be' mvs.npy -o out2.png --blocks 5x5
refused 2 'a table has no pictures' mvs.npy -o out2.png --both
refused 2 'takes one source' out.264 in.y4m -o out2.png --both
ln -s in.y4m in.png
refused 2 'is the input as well' in.y4m -o in.png
refused 1 'has no vectors of picture 0 .*last picture is 2' mvs.npy -o out2.png --frame 0
refused 1 'has no vectors of picture 3' mvs.npy -o out2.png --frame 3
refused 1 'has no picture 3: it has 3' out.264 -o out2.png --frame 3
refused 1 'has no picture 3' in.y4m -o out2.png --frame 3
refused 1 'picture 0 has none before it' in.y4m -o out2.png --frame 0
refused 1 '--both: has no H.264' in.y4m -o out2.png --both
refused 1 'has no costs' mvs.npy -o out2.png --style cost
"$motus" search in.y4m -o field8.npy --modes 8x8 2>log
refused 1 'has no blocks of size 4x4' field8.npy -o out2.png --blocks 4x4
refused 1 'missing.npy: No such file' missing.npy -o out2.png
head -c 1000 mvs.npy >cut.npy
refused 1 'cut.npy: ends in row' cut.npy -o out2.png
head -c 100 mvs.npy >cut.npy
refused 1 'cut.npy: is no table of vectors' cut.npy -o out2.png
printf 'a,b\n1,2\n' >bad.csv
refused 1 'bad.csv: is no table of vectors: has no column frame' bad.csv -o out2.png
printf 'frame,x,y,w,h,mv_x,mv_y\n1,0,0,16,16,4\n' >bad.csv
refused 1 'bad.csv: row 1 is no row of numbers' bad.csv -o out2.png
printf 'frame,x,y,w,h,mv_x,mv_y\n1,0,0,0,16,4,0\n' >bad.csv
refused 1 'bad.csv: row 1 is no block' bad.csv -o out2.png
printf 'frame,x,y,w,h,mv_x,mv_y\n1,99999,0,16,16,4,0\n' >bad.csv
refused 1 'bad.csv: row 1 is no block' bad.csv -o out2.png
printf 'frame,x,y,w,h,mv_x,mv_y\n' >bad.csv
refused 1 'has no vectors at all' bad.csv -o out2.png
