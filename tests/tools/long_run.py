#!/usr/bin/env python3
"""Encodes many pictures, samples the memory on host and GPU, and kills encodes at random times.

    long_run.py MOTUS FILE.y4m [--pictures 20000] [--kills 12] [-- OPTIONS OF motus encode]

FILE goes in again and again through a pipe. Memory is sampled every fifth of a second: the
process's (VmRSS), the device's (nvidia-smi, all programs). It may grow after the first third by 2
per cent and 8 MiB at most. Kills (SIGKILL, every third SIGTERM) come after the first bytes: the
remaining file must begin like the whole stream. After SIGTERM it must end with a whole picture,
under the output's name. A kill before the first picture must leave nothing under that name."""
# SPDX-License-Identifier: BSD-2-Clause
import argparse
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time


def feed(pipe, path, pictures, sent):
    """Sends the pictures of a .y4m, again and again; sent[0] counts. With 0 pictures the pipe stays
    open behind the header."""
    data = open(path, "rb").read()
    head = data.index(b"\n") + 1
    size = len(data) - head
    if data.count(b"FRAME", head) > 1:
        size = 5 + re.search(b"FRAME[ \n]", data[head + 5:]).start()
    n = (len(data) - head) // size
    try:
        pipe.write(data[:head])
        pipe.flush()
        for i in range(pictures):
            pipe.write(data[head + i % n * size:head + (i % n + 1) * size])
            sent[0] = i + 1
        if pictures:
            pipe.close()
    except (BrokenPipeError, ValueError):
        pass


def start(args, output, pictures):
    sent = [0]
    process = subprocess.Popen([args.motus, "encode", "-", "-o", output, "--quiet", *args.options],
                               stdin=subprocess.PIPE, cwd=args.folder)
    thread = threading.Thread(target=feed, args=(process.stdin, args.file, pictures, sent),
                              daemon=True)
    thread.start()
    return process, sent


def outputs(args, name):
    """Returns the files of an output, temporary ones included, and their bytes."""
    found = glob.glob(os.path.join(args.folder, name + "*"))
    try:
        return found, sum(map(os.path.getsize, found))
    except OSError:  # renamed meanwhile
        return outputs(args, name)


def wait_for(args, process, name, least):
    """Waits until an output has so many bytes. Returns False once the program has ended, or after
    two minutes."""
    end = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < end:
        found, size = outputs(args, name)
        if found and size >= least:
            return True
        time.sleep(0.002)
    return False


