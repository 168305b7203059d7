"""Compares two answers to lost pictures: a kept reference, or a key picture.

    python3 lost_pictures.py in.y4m ...     (YUV 4:2:0) prints bits and PSNR

Of the pictures 5 % are lost; the encoder hears of each one to three pictures late."""
# SPDX-License-Identifier: BSD-2-Clause
import random
import sys

import numpy as np

import motus

PERCENT, LATE, QP = 5, 3, 28


def read(path: str) -> tuple[int, int, float, list[np.ndarray]]:
    """Returns width, height, frames a second, and frames of [height * 3 / 2, width]."""
    with open(path, "rb") as file:
        tags = {tag[0]: tag[1:] for tag in file.readline().decode().split()[1:]}
        width, height = int(tags["W"]), int(tags["H"])
        num, den = map(int, tags["F"].split(":"))
        size, frames = width * height * 3 // 2, []
        while file.readline() and len(data := file.read(size)) == size:
            frames.append(np.frombuffer(data, np.uint8).reshape(height * 3 // 2, width))
    return width, height, num / den, frames


def code(clip: tuple[int, int, float, list[np.ndarray]], keep: int, percent: int) -> list:
    """Returns bits, key pictures, mean PSNR, losses."""
    width, height, fps, frames = clip
    chance, told, losses, packets = random.Random(1), {}, 0, []
    with motus.Encoder(width, height, fps, layout="I420", qp=QP, keyint=0,
                       keep_references=keep) as encoder:
        for number, frame in enumerate(frames):
            for lost in told.pop(number, ()):
                encoder.reference_lost(lost)
            encoder.send(frame)
            packets.append(encoder.receive(None))
            if number and chance.random() * 100 < percent:
                losses += 1
                told.setdefault(number + chance.randint(1, LATE), []).append(number)
    bits = 8 * sum(len(p.data) for p in packets)
    return [bits, sum(p.is_key for p in packets), np.mean([p.psnr for p in packets]), losses]


def main() -> None:
    print("sequence: losses; kbit without losses; with 4 and 8 kept references, with key pictures "
          "(more bits, key pictures, PSNR)")
    for path in sys.argv[1:]:
        clip = read(path)
        base = code(clip, 0, 0)
        tried = [code(clip, keep, PERCENT) for keep in (4, 8, 0)]
        text = "; ".join(f"{100 * (bits / base[0] - 1):+.1f} %, {n - 1}, {psnr - base[2]:+.2f} dB"
                         for bits, n, psnr, *_ in tried)
        print(f"{path}: {tried[0][3]}; {base[0] / 1000:.0f}; {text}", flush=True)


if __name__ == "__main__":
    main()
