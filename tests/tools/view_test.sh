#!/usr/bin/env bash
# motus view: sizes and colours of its pictures, every kind of source, and what it refuses.
#   view_test.sh MOTUS PYTHON
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
# shellcheck source=tests/support/checks.sh
. "$(dirname "$0")/../support/checks.sh"
motus=$(realpath "$1") python=$2
work_folder

# colour FILE ROWS [R,G,B ...] prints "WIDTH HUE COUNT SUM LEGEND" of the picture in the first ROWS
# rows: the most frequent hue of coloured pixels in steps of 6 degrees ("-": none), its number of
# pixels, a checksum, and a checksum of what lies below. Fails if the file is no whole PNG, or if
# the legend below lacks one of the colours.
colour() {
    "$python" - "$@" <<'PY'
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
pixels = lambda rows: (row[i:i + 3] for row in rows for i in range(0, len(row), 3))
n = int(sys.argv[2])
assert height > n + 40, f"{height} rows: no legend"
below = set(pixels(rows[n:]))
for wanted in sys.argv[3:]:
    assert bytes(map(int, wanted.split(","))) in below, f"the legend lacks {wanted}"
hues = collections.Counter()
for c, many in collections.Counter(pixels(rows[:n])).items():
    if max(c) - min(c) > 24:
        hues[round(60 * colorsys.rgb_to_hsv(*c)[0]) % 60 * 6] += many
hue, many = hues.most_common(1)[0] if hues else ("-", 0)
print(width, hue, many, zlib.crc32(b"".join(rows[:n])), zlib.crc32(b"".join(rows[n:])))
PY
}

view() { "$motus" view -o out.png "$@" 2>log || die "motus view $*: $(cat log)"; }

