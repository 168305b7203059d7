#!/usr/bin/env python3
"""Checks the pages: every path in backticks and every relative link, with its #anchor, exists.

A path ends like a source or has a top folder in front. It may leave out folders in front of it:
`deblock.c`, `mb/deblock.c`. Any file: `x.c`, `x_core.h`, `program.c` and paths with NAME."""
# SPDX-License-Identifier: BSD-2-Clause
import fnmatch
import os
import pathlib
import re
import signal
import subprocess
import sys

SOURCE = re.compile(r"[\w*]\.(c|h|cu|cuh|cpp|py|sh|cmake|awk|mjs|md)$")
ANY_FILE = re.compile(r"(^|/)(x(_\w+)?\.\w+$|_|.*NAME|program\.)")


def headings(text):
    """Returns the anchors of a page, as GitHub makes them."""
    lines = re.findall(r"^#+ +(.+?) *$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", line).lower().replace(" ", "-") for line in lines}


def faults(page, pages, paths):
    words = " ".join(re.findall(r"`([^`\n]+)`", pages[page])).split()
    for path in [word.rstrip("/") for word in words if re.fullmatch(r"[\w.+*/-]+", word)]:
        is_path = "/" in path and path.split("/")[0] in paths or SOURCE.search(path)
        if is_path and not ANY_FILE.search(path):
            if not fnmatch.filter(paths, path) and not fnmatch.filter(paths, "*/" + path):
                yield f"{page}: there is no {path}"
    for target in re.findall(r"\]\(([^)\s:]+)\)", pages[page]):
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if path not in paths:
            yield f"{page}: a link goes to {path}, which is not there"
        elif anchor and anchor not in headings(pages.get(path, "")):
            yield f"{page}: {path} has no heading #{anchor}"


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        print("skipped: this is no checkout of git")
        sys.exit(77)
    paths, pages = set(listed.stdout.split()), {}
    for path in sorted(path for path in paths if path.endswith(".md")):
        text = pathlib.Path(path).read_text(encoding="utf-8")
        pages[path] = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    paths.update(*(map(str, pathlib.Path(path).parents) for path in list(paths)))
    wrong = [fault for page in pages for fault in faults(page, pages, paths)]
    print("\n".join(wrong + [f"{len(pages)} pages: {len(wrong)} faults"]))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
