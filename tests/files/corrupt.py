#!/usr/bin/env python3
"""Encodes corrupted media files: bits flipped, pieces cut out, doubled, zeroed, ends cut off.

    corrupt.py MOTUS [--keep FOLDER]

Each run must end by itself with exit status 0 or 1, and each of its lines must name the program and
the file. A stream that it writes must decode; nothing else may be left behind. MOTUS_CORRUPT=N: N
files (40); MOTUS_SEED=N sets the seed, which is printed. Exit status 77 without ffmpeg."""
# SPDX-License-Identifier: BSD-2-Clause
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import table
from recipes import RECIPES

CASES = int(os.environ.get("MOTUS_CORRUPT", "40"))
SEED = int(os.environ.get("MOTUS_SEED", "1"))
KINDS = ["bframes.mp4", "bframes.mkv", "bframes.ts", "editlist_audio.mp4", "two_audio.mkv",
         "opus.webm", "subs.mp4", "subs.mkv", "pcm.mov", "hdr.mp4", "c422.mov", "rgb.avi",
         "alpha4444.mov", "delays.gif", "interlaced.ts", "interlaced.mp4", "odd444.mkv", "full.avi",
         "sar.mpg", "cover.m4a", "still.png", "vp9.webm", "mpeg4.avi", "rate15.flv", "theora.ogv",
         "stream_b.h264", "fragmented.mp4", "raw.nut", "progressive.y4m", "interlaced.y4m"]
# Lines of the report after an encode.
REPORT = re.compile(r"(\S+: \d+x\d+, |size  |QP  |[IPB] pictures |VBV  |quality  |macroblocks |"
                    "P_8x8 parts|B samples |bits  |damage  |time  )")


def corrupt(data, dice):
    data = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 5, 20))):
        at, n = dice.randrange(len(data)), dice.choice((1, 4, 64, 1024))
        what = dice.randrange(6)
        if what <= 1:
            data[at] ^= 1 << dice.randrange(8)
        elif what == 2:
            data[at:at + n] = bytes(len(data[at:at + n]))
        elif what == 3 and len(data) > n + 64:
            del data[at:at + n]
        elif what == 4:
            data[at:at] = data[at:at + n]
        else:
            data[at:at + n] = dice.randbytes(len(data[at:at + n]))
    if dice.random() < 0.3:
        del data[dice.randrange(16, len(data)) if len(data) > 32 else 16:]
    return bytes(data)


def judge(motus, number, name):
    dice = random.Random(SEED * 1000003 + number)
    folder = tempfile.mkdtemp(dir=".")
    ending = name.rsplit(".", 1)[1]
    path = os.path.join(folder, f"in.{ending}")
    output = os.path.join(folder, "out." + dice.choice(("mp4", "mkv", "264", "ts", "mov")))
    table.write(path, corrupt(open(name, "rb").read(), dice))
    words = dice.choice(([], [], ["--fragment"] if output.endswith(("mp4", "mov")) else [],
                         ["--seek", "3"], ["--frames", "4"], ["--deinterlace", "on"], ["--strict"]))
    bad = ""
    try:
        done = subprocess.run([motus, "encode", path, "-o", output, "--backend", "cpu", "--preset",
                               "faster", "--threads", "2", *words], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120)
        said = done.stderr.decode(errors="replace")
        lines = [line for line in said.splitlines() if not REPORT.match(line)]
        if done.returncode not in (0, 1):
            bad = f"exit status {done.returncode}: {said[-3000:]}"
        elif (any(not line.startswith("motus: ") for line in lines)
              or done.returncode == 1 and not lines):
            bad = f"lines that are none: {said[-2000:]}"
        elif set(os.listdir(folder)) - {os.path.basename(path), os.path.basename(output)}:
            bad = f"left {os.listdir(folder)}"
        elif os.path.exists(output):
            # A few packets of a transport stream are too short to guess from.
            known = ["-f", "mpegts"] if output.endswith(".ts") else []
            check = subprocess.run(["ffmpeg", "-v", "error", *known, "-i", output, "-map", "0:v:0",
                                    "-f", "null", "-"], stdin=subprocess.DEVNULL,
                                   capture_output=True, text=True)
            if check.returncode or "h264" in check.stderr:
                bad = f"its output does not decode: {check.stderr[-500:]}"
        elif done.returncode == 0:
            bad = "success without an output"
    except subprocess.TimeoutExpired:
        bad = "hangs"
    if bad:
        shutil.copy(path, f"find_{number}.{ending}")
    shutil.rmtree(folder)
    return (f"case {number} ({name}, {' '.join(words)}, {output.rsplit('.', 1)[1]}): {bad}" if bad
            else "")


def main():
    motus, keep = os.path.abspath(sys.argv[1]), sys.argv[3] if len(sys.argv) > 3 else None
    if not shutil.which("ffmpeg"):
        print("SKIP (no ffmpeg)")
        return 77
    folder = keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    dice = random.Random(SEED)
    wanted = KINDS if CASES > len(KINDS) else dice.sample(KINDS, CASES)
    usable = table.make_all([recipe for recipe in RECIPES if recipe[0] in wanted])
    made = [recipe[0] for recipe in RECIPES if recipe in usable]
    print(f"MOTUS_SEED={SEED}, {len(made)} files to corrupt")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        finds = []
        for number, find in enumerate(
                pool.map(lambda n: judge(motus, n, made[n % len(made)]), range(CASES)), 1):
            if find:
                finds.append(find)
                print("FAILED:", find, flush=True)
            if number % 500 == 0:
                print(number, "done", flush=True)
    if not keep:
        shutil.rmtree(folder)
    print(f"{CASES} corrupted files, {len(finds)} failures")
    return 1 if finds or len(made) < len(wanted) * 2 // 3 else 0


if __name__ == "__main__":
    sys.exit(main())
