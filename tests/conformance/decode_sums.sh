#!/usr/bin/env bash
# decode_sums.sh FOLDER: decodes every stream that `gpu_grid --keep` left in FOLDER, with
# libavcodec, and compares its pictures with the sums beside it.
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
cd "${1:?a folder}"
streams=0 pictures=0 failures=0
for sums in *.sums; do
    stream=${sums%.sums}.264
    # Lines of framecrc: stream, dts, pts, duration, size, sum.
    ffmpeg -nostdin -v warning -probesize 500M -f h264 -i "$stream" -fps_mode passthrough \
        -f framecrc - 2>words | sed -n 's/^0,.*, *\(0x[0-9a-f]*\)$/\1/p' >decoded
    if ! cmp -s decoded "$sums" || [ -s words ]; then
        echo "FAILED: $stream: $(diff decoded "$sums" | wc -l) lines differ; $(head -c 200 words)"
        failures=$((failures + 1))
    fi
    streams=$((streams + 1)) pictures=$((pictures + $(wc -l <"$sums")))
done
rm -f words decoded
echo "$streams streams, $pictures pictures, $failures failures"
[ $failures = 0 ]
