"""The page under test: its data, what it shows, and the count of checks.
SPDX-License-Identifier: BSD-2-Clause
"""
import base64
import json
import os
import shutil
import struct
import subprocess
import sys
import zlib

from make_data import blocks_of

HERE = os.path.dirname(os.path.abspath(__file__))
PLACEHOLDER = "@MOTUS_DATA@"
checks = failures = 0


def check(ok, *what):
    global checks, failures
    checks += 1
    if not ok:
        failures += 1
        print("FAILED:", *what)


def same(got, want, what):
    check(got == want, f"{what}: {got!r}, not {want!r}")


# ---- Data ----------------------------------------------------------------------------------------


def make_data(folder, motus, *options):
    command = [sys.executable, os.path.join(HERE, "make_data.py"), *options]
    if shutil.which("ffmpeg"):
        size = options[options.index("--size") + 1] if "--size" in options else "96x64"
        frames = options[options.index("--frames") + 1] if "--frames" in options else "5"
        video = os.path.join(folder, "pictures.y4m")
        subprocess.run([motus, "synth", video, "--size", size, "--frames", frames, "--pan", "3,1",
                        "--objects", "4"], check=True, stderr=subprocess.DEVNULL)
        command += ["--pictures", video]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def write_page(folder, template, data, name="index.html"):
    text = (data if isinstance(data, str)
            else json.dumps(data, ensure_ascii=False, separators=(",", ":")))
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(template.replace(PLACEHOLDER, text.replace("<", "\\u003c")))
    return path


def macroblocks(sequence, run, n):
    """Returns the sums that the page shows of each macroblock, read from the data on their own: J,
    SATD, SAD, vector bits of both; None where x264's is intra."""
    raw, at, out = zlib.decompress(base64.b64decode(run["frames"][n]["mbs"])), 0, []
    lam = run["lambda_q8"]
    for _ in range(sequence["mb_width"] * sequence["mb_height"]):
        kind, sub, own, own_sub = raw[at:at + 4]
        at += 6 + 12 + 4
        sums = dict.fromkeys(("j-x264", "j-ours", "satd-x264", "satd-ours", "sad-x264", "sad-ours",
                              "bits-x264", "bits-ours"), 0)
        vectors = []
        for _ in blocks_of(kind, sub):
            xx, xy, ox, oy, xsad, osad, xsatd, osatd, xbits, obits = (
                struct.unpack_from("<4h4H2B", raw, at))
            at += 18
            vectors.append(((xx, xy), (ox, oy)))
            for who, sad, satd, bits in (("x264", xsad, xsatd, xbits),
                                         ("ours", osad, osatd, obits)):
                for key, v in (("sad", sad), ("satd", satd), ("bits", bits),
                               ("j", satd + (lam * bits >> 8))):
                    sums[f"{key}-{who}"] += v
        at += 13 * len(blocks_of(own, own_sub))
        out.append((sums, vectors) if vectors else None)
    same(at, len(raw), "the macroblocks take up the whole text")
    return out


def number(text):
    return None if text is None else int(text.replace(",", "").replace("\u2212", "-"))


def samples(v):
    return f"{abs(v) / 4:.2f}".join(("\u2212" if v < 0 else "", ""))


# ---- Shown ---------------------------------------------------------------------------------------


def shown(browser):
    browser.wait_for("document.getElementById('canvas').dataset.frame !== undefined")
    return int(browser.run("document.getElementById('canvas').dataset.frame"))


def wait_frame(browser, n):
    browser.wait_for(f"document.getElementById('canvas').dataset.frame === '{n}'")