# The movement's colour, over a picture and as flow: right red, down yellow, left cyan, up violet.
# Pictures of 88x72 samples.
for case in 3,0:0 0,3:54 -3,0:192 0,-3:264; do
    pan=${case%:*} hue=${case#*:}
    "$motus" synth in.y4m --size 88x72 --frames 3 --pan "$pan" 2>log
    "$motus" encode in.y4m -o out.264 --bframes 0 --quiet --recon recon.y4m --mvs mvs.npy
    "$motus" encode in.y4m -o out.264 --bframes 0 --quiet --mvs mvs.csv
    view mvs.npy --picture recon.y4m --frame 2 --zoom 2
    read -r size got n sum legend <<<"$(colour out.png 144 255,255,255)" # at rest
    [ "$size" = 176 ] || die "$size"
    # 30 macroblocks, heads of arrows
    if [ "$got" != "$hue" ] || [ "$n" -lt 200 ]; then die "arrows, pan $pan: $got $n"; fi
    view mvs.csv --picture recon.y4m --frame 2 --zoom 2
    read -r _ _ _ sum2 legend2 <<<"$(colour out.png 144)"
    [ "$sum" = "$sum2" ] || die "csv and npy differ"
    [ "$legend" != "$legend2" ] || die "the caption does not name the file"
    for source in mvs.npy out.264 in.y4m; do
        view $source --frame 2 --style flow --zoom 1
        read -r _ got n _ <<<"$(colour out.png 72)"
        if [ "$got" != "$hue" ] || [ "$n" -lt 3000 ]; then
            die "flow of $source, pan $pan: $got $n"
        fi
    done
done

# Names are written as they are.
cp mvs.csv Mvs.csv
view Mvs.csv --picture recon.y4m --frame 2 --zoom 2
read -r _ _ _ sum legend <<<"$(colour out.png 144)"
[ "$sum" = "$sum2" ] || die 'another picture'
[ "$legend" != "$legend2" ] || die 'the caption has capitals'

# Side by side, and every style of every kind of source.
"$motus" search in.y4m -o field.npy 2>log
"$motus" synth in2.y4m --size 88x72 --frames 3 --pan 0,-3 --vectors truth.csv 2>log
view out.264 --both --zoom 1
[ "$(colour out.png 72 | cut -d ' ' -f 1)" = 184 ] || die 'side by side'
view truth.csv field.npy --zoom 1
# A field reaches to the end of its MBs.
[ "$(colour out.png 80 | cut -d ' ' -f 1)" = 184 ] || die 'two tables'
for style in arrows flow partitions cost bits; do
    for source in out.264 in.y4m field.npy mvs.npy; do
        view $source --picture in.y4m --style $style --zoom 1
    done
done
# The legend has all that is drawn: blocks at rest or without vectors, kinds of blocks, both ends of
# a ramp.
intra=132,180,207 smallest=221,163,32
for case in flow:255,255,255:128,128,128 "partitions:$intra:$smallest" \
    cost:68,1,84:253,231,37:128,128,128 bits:68,1,84:253,231,37:128,128,128; do
    view out.264 --style "${case%%:*}" --zoom 2
    IFS=: read -ra colours <<<"${case#*:}"
    colour out.png 144 "${colours[@]}" >log
done
# All blocks of a Baseline stream are known, from a byte stream and from a container.
"$motus" synth in3.y4m --size 88x72 --frames 3 --pan 3,1 --objects 6 --noise 4 2>log
"$motus" encode in3.y4m -o out3.264 --bframes 0 --quiet --recon recon3.y4m --mvs mvs3.npy --qp 18
"$motus" encode in3.y4m -o out3.mp4 --bframes 0 --quiet --qp 18
for style in arrows partitions bits; do
    sums=()
    for source in mvs3.npy out3.264 out3.mp4; do
        view $source --picture recon3.y4m --frame 2 --zoom 2 --style $style
        sums+=("$(colour out.png 144 | cut -d ' ' -f 4)")
    done
    if [ "${sums[0]}" != "${sums[1]}" ] || [ "${sums[0]}" != "${sums[2]}" ]; then
        die "$style: ${sums[*]}"
    fi
done
# An I picture is intra all over.
view out.264 --frame 0 --style partitions --zoom 1
read -r _ got n _ <<<"$(colour out.png 72)"
[ "$n" -ge 700 ] || die "I picture: $got $n"

# A table's own costs: two macroblocks, dark violet and yellow.
printf '%s\n' frame,x,y,w,h,mv_x,mv_y,cost 1,0,0,16,16,4,0,0 1,16,0,16,16,4,0,2560 \
    1,32,0,16,16,4,0,2560 >cost.csv
view cost.csv --style cost --zoom 1
read -r _ got n _ <<<"$(colour out.png 16)"
[ "$n" -ge 400 ] || die "costs: $got $n"

# A video has every picture of its source, also those without vectors, and nothing is said.
"$motus" synth long.y4m --size 88x72 --frames 20 --pan 3,0 2>log
"$motus" encode long.y4m -o long.264 --bframes 3 --quiet --recon long-recon.y4m --mvs long.csv
for source in long.264 long.y4m long.csv; do
    view $source --picture long-recon.y4m --style flow --zoom 2 --quiet -o out.mp4
    [ ! -s log ] || die "a video of $source says $(cat log)"
    "$motus" encode out.mp4 -o again.264 --quiet --qp 4 --recon agalong.y4m
    "$python" - <<'PY'
data = open("agalong.y4m", "rb").read()
head, frames = data.split(b"\n", 1)
width, height = (int(word[1:]) for word in head.split()[1:3])
size = width * height * 3 // 2 + 6
assert len(frames) == 20 * size, f"{len(frames) / size} pictures"
for n in range(20):
    cr = frames[n * size + 6 + width * height * 5 // 4:(n + 1) * size][:72 * width // 2]
    red = sum(cr) / len(cr)
    assert abs(red - 128) < 3 if n == 0 else red > 145, (n, red)
PY
done
"$motus" view long.264 long.264 --frame 3 --frames 2 -o out.mkv
[ "$("$motus" view out.mkv --frame 2 -o out2.png 2>&1)" = \
    "motus: out.mkv: has no picture 2: it has 2" ] || die 'two pictures'
for ending in m4v mov ts; do "$motus" view long.264 --frames 2 -o out.$ending; done
# On a terminal there is a live line, unless --quiet.
"$python" - "$motus" <<'PY'
import os, pty, subprocess, sys
for quiet in ([], ["--quiet"]):
    master, slave = pty.openpty()
    subprocess.run([sys.argv[1], "view", "long.264", "-o", "out.mp4", *quiet], stderr=slave,
                   check=True)
    os.set_blocking(master, False)
    try:
        said = os.read(master, 1000)
    except BlockingIOError:
        said = b""
    assert (b"frames" in said) != bool(quiet), said
PY
# A table must have its rows in order.
printf '%s\n' frame,x,y,w,h,mv_x,mv_y 2,0,0,16,16,4,0 1,0,0,16,16,4,0 >unordered.csv
view unordered.csv --frame 1

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
refused 2 'must end in .png' mvs.npy -o out2.264
refused 2 '--frames goes with a video' mvs.npy -o out2.png --frames 2
refused 1 'row 2: a video needs the rows in the order of pictures' unordered.csv -o out2.mp4
refused 1 'has no picture 20: it has 20' long.264 -o out2.mp4 --frame 20
[ ! -e out2.mp4 ] || die 'a video without pictures'
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
