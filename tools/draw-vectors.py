#!/usr/bin/env python3
"""Draws the motion vectors of one picture over it.

usage: draw-vectors.py RECON.y4m VECTORS.csv OUT.png [--frame N] [--stretch X]

The files are what `motus encode --recon RECON.y4m --mvs VECTORS.csv` writes. The picture is enlarged twice; thin lines are the borders of coded
blocks. A block's vector is a line in the colour of its direction that ends in a dot at the block's centre and begins where the block was in
the picture before, X times as far away as it was (2). Macroblocks without any line are intra. Needs Python's own modules only.
SPDX-License-Identifier: BSD-2-Clause
"""
import argparse
import colorsys
import csv
import math
import struct
import sys
import zlib

ZOOM = 2
GREYS, HUES = 12, 24
BORDER, FIRST_HUE = GREYS, GREYS + 1  # places in the palette


def palette():
    greys = [(54 + 11 * i,) * 3 for i in range(GREYS)]
    hues = [tuple(round(255 * c) for c in colorsys.hsv_to_rgb(i / HUES, 0.75, 1)) for i in range(HUES)]
    return greys + [(28, 28, 28)] + hues


def read_luma(path, number):
    """Width, height and luma of one picture of a 4:2:0 .y4m file."""
    with open(path, "rb") as file:
        tags = file.readline(256).decode("ascii", "replace").split()
        values = {tag[0]: tag[1:] for tag in tags[1:]}
        if tags[:1] != ["YUV4MPEG2"] or "W" not in values or "H" not in values:
            sys.exit(f"{path}: not a .y4m file")
        width, height, format_ = int(values["W"]), int(values["H"]), values.get("C", "420")
        if not format_.startswith("420") or "p1" in format_:
            sys.exit(f"{path}: not 8-bit 4:2:0")
        chroma = 2 * ((width + 1) // 2) * ((height + 1) // 2)
        for _ in range(number + 1):
            if not file.readline().startswith(b"FRAME"):
                sys.exit(f"{path}: has no picture {number}")
            luma = file.read(width * height)
            file.seek(chroma, 1)
    if len(luma) < width * height:
        sys.exit(f"{path}: picture {number} is cut short")
    return width, height, luma


class Canvas:
    """Palette indices, ZOOM of them a sample each way."""

    def __init__(self, width, height, luma):
        self.width, self.height = ZOOM * width, ZOOM * height
        self.rows = []
        for y in range(height):
            row = bytes(v * GREYS // 256 for v in luma[y * width:(y + 1) * width] for _ in range(ZOOM))
            self.rows += [bytearray(row) for _ in range(ZOOM)]

    def square(self, x, y, size, colour):
        for v in range(max(y, 0), min(y + size, self.height)):
            for u in range(max(x, 0), min(x + size, self.width)):
                self.rows[v][u] = colour

    def outline(self, x, y, w, h):
        """Left and upper border; the others are the neighbours'."""
        for u in range(x, min(x + w, self.width)):
            self.rows[y][u] = BORDER
        for v in range(y, min(y + h, self.height)):
            self.rows[v][x] = BORDER

    def line(self, x0, y0, x1, y1, colour):
        steps = max(1, math.ceil(max(abs(x1 - x0), abs(y1 - y0))))
        for i in range(steps + 1):
            self.square(round(x0 + (x1 - x0) * i / steps), round(y0 + (y1 - y0) * i / steps), 2, colour)

    def png(self):
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 3, 0, 0, 0)
        colours = b"".join(bytes(c) for c in palette())
        rows = b"".join(b"\0" + row for row in self.rows)
        return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"PLTE", colours) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recon")
    parser.add_argument("vectors")
    parser.add_argument("output")
    parser.add_argument("--frame", type=int, default=1)
    parser.add_argument("--stretch", type=float, default=2)
    args = parser.parse_args()

    canvas = Canvas(*read_luma(args.recon, args.frame))
    with open(args.vectors, newline="") as file:
        blocks = [{k: int(v) for k, v in row.items()} for row in csv.DictReader(file) if int(row["frame"]) == args.frame]
    if not blocks:
        sys.exit(f"{args.vectors}: no vectors of picture {args.frame} (an I picture has none)")
    for b in blocks:
        if b["x"] * ZOOM < canvas.width and b["y"] * ZOOM < canvas.height:
            canvas.outline(ZOOM * b["x"], ZOOM * b["y"], ZOOM * b["w"], ZOOM * b["h"])
    for b in blocks:
        x, y = ZOOM * (b["x"] + b["w"] / 2), ZOOM * (b["y"] + b["h"] / 2)
        far = ZOOM * args.stretch / 4  # vectors are in quarter samples
        colour = FIRST_HUE + round(math.atan2(-b["mv_y"], -b["mv_x"]) / (2 * math.pi) * HUES) % HUES
        canvas.line(x + far * b["mv_x"], y + far * b["mv_y"], x, y, colour)
        canvas.square(round(x) - 1, round(y) - 1, 4, colour)
    with open(args.output, "wb") as file:
        file.write(canvas.png())


if __name__ == "__main__":
    main()
