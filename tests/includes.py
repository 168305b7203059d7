#!/usr/bin/env python3
"""Checks who includes whom: includes.py BUILD CC [NVCC]

- Every #include "..." goes to a folder that the table BELOW allows.
- No two .c or .cu files need each other's headers, directly or around.
- Every header compiles alone. The build proves it of those that a source, or a header so proven,
  includes before all else; others compile here, .h as C11 with CC, .cuh with NVCC. Left out is
  x_tmpl.h, whose includers define what it works on.
- A folder holds at most 25 sources, and a folder of tests mirrors one of sources.

BUILD is a build tree; it names the folders with other libraries' headers."""
# SPDX-License-Identifier: BSD-2-Clause
import concurrent.futures
import graphlib
import json
import os
import re
import signal
import subprocess
import sys

# The folders directly below each folder. Includes go to these, to all that is below them, or to
# the folder itself.
BELOW = {
    "include/motus": "",
    "common": "include/motus",
    "yuv": "common",
    "yuv/io": "yuv",
    "filter/equalize": "yuv",
    "filter/key": "yuv",
    "filter/wavelet": "yuv",
    "filter": "filter/equalize filter/key filter/wavelet",
    "dct": "yuv",
    "me/pixel": "yuv",
    "me/search": "me/pixel",
    "me/centres": "me/pixel",
    "me": "me/search me/centres",
    "encoder/mb": "me dct",
    "encoder/bitstream": "encoder/mb",
    "encoder/cabac": "encoder/bitstream",
    "encoder/preset": "encoder/bitstream",
    "encoder/levels": "encoder/cabac encoder/preset",
    "encoder/analyse": "encoder/levels",
    "encoder/intra": "encoder/analyse",
    "encoder/decide": "encoder/intra",
    "encoder/weights": "encoder/mb",
    "encoder/lookahead": "encoder/analyse encoder/weights",
    "encoder/rate": "encoder/lookahead",
    "encoder/settings": "encoder/rate",
    "encoder/slice": "encoder/settings encoder/decide",
    "encoder/picture": "encoder/slice encoder/weights",
    "encoder/gop": "encoder/picture",
    "encoder": "encoder/gop",
    "interop": "include/motus",
    "interop/gstreamer": "interop",
    "interop/nvenc": "include/motus",
    "tools/cli": "encoder filter yuv/io interop",
    "tools/h264": "tools/cli",
    "tools/nvenc": "tools/cli",
    "tools/media": "tools/cli",
    "tools/compare/page": "tools/cli",
    "tools/synth": "tools/cli",
    "tools/search": "tools/cli",
    "tools/x264": "tools/cli",
    "tools/filter": "tools/media",
    "tools/bench": "tools/x264 tools/synth",
    "tools/encode": "tools/filter tools/search",
    "tools/view": "tools/media tools/search tools/h264",
    "tools/compare": "tools/x264 tools/h264 tools/compare/page",
    "tools/mpi": "tools/encode",
    "tools": "tools/cli",
    "examples": "include/motus",
    "examples/x265": "include/motus",
}
# Folders of tests/ that mirror no source folder.
TESTS_ONLY = set("arguments conformance files fuzz gpu install lanes support".split())
LIMIT = 25
SOURCE = re.compile(r"\.(c|h|cu|cuh|cpp|py|sh)$")
FOREIGN = ("interop/ffmpeg/", "interop/x264/")  # compile inside FFmpeg and x264 only


def below(folder):
    direct = BELOW[folder].split()
    return {folder}.union(*map(below, direct))


