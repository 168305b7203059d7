#!/usr/bin/env bash
# tools/draw-vectors.py, run by $2, on what $1, the program motus, writes: size and colours of the picture, and what it refuses.
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
motus=$(realpath "$1") python=$2 script=$(cd "$(dirname "$0")/../tools" && pwd)/draw-vectors.py
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# pan X,Y: a background that moves so, its reconstruction and vectors, and a drawing of picture 2.
pan() {
    "$motus" synth in.y4m --size 88x72 --frames 3 --pan "$1" >log 2>&1
    "$motus" encode in.y4m -o out.264 --quiet --recon recon.y4m --mvs mvs.csv
    "$python" "$script" recon.y4m mvs.csv out.png --frame 2
}

# How often each of the palette's colours occurs, "PLACE COUNT" a line; fails where the file is no whole PNG file of 176x144 pixels.
places() {
    "$python" - out.png <<'PY'
import collections, struct, sys, zlib
data = open(sys.argv[1], "rb").read()
assert data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:29] == b"IHDR" + struct.pack(">IIBBBBB", 176, 144, 8, 3, 0, 0, 0)
at, packed = 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    assert zlib.crc32(data[at + 4:at + 8 + size]) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
    packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
    at += 12 + size
rows = zlib.decompress(packed)
assert kind == b"IEND" and len(rows) == 177 * 144
for place, n in sorted(collections.Counter(b for i, b in enumerate(rows) if i % 177).items()):
    print(place, n)
PY
}

# Most of what is drawn has the colour of the background's direction: 13 is that of movement to the right, 24 hues go round clockwise.
for case in 3,0:13 0,3:19 -3,0:25 0,-3:31; do
    pan "${case%:*}"
    main=$(places | awk '$1 >= 13' | sort -k 2 -n | tail -n 1)
    [ "${main% *}" = "${case#*:}" ] || { echo "pan ${case%:*}: most lines have colour ${main% *}" && exit 1; }
    # 30 macroblocks, a dot of 4x4 pixels each, at the least for half of them
    [ "${main#* }" -ge 240 ] || { echo "pan ${case%:*}: ${main#* } pixels" && exit 1; }
done

refused() { # refused PATTERN ARGUMENT...
    local pattern=$1
    shift
    if "$python" "$script" "$@" out2.png 2>err; then echo "accepted: $*" && exit 1; fi
    if ! grep -q "$pattern" err || [ "$(wc -l <err)" != 1 ] || [ -e out2.png ]; then echo "$*: $(cat err)" && exit 1; fi
}
refused 'no vectors of picture 0' recon.y4m mvs.csv --frame 0
refused 'has no picture 3' recon.y4m mvs.csv --frame 3
refused 'not a .y4m file' mvs.csv mvs.csv