def host_mib(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            sizes = [line.split()[1] for line in file if line.startswith("VmRSS")]
            return int(sizes[0]) / 1024 if sizes else None
    except OSError:
        return None


def device_mib():
    if not shutil.which("nvidia-smi"):
        return None
    used = os.environ.get("CUDA_VISIBLE_DEVICES")  # else the memory of all devices
    chosen = ["-i", used] if used else []
    out = subprocess.run(["nvidia-smi", *chosen, "--query-gpu=memory.used",
                          "--format=csv,noheader,nounits"], capture_output=True, text=True)
    return sum(float(word) for word in out.stdout.split()) if out.returncode == 0 else None


def grows(samples, k):
    """True if column k rises after the first third: compares the maxima of the last two thirds."""
    values = [s[k] for s in samples if s[k] is not None]
    third = len(values) // 3
    return third > 0 and max(values[2 * third:]) > max(values[third:2 * third]) * 1.02 + 8


def long_encode(args):
    began = time.monotonic()
    process, sent = start(args, "whole.264", args.pictures)
    samples = []
    wait_for(args, process, "whole.264", 1)
    writes = time.monotonic()
    while process.poll() is None:
        row = time.monotonic() - began, sent[0], host_mib(process.pid), device_mib()
        if row[2] and sent[0]:
            samples.append(row)
        time.sleep(0.2)
    ended = time.monotonic()
    seconds = ended - began
    good = process.returncode == 0 and sent[0] == args.pictures
    print(f"{sent[0]} pictures in {seconds:.1f} s, {sent[0] / seconds:.0f} pictures/s, "
          f"{os.path.getsize(os.path.join(args.folder, 'whole.264')) if good else 0} bytes")
    print("    seconds  pictures   host MiB   device MiB")
    n = len(samples)
    for i in sorted({0, 1, n // 4, n // 2, 3 * n // 4, n - 2, n - 1} & set(range(n))):
        t, pictures, host, device = samples[i]
        print(f"{t:11.1f} {pictures:9} {host:10.1f} {'-' if device is None else f'{device:12.0f}'}")
    for k, name in ((2, "host"), (3, "device")):
        if grows(samples, k):
            print(f"FAILED: {name} memory grows")
            good = False
    return good, ended - writes


def whole_pictures(data):
    """Coded slices in a stream of one slice a picture."""
    starts = [i + 3 for i in find_all(data, b"\0\0\1") if i + 3 < len(data)]
    return sum(data[i] & 31 in (1, 5) for i in starts)


def find_all(data, word):
    at = data.find(word)
    while at >= 0:
        yield at
        at = data.find(word, at + 3)


def kill_early(args):
    """True if a kill before the first picture, with the output open, leaves nothing under its name.
    SIGTERM leaves no temporary file either."""
    good = True
    for kind in (signal.SIGTERM, signal.SIGKILL):
        process, _ = start(args, "early.264", 0)
        opened = wait_for(args, process, "early.264", 0)
        process.send_signal(kind)
        process.wait()
        found, size = outputs(args, "early.264")
        named = os.path.exists(os.path.join(args.folder, "early.264"))
        left = named or size or kind == signal.SIGTERM and found
        if not opened or left or process.returncode == 0:
            print(f"FAILED: {kind.name} before the first picture: {found}, {size} bytes, status "
                  f"{process.returncode}")
            good = False
        for path in found:
            os.unlink(path)
    return good


def kills(args, seconds):
    with open(os.path.join(args.folder, "whole.264"), "rb") as file:
        whole = file.read()
    chance, good, left = random.Random(int(os.environ.get("MOTUS_SEED", "1"))), True, []
    for k in range(args.kills):
        process, _ = start(args, "cut.264", args.pictures)
        kind = signal.SIGTERM if k % 3 == 2 else signal.SIGKILL
        in_time = wait_for(args, process, "cut.264", 1)
        time.sleep(chance.random() * seconds)
        in_time = in_time and process.poll() is None
        process.send_signal(kind)
        process.wait()
        found, _ = outputs(args, "cut.264")
        data = open(found[0], "rb").read() if found else b""
        named = bool(found) and found[0].endswith("cut.264")
        same = bool(data) and whole.startswith(data)
        # A plain stream's picture is whole where the next begins, or where it ended by itself.
        ended = (len(data) == len(whole)
                 or whole[len(data):len(data) + 5].startswith((b"\0\0\1", b"\0\0\0\1")))
        fine = (in_time and same and len(found) == 1 and named == (kind == signal.SIGTERM)
                and (kind == signal.SIGKILL or ended))
        left.append(whole_pictures(data))
        if not fine:
            print(f"FAILED: kill {k} ({kind.name}{'' if in_time else ', out of time'}): {found}, "
                  f"{len(data)} bytes, {'the' if same else 'not the'} stream's beginning, status "
                  f"{process.returncode}")
            good = False
        for path in found:
            os.unlink(path)
    print(f"{args.kills} kills: the beginnings of the stream, {', '.join(map(str, left))} pictures")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("motus", type=os.path.abspath)
    parser.add_argument("file", type=os.path.abspath)
    parser.add_argument("--pictures", type=int, default=20000)
    parser.add_argument("--kills", type=int, default=12)
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    args = parser.parse_args(words[:at])
    usual = "--qp 28 --preset fast --keyint 30 --gop-coders 8".split()
    args.options = words[at + 1:] or usual
    with tempfile.TemporaryDirectory() as args.folder:
        good, writing = long_encode(args)
        return 0 if good and kill_early(args) and kills(args, min(2.0, 0.5 * writing)) else 1


if __name__ == "__main__":
    sys.exit(main())