def includes(files):
    """Yields (file, line, included file), the latter as a path from the top."""
    for name in files:
        with open(name, encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                found = re.match(r'\s*#\s*include\s+["<]((?:motus/)?[^">]+)[">]', line)
                if found and (found[1].startswith("motus/") or '"' in line):
                    path = found[1]
                    yield name, number, "include/" + path if path.startswith("motus/") else path


def upward(edges):
    for name, number, path in edges:
        source, target = os.path.dirname(name), os.path.dirname(path)
        if not target or source.startswith("tests"):
            continue
        if source not in BELOW:
            yield f"{name}:{number}: tests/includes.py has no row for {source}"
        elif target not in below(source):
            yield f"{name}:{number}: {source} may not include {path}"


def circles(edges, files):
    """x.c, x.cu, x_avx2.c and their headers are one node; a header of none of these is left out."""

    def noun(path):
        return re.sub(r"(_cuda|_avx2|_avx512)?\.\w+$", "", path)

    nouns = {noun(name) for name in files if re.search(r"\.(c|cu|cpp)$", name)}
    graph = {}
    for name, _, path in edges:
        if {noun(name), noun(path)} <= nouns and noun(name) != noun(path):
            graph.setdefault(noun(name), set()).add(noun(path))
    while True:
        try:
            graphlib.TopologicalSorter(graph).prepare()
            return
        except graphlib.CycleError as error:
            circle = error.args[1]
            yield "a circle of files: " + " -> ".join(reversed(circle))
            graph[circle[1]].discard(circle[0])


def large(files):
    folders = [os.path.dirname(name) for name in files]
    for folder in sorted(set(folders)):
        if folders.count(folder) > LIMIT:
            yield f"{folder} has {folders.count(folder)} sources, {LIMIT} are the limit"


def unmirrored(files):
    for folder in sorted({os.path.dirname(name) for name in files if name.startswith("tests/")}):
        source = folder.removeprefix("tests").strip("/")
        if source and source.split("/")[0] not in TESTS_ONLY and source not in BELOW:
            yield f"{folder}: there is no folder {source}"


def proven(compiled):
    """Returns the headers that compile alone because compiled sources include them first."""
    found = set()
    for name in compiled:
        ending = ".h" if name.endswith(".c") else ".cuh"
        while name and name not in found:
            found.add(name)
            with open(name, encoding="utf-8") as text:
                first = re.search(r'^\s*#\s*include\s+["<]((motus/)?[^">]+)', text.read(), re.M)
            path = first and ("include/" if first[2] else "") + first[1]
            name = path if path and path.endswith(ending) and os.path.exists(path) else None
    return found


def alone(header, paths, cc, nvcc):
    """Returns the compiler's errors, or None. Headers of libraries that are missing pass."""
    if header.endswith("_tmpl.h") or header.endswith(".cuh") and not nvcc:
        return None
    if header.endswith(".cuh"):
        flags = "-arch=sm_90 -std=c++17 -diag-suppress 177 -ptx -o /dev/null -x cu".split()
        command = [nvcc, *paths, *flags, header]
    else:
        flags = "-std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wno-unused -Werror".split()
        flags += ["-mavx2"] if header.endswith("_avx2.h") else []
        command = [cc, *flags, *paths, "-fsyntax-only", "-x", "c", header]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0 or re.search(
        r"fatal error: .*: No such file.*\n.*include <", done.stderr
    ):
        return None
    return f"{done.stderr[:1000]}\n{header} does not compile alone"


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    build, compilers = os.path.realpath(sys.argv[1]), (sys.argv[2:] + [""])[:2]
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=False)
    if tracked.returncode != 0:
        print("skipped: this is no checkout of git")
        sys.exit(77)
    files = [
        name
        for name in tracked.stdout.split()
        if SOURCE.search(name) and not name.startswith(FOREIGN) and os.path.exists(name)
    ]
    edges = list(includes([name for name in files if not name.endswith((".py", ".sh"))]))
    headers = [
        name for name in files if name.endswith((".h", ".cuh")) and not name.startswith("examples")
    ]
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as database:
        commands = database.read()
    compiled = {os.path.relpath(row["file"]) for row in json.loads(commands)} & set(files)
    rest = sorted(set(headers) - proven(compiled))
    paths = sorted(set(re.findall(r"(?:-I ?|-isystem )/[^ \"]+", commands)))
    paths = [word for path in paths for word in path.split()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        lonely = filter(None, pool.map(lambda header: alone(header, paths, *compilers), rest))
        wrong = [*upward(edges), *circles(edges, files), *large(files), *unmirrored(files), *lonely]
    counts = f"{len(edges)} includes, {len(headers)} headers, {len(rest)} compiled here"
    print("\n".join([*wrong, f"{counts}: {len(wrong)} faults"]))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
