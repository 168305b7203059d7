#!/usr/bin/env python3
"""Compares files before and after motus: pictures, times, length, rotation, sound, subtitles,
colour, shape.

    table.py MOTUS [--only NAME[,NAME...]] [--x264] [--out TABLE.md] [--keep FOLDER]

Makes files as people have them (recipes.py) and encodes each into .mp4, and every third into .mkv
(MOTUS_FILES=all: all into both). motus must tell each difference. --x264 also shows what ffmpeg
-c:v libx264 loses. Exit status 77 without ffmpeg."""
# SPDX-License-Identifier: BSD-2-Clause
import argparse
import concurrent.futures
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from recipes import RECIPES

CONTAINERS = ("mp4", "mkv")


def run(*command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", **more)


# ---- Making --------------------------------------------------------------------------------------


def ffmpeg(words):
    done = run("ffmpeg", "-nostdin", "-hide_banner", "-v", "error", "-y", *words)
    return done.returncode == 0, done.stderr.strip()


def rotate(degrees, source, target):
    """FFmpeg 5 takes a tag, later ones an option of the input, which counts the other way round."""
    for words in (["-display_rotation", str(-degrees), "-i", source, "-c", "copy", target],
                  ["-i", source, "-c", "copy", "-metadata:s:v:0", f"rotate={degrees}", target]):
        if ffmpeg(words)[0] and look(target)["rotation"]:
            return True, ""
    return False, "no rotation"


def step(command, target):
    words = command.replace("FILE", target).split()
    word, rest = words[0], words[1:]
    if word == "SUBTITLES":
        text = ("1\n00:00:00,100 --> 00:00:00,500\nHello\n\n"
                "2\n00:00:00,600 --> 00:00:01,000\nthere\n")
        return write(rest[0], text.encode())
    if word == "CHAPTERS":
        return write(rest[0],
                     b";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=One\n"
                     b"[CHAPTER]\nTIMEBASE=1/1000\nSTART=500\nEND=1200\ntitle=Two\n")
    if word == "REMOVE":
        os.remove(rest[0])
        return True, ""
    if word.startswith("ROTATE"):
        return rotate(int(word[6:]), *rest)
    if word in ("CUT", "DAMAGE", "HOLE", "JOIN"):
        data = b"".join(open(name, "rb").read()
                        for name in (rest[1:2] if word == "CUT" else rest[:-1]))
        if word == "CUT":
            data = data[:int(len(data) * float(rest[0]))]
        if word == "DAMAGE":  # single bytes, in the middle
            data, dice = bytearray(data), random.Random(7)
            for _ in range(12):
                data[dice.randrange(len(data) * 2 // 5,
                                    len(data) * 4 // 5)] ^= 1 << dice.randrange(8)
        if word == "HOLE":  # a piece is not there
            a = len(data) // 2 // 188 * 188
            data = data[:a] + data[a + len(data) // 6 // 188 * 188:]
        return write(rest[-1], bytes(data))
    return ffmpeg(words)


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)
    return True, ""


# ---- Looking -------------------------------------------------------------------------------------


def look(name):
    """Returns what ffprobe finds in a file: streams, times of the pictures as libavcodec returns
    them, first and last time of the sound's packets."""
    done = run("ffprobe", "-v", "error", "-of", "json", "-show_streams", "-show_format",
               "-show_chapters", "-show_packets", "-show_frames", name)
    found = json.loads(done.stdout or "{}")
    streams = found.get("streams", [])
    kinds = [s.get("codec_type") for s in streams]
    pictures = [s for s in streams if s.get("codec_type") == "video"]
    films = [s for s in pictures if not s["disposition"].get("attached_pic")]
    video = (films or pictures or [None])[0]
    if not video:
        return None
    both = found.get("packets_and_frames", [])
    frames = [f for f in both if f["type"] == "frame" and f.get("stream_index") == video["index"]]
    sound = next((s["index"] for s in streams if s.get("codec_type") == "audio"), None)
    packets = [p for p in both
               if p["type"] == "packet" and p.get("stream_index") == sound and "pts_time" in p]
    ends = [float(p["pts_time"]) + float(p.get("duration_time", 0)) for p in packets]
    container = found.get("format", {})
    # Clocks of streams cut out of broadcasts begin anywhere; pictures before zero would be hidden.
    runs = container.get("format_name") in ("mpegts", "mpeg", "hls")
    clock = float(container.get("start_time", 0)) if runs else 0
    rotation = next((d["rotation"] for d in video.get("side_data_list", []) if "rotation" in d), 0)
    tags = {key.lower(): value for key, value in video.get("tags", {}).items()}
    return {"video": video, "rotation": int(rotation) % 360, "audio": kinds.count("audio"),
            "subtitles": kinds.count("subtitle"),
            "colour": {key: video.get(key, "unknown")
                       for key in ("color_range", "color_space", "color_transfer",
                                   "color_primaries")},
            "sar": video.get("sample_aspect_ratio", "1:1"),
            "chapters": len(found.get("chapters", [])),
            "title": container.get("tags", {}).get("title"), "count": len(frames), "clock": clock,
            "default": video["disposition"].get("default"),
            "timecode": tags.get("timecode"),
            "times": [float(f["best_effort_timestamp_time"]) for f in frames
                      if "best_effort_timestamp_time" in f],
            "sound": (float(packets[0]["pts_time"]), max(ends), len(packets)) if packets else None,
            "errors": done.stderr}


# ---- Comparing -----------------------------------------------------------------------------------


def farthest(a, b):
    return max((abs(x - y) for x, y in zip(a, b)), default=0)


def differences(given, got, container):
    """(what, how, pattern that motus's output has to fit) for everything that is not equal."""
    unit = 0.00051 if container == "mkv" else 0.00002
    video, found = given["video"], []
    damage = r"lost|repaired|missing|is cut|ends inside|damaged|cannot be read"
    if given["count"] != got["count"]:
        # The one that a cut goes through may count or not; whatever else libavcodec can show has to
        # be there.
        near = abs(given["count"] - got["count"]) <= 1
        found.append(("pictures", f"{given['count']} -> {got['count']}",
                      damage if near else r"(?!)"))
    elif len(given["times"]) == given["count"] and given["times"]:
        # Matroska has no times below zero and moves everything; what counts then is that it moves
        # everything alike.
        moved = (got["times"][0] - given["times"][0] if container == "mkv" and got["sound"]
                 else -given["clock"])
        if farthest([t + moved for t in given["times"]], got["times"]) > 2 * unit:
            off = farthest([t + moved for t in given["times"]], got["times"])
            found.append(("times", f"up to {off:.4f} s", r"times do not grow|times jump"))
        if given["sound"] and got["sound"]:
            apart = (given["sound"][0] - given["times"][0]) - (got["sound"][0] - got["times"][0])
            if abs(apart) > 0.0021:
                found.append(("sync", f"{apart:.4f} s", r"(?!)"))
            longer = given["sound"][1] - given["sound"][0] - got["sound"][1] + got["sound"][0]
            if given["sound"][2] != got["sound"][2] and abs(longer) > 0.05:
                found.append(("sound's length", f"{given['sound'][2]} -> {got['sound'][2]} packets",
                              damage))
    if given["clock"]:
        found.append(("clock", f"{given['clock']:.3f} s -> 0",
                      r"times begin at 0, where the input's clock says"))
    if given["default"] and not got["default"]:
        found.append(("default", "track -> not", r"(?!)"))
    if given["timecode"] != got["timecode"]:
        found.append(("timecode", f"{given['timecode']} -> {got['timecode']}",
                      r"left out.*timecode"))
    if given["rotation"] != got["rotation"]:
        found.append(("rotation", f"{given['rotation']} -> {got['rotation']}",
                      "left out.*rotation"))
    for kind in ("audio", "subtitles"):
        if given[kind] != got[kind]:
            found.append((kind, f"{given[kind]} -> {got[kind]}",
                          f"left out.*{kind.rstrip('s')}|{kind}.*left out"))
    converted = video["pix_fmt"] not in ("yuv420p", "yuvj420p")
    if converted:
        found.append(("samples", video["pix_fmt"], "converted to 8-bit 4:2:0"))
    for key, value in given["colour"].items():
        rgb = (value == "gbr" or converted
               and re.match(r"(rgb|bgr|gbr|argb|rgba|bgra|pal)", video["pix_fmt"]))
        # Decoders may know what headers leave out.
        if value != got["colour"][key] and not (value == "unknown" and not rgb):
            found.append((key, f"{value} -> {got['colour'][key]}",
                          "converted to 8-bit 4:2:0, BT" if rgb else r"(?!)"))
    same_shape = "1:1" if got["sar"] == "N/A" else got["sar"]
    if given["sar"] not in (same_shape, "N/A", "0:1"):
        found.append(("shape", f"{given['sar']} -> {got['sar']}", r"(?!)"))
    if video.get("field_order", "progressive") not in ("progressive", "unknown"):
        found.append(("fields", video["field_order"], "deinterlaced"))
    size = (got["video"]["width"], got["video"]["height"])
    if (video["width"] & ~1, video["height"] & ~1) != size:
        found.append(("size", f"{video['width']}x{video['height']} -> "
                      f"{got['video']['width']}x{got['video']['height']}", r"scaled|cropped"))
    elif (video["width"] | video["height"]) & 1:
        found.append(("size", f"{video['width']}x{video['height']}", "cropped"))
    if given["chapters"] != got["chapters"]:
        found.append(("chapters", f"{given['chapters']} -> {got['chapters']}", r"(?!)"))
    if given["title"] != got["title"]:
        found.append(("title", f"{given['title']} -> {got['title']}", r"(?!)"))
    return found


def x264_loses(given, name, folder):
    target = os.path.join(folder, "x264_" + name.replace("%", "_") + ".mp4")
    good, why = ffmpeg(["-i", os.path.join(folder, name), "-c:v", "libx264", "-preset", "ultrafast",
                        target])
    got = look(target) if good else None
    if not got:
        return "fails: " + why.splitlines()[-1][:60] if why else "fails"
    # Its times begin anew at zero and its rotation is done; neither is held against it.
    moved = 0
    if given["times"] and got["times"]:
        moved = given["times"][0] - given["clock"] - got["times"][0]
    unmoved = dict(got, times=[t + moved for t in got["times"]],
                   rotation=given["rotation"], sound=None)
    return ", ".join(what for what, _, _ in differences(given, unmoved, "mp4")
                     if what not in ("samples", "size", "fields", "clock")) or "nothing"


def judge(args, recipe, folder):
    name, facts = recipe[0], recipe[2] if len(recipe) > 2 else {}
    rows = []
    given = None if "refused" in facts else look(name)
    both = os.environ.get("MOTUS_FILES") == "all" or args.only or RECIPES.index(recipe) % 3 == 0
    for container in CONTAINERS[:2 if both else 1]:
        target = f"out_{name.replace('%', '_')}.{container}"
        done = run(args.motus, "encode", name, "-o", target, "--backend", "cpu", "--qp", "30",
                   "--preset", "faster")
        said = [line for line in done.stderr.splitlines() if line.startswith("motus: ")]
        if any(f.startswith(target + ".motus-") for f in os.listdir(".")):
            rows.append((name, container, "", ["a part is left"], said))
        if "refused" in facts:
            good = (done.returncode == 1 and len(said) == 1 and re.search(facts["refused"], said[0])
                    and not os.path.exists(target))
            rows.append((name, container, "refused",
                         [] if good else [f"not refused: {done.stderr}"], said))
            continue
        if done.returncode or not given:
            failed = f"exit status {done.returncode}: {done.stderr.strip()}"
            rows.append((name, container, "", [failed if given else "cannot be probed"], said))
            continue
        got, bad, shown = look(target), [], []
        for what, how, pattern in differences(given, got, container):
            told = any(re.search(pattern, line) for line in said)
            shown.append(f"{what} {how}" + (" (told)" if told else ""))
            if not told:
                bad.append(f"{what}: {how}: not told")
        if "h264" in got["errors"]:
            bad.append("its pictures do not decode cleanly: " + got["errors"].strip())
        if not re.match("cut|damaged|hole|resized", name):  # nothing is wrong with it
            bad += [f"damage where there is none: {line}" for line in said
                    if re.search("repaired|is lost|are missing|is cut|ends inside|damaged", line)]
        if "told" in facts and not any(re.search(facts["told"], line) for line in said):
            bad.append(f"does not say '{facts['told']}'")
        rows.append((name, container, "; ".join(shown) or "all equal", bad, said, given, got))
    kept = x264_loses(given, name, ".") if args.x264 and given else ""
    return rows, kept


def make(recipe):
    name, commands = recipe[0], recipe[1]
    for command in commands:
        good, why = step(command, name)
        if not good:
            return f"{name}: cannot be made: {command}: {why}"
    return None


def make_all(wanted):
    """Makes the files of these recipes, two at a time, and returns the recipes that worked."""
    shared = ("base_", "subs.srt", "chapters.txt")
    in_order = [r for r in RECIPES if any(word in c for c in r[1] for word in shared)]
    others = [r for r in wanted if r not in in_order]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        chain = pool.submit(lambda: [make(r) for r in in_order])
        done = list(zip(others, pool.map(make, others))) + list(zip(in_order, chain.result()))
    for recipe, why in done:
        if why and recipe in wanted:
            print("note:", why)
    return [recipe for recipe, why in done if recipe in wanted and not why]


def times_of(found):
    if not found["times"]:
        return f"{found['count']}"
    return f"{found['count']}, {found['times'][0]:.3f} to {found['times'][-1]:.3f} s"


def print_table(results, args):
    titles = "file", "pictures, times", "into", "pictures, times", "sound / subtitles", "not equal"
    if args.x264:
        titles += ("x264 loses",)
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    for rows, kept in results:
        for row in rows:
            given, got = (row[5], row[6]) if len(row) > 5 else (None, None)
            lines.append(f"| {row[0]} | {times_of(given) if given else ''} | {row[1]} | "
                         f"{times_of(got) if got else row[2]} | " +
                         (f"{given['audio']}/{given['subtitles']} -> "
                          f"{got['audio']}/{got['subtitles']}" if got else "") +
                         f" | {row[2] if got else ''} |" + (f" {kept} |" if args.x264 else ""))
    text = "\n".join(lines) + "\n"
    if args.out:
        write(args.out, text.encode())
    return text


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    parser = argparse.ArgumentParser()
    parser.add_argument("motus")
    parser.add_argument("--only", default="")
    parser.add_argument("--x264", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--keep")
    args = parser.parse_args()
    if not shutil.which("ffmpeg") or not shutil.which("ffprobe"):
        print("SKIP (no ffmpeg)")
        return 77
    args.motus, args.out = os.path.abspath(args.motus), args.out and os.path.abspath(args.out)
    folder = args.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    wanted = [r for r in RECIPES if not args.only or any(o in r[0] for o in args.only.split(","))]
    failures = 0
    usable = make_all(wanted)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda r: judge(args, r, folder), usable))
    for rows, _ in results:
        for row in rows:
            for bad in row[3]:
                failures += 1
                print(f"FAILED: {row[0]} into {row[1]}: {bad}")
                for line in row[4]:
                    print(f"    {line}")
    print_table(results, args)
    if not args.keep:
        shutil.rmtree(folder)
    print(f"{len(usable)} files, {sum(len(r) for r, _ in results)} encodes, {failures} failures")
    return 1 if failures or len(usable) < min(60, len(wanted)) else 0


if __name__ == "__main__":
    sys.exit(main())
