#!/usr/bin/env python3
"""Prints made-up data for the report's page, as docs/compare.md describes them, as JSON.

usage: make_data.py [--size WxH] [--frames N] [--sequences N] [--qps 22,27,32,37]
                    [--pictures VIDEO] [--seed N] [--keep N]
  --pictures  a video whose frames are shown (ffmpeg makes them JPEG); without it there are none
  --keep      keeps the macroblocks of the first N frames only
SPDX-License-Identifier: BSD-2-Clause
"""
import argparse
import base64
import json
import random
import signal
import struct
import subprocess
import sys
import zlib

COSTS = ("sad", "satd", "j")
KEYS = ("less", "same", "more", "ours", "x264", "gain", "loss")
DISTANCE = [0, 1, 2, 4, 8, 16, 32, 64]
DIFFERENCE = [-1024, -256, -64, -16, -1, 0, 15, 63, 255, 1023]
SIZES = ["16x16", "16x8", "8x16", "8x8", "8x4", "4x8", "4x4"]
ROWS = ["skip", "16x16", "16x8", "8x16", "8x8", "I4x4", "I16x16", "PCM"]


def blocks_of(kind, sub):
    """Width and height of each block of a partition."""
    if kind <= 1:
        return [(16, 16)]
    if kind in (2, 3):
        return [(16, 8)] * 2 if kind == 2 else [(8, 16)] * 2
    if kind > 4:
        return []
    out = []
    for q in range(4):
        s = sub >> 2 * q & 3
        w, h = (4 if s & 2 else 8), (4 if s & 1 else 8)
        out += [(w, h)] * (64 // w // h)
    return out


def place(edges, value):
    return next((i for i, e in enumerate(edges) if value <= e), len(edges))


def new_figures():
    f = {"blocks": 0, "within": [0] * 5, "distance": {"edges": DISTANCE, "counts": [0] * 9},
         "difference": {"edges": DIFFERENCE, "counts": [0] * 11},
         "window": {"inside": 0, "worse": 0}, "epe": None}
    f.update({c: dict.fromkeys(KEYS, 0) for c in COSTS})
    return f


def count(f, ours, x264):
    """Adds a block: (mv, sad, satd, j) of both."""
    far = max(abs(ours[0][0] - x264[0][0]), abs(ours[0][1] - x264[0][1]))
    f["blocks"] += 1
    for i, limit in enumerate((0, 1, 2, 4, 8)):
        f["within"][i] += far <= limit
    f["distance"]["counts"][place(DISTANCE, far)] += 1
    for c, a, b in zip(COSTS, ours[1:], x264[1:]):
        s = f[c]
        s["ours"] += a
        s["x264"] += b
        s["less" if a < b else "more" if a > b else "same"] += 1
        s["gain"] += max(b - a, 0)
        s["loss"] += max(a - b, 0)
    f["difference"]["counts"][place(DIFFERENCE, ours[3] - x264[3])] += 1
    f["window"]["inside"] += 1
    f["window"]["worse"] += ours[3] > x264[3]


def add(total, f):
    for key, value in f.items():
        if isinstance(value, dict):
            add(total[key], value)
        elif isinstance(value, list) and key != "edges":
            total[key] = [a + b for a, b in zip(total[key], value)]
        elif isinstance(value, int):
            total[key] += value


class Maker:
    def __init__(self, args):
        self.args, self.rnd = args, random.Random(args.seed)
        self.width, self.height = map(int, args.size.split("x"))
        self.mbw, self.mbh = (self.width + 15) // 16, (self.height + 15) // 16

    def partition(self, with_intra):
        if with_intra:
            kind = self.rnd.choices(range(7), (40, 25, 8, 8, 12, 4, 3))[0]
        else:
            kind = self.rnd.choices(range(1, 5), (60, 12, 12, 16))[0]
        return kind, self.rnd.choice((0, 0, 0x1B, 0x55, 0xC0)) if kind == 4 else 0

    def costs(self, w, h, lam):
        satd = self.rnd.randrange(20, 12 * w * h // 8 + 40)
        sad, bits = satd * 9 // 10, self.rnd.choice((2, 4, 6, 8, 10))
        return sad, satd, bits, satd + (lam * bits >> 8)

    def mb(self, lam, x, y, figures, run):
        rnd, out = self.rnd, b""
        types = [self.partition(True), self.partition(False), self.partition(True)]
        for kind, sub in types:
            out += struct.pack("<BB", kind, sub)
        out += struct.pack("<6H", *(rnd.randrange(0, 90) for _ in range(6)))
        base = (int(12 * (x / self.mbw - 0.5)) + rnd.randrange(-1, 2),
                int(9 * (y / self.mbh - 0.5)))
        out += struct.pack("<2h", *base)
        for w, h in blocks_of(*types[0]):
            theirs = (base[0] + rnd.randrange(-2, 3), base[1] + rnd.randrange(-1, 2))
            sad, satd, bits, j = self.costs(w, h, lam)
            ours, mine = theirs, (sad, satd, bits, j)
            if rnd.random() < 0.35:
                ours = (theirs[0] + rnd.randrange(-9, 10), theirs[1] + rnd.randrange(-5, 6))
                less = rnd.randrange(-6, 40)
                mine = (max(sad - less, 0), max(satd - less, 0), bits + 2,
                        max(satd - less, 0) + (lam * (bits + 2) >> 8))
            out += struct.pack("<4h4H2B", *theirs, *ours, sad, mine[0], satd, mine[1], bits,
                               mine[2])
            for f in (figures, run["figures"], run["by_size"][SIZES.index(f"{w}x{h}")]):
                count(f, (ours, mine[0], mine[1], mine[3]), (theirs, sad, satd, j))
        for w, h in blocks_of(*types[1]):
            sad, satd, bits, j = self.costs(w, h, lam)
            more = rnd.randrange(0, 60)
            intra = types[0][0] > 4
            costs = (65535, sad, 65535, satd) if intra else (sad + more, sad, satd + more, satd)
            out += struct.pack("<2h4HB", base[0], base[1], *costs, bits)
            if not intra:
                for f in (run["own"], run["own_by_size"][SIZES.index(f"{w}x{h}")]):
                    count(f, (base, sad, satd, j), (base, sad + more, satd + more, j + more))
        run["confusion"]["counts"][types[0][0]][types[1][0] - 1] += 1
        if types[0][0] == 4 and types[1][0] == 4:
            for q in range(4):
                row, column = types[0][1] >> 2 * q & 3, types[1][1] >> 2 * q & 3
                run["sub_confusion"]["counts"][row][column] += 1
        return out

    def bits(self, factor):
        return {"header": 60, "mode": int(factor * 300), "mv": int(factor * 500),
                "residual": int(factor * self.rnd.randrange(2000, 6000))}

    def run(self, qp):
        lam = int(256 * 2 ** ((qp - 12) / 6))
        run = {"qp": qp, "lambda_q8": lam, "figures": new_figures(), "own": new_figures(),
               "by_size": [dict(new_figures(), size=s) for s in SIZES],
               "own_by_size": [dict(new_figures(), size=s) for s in SIZES],
               "confusion": {"rows": ROWS, "columns": ROWS[1:5], "counts": [[0] * 4 for _ in ROWS]},
               "sub_confusion": {"rows": SIZES[3:], "columns": SIZES[3:],
                                 "counts": [[0] * 4 for _ in range(4)]},
               "extraction": {"compared": 1000, "equal": 1000, "only_here": 300}, "frames": []}
        for n in range(self.args.frames):
            figures, text = None, None
            if n:
                figures = new_figures()
                raw = b"".join(self.mb(lam, i % self.mbw, i // self.mbw, figures, run)
                               for i in range(self.mbw * self.mbh))
                text = base64.b64encode(zlib.compress(raw)).decode() if n < self.args.keep else None
            scale = self.mbw * self.mbh / 40 * 2 ** ((30 - qp) / 6) * (1 if n else 6)
            run["frames"].append(
                {"n": n, "type": "P" if n else "I", "psnr_y": {"x264": 36.5, "motus": 36.6},
                 "bits": {"x264": self.bits(scale), "motus": self.bits(scale * 0.97)},
                 "figures": figures, "mbs": text})
        run["bits"] = {c: {k: sum(f["bits"][c][k] for f in run["frames"])
                           for k in ("header", "mode", "mv", "residual")}
                       for c in ("x264", "motus")}
        return run

    def rd(self, coders, qps, factor):
        points = []
        for c in range(len(coders)):
            for qp in qps:
                kbps = round(factor * 900 * 2 ** ((27 - qp) / 5.2) * (1 + 0.06 * c), 3)
                points.append({"coder": c, "qp": qp, "bytes": int(kbps * 1250), "kbps": kbps,
                               "psnr_y": round(40.5 - 0.62 * (qp - 22) + 0.11 * c, 4),
                               "ssim_y": round(0.978 - 0.0042 * (qp - 22), 6),
                               "seconds": round(0.4 + 0.5 * c, 3),
                               "elapsed": round(0.5 + 0.5 * c, 3),
                               "fps": round(self.args.frames / (0.4 + 0.5 * c), 2),
                               "bits": self.bits(50)})
        return points

    def report(self, pictures):
        qps = [int(q) for q in self.args.qps.split(",")]
        coders = [{"name": "x264 medium", "coder": "x264",
                   "args": "--preset medium --profile baseline --ref 1"},
                  {"name": "x264 esa", "coder": "x264", "args": "--me esa"},
                  {"name": "motus medium", "coder": "motus", "args": "--preset medium"},
                  {"name": "motus fast", "coder": "motus", "args": "--preset fast"}]
        sequences = []
        for s in range(self.args.sequences):
            name = ("foreman", "mobile", "flower", "soccer")[s % 4] + (str(s // 4) if s > 3 else "")
            sequences.append({"name": name, "file": "sequence.y4m",
                              "width": self.width, "height": self.height,
                              "mb_width": self.mbw, "mb_height": self.mbh, "fps": [30000, 1001],
                              "frames": self.args.frames, "has_truth": False,
                              "pictures": pictures or [None] * self.args.frames,
                              "rd": self.rd(coders, qps, 1 + 0.7 * s),
                              "bd_rate": [{"anchor": a, "test": t, "psnr": -4.83 + a + 2 * (t - 2),
                                           "ssim": -5.1 + a + 2 * (t - 2) if t == 2 else None}
                                          for a in (0, 1) for t in (2, 3)],
                              "runs": [self.run(q) for q in qps]})
        total = new_figures()
        for sequence in sequences:
            for run in sequence["runs"]:
                add(total, run["figures"])
        return {"format": "motus-compare", "version": 1, "complete": True,
                "command": "motus compare </script>.y4m -o report",
                "motus": {"version": "0.2.0", "cpu": "a CPU", "instructions": "avx2"},
                "x264": {"path": "x264", "version": "0.164.3095"},
                "settings": {"range": 16, "subpel": "quarter", "criterion": "satd", "qps": qps,
                             "threads": 1, "frames": self.args.frames}, "coders": coders,
                "verdict": ["Made-up numbers: this report was written by a test.",
                            "63 % of the vectors are the same, 82 % lie within half a sample.",
                            "At the same PSNR motus needs 4.8 % fewer bits than x264 medium."],
                "how": [{"topic": "Reference",
                         "text": "Our search runs in the picture that x264’s stream decodes to."},
                        {"topic": "Measure",
                         "text": "Both vectors are judged by the same J = SATD + lambda * bits."}],
                "total": total, "viewer": {"left_out": 0, "gaps": []}, "sequences": sequences}


def read_pictures(path, frames):
    raw = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-frames:v", str(frames), "-q:v",
                          "5", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-f", "image2pipe", "-"],
                         stdout=subprocess.PIPE, check=True).stdout
    cut = [i for i in range(len(raw) - 2) if raw[i:i + 3] == b"\xff\xd8\xff"] + [len(raw)]
    return ["data:image/jpeg;base64," + base64.b64encode(raw[a:b]).decode() for a,
            b in zip(cut, cut[1:])]


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", default="96x64")
    parser.add_argument("--frames", type=int, default=5)
    parser.add_argument("--sequences", type=int, default=2)
    parser.add_argument("--qps", default="22,27,32,37")
    parser.add_argument("--pictures")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=int, default=1 << 30)
    args = parser.parse_args()
    pictures = read_pictures(args.pictures, args.frames) if args.pictures else None
    json.dump(Maker(args).report(pictures), sys.stdout, ensure_ascii=False)


if __name__ == "__main__":
    main()
