#!/usr/bin/env python3
"""Tests the page of motus compare in headless Chromium: its figures against its data, keys,
addresses, widths, colours, missing parts.

usage: report_test.py PAGE.html MOTUS [--shots DIR] [--large]
  PAGE.html  the page with its placeholder, as the build leaves it
  --shots    also leaves screenshots (desktop light and dark, phone) in DIR
  --large    ten seconds of CIF instead: size of the page and time to first paint
Exit status 77 without Chromium (MOTUS_CHROMIUM names another).
SPDX-License-Identifier: BSD-2-Clause
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "support")]
from browser import Browser, find_chromium  # noqa: E402
import page  # noqa: E402
from page import (PLACEHOLDER, check, macroblocks, make_data, number, same,  # noqa: E402
                  samples, shown, wait_frame, write_page)


def figures_are_the_data(browser, data):
    same(browser.run("[...document.querySelectorAll('#verdict p')]"
                     ".map((p) => p.textContent.replaceAll('\\u00a0', ' '))"),
         data["verdict"], "verdict")
    rows = browser.run("[...document.querySelectorAll('#summary-table tbody tr')]"
                       ".map((r) => [...r.children].map((c) => c.textContent))")
    runs = [(s, r) for s in data["sequences"] for r in s["runs"]]
    same(len(rows), len(runs), "rows of the summary")
    for cells, (sequence, run) in zip(rows, runs):
        f, share = run["figures"], lambda n, f=run["figures"]: f"{100 * n / f['blocks']:.1f}\u00a0%"
        same(cells[:3], [sequence["name"], str(run["qp"]), f"{f['blocks']:,}"], "summary")
        same([cells[3], cells[5], cells[7]],
             [share(f["within"][0]), share(f["j"]["less"]), share(f["j"]["more"])],
             "shares in the summary")
    points = browser.run("[...document.querySelectorAll('#rd-table tbody tr')].length")
    same(points, len(data["sequences"][0]["rd"]), "points of the curves")
    counts = browser.run("[...document.querySelectorAll('#confusion tbody tr')]"
                         ".map((r) => r.lastChild.textContent)")
    all_rows = [sum(sum(r["confusion"]["counts"][i]) for _, r in runs) for i in range(8)]
    same([number(c) for c in counts], [n for n in all_rows if n], "confusion matrix")
    check(browser.run("[...document.querySelectorAll('.chart canvas')].length >= 5"),
          "charts are drawn")
    check(data["command"] in browser.run("document.getElementById('settings').textContent"),
          "the command line")


def slider_moves(browser, data):
    last = data["sequences"][0]["frames"] - 1
    before = browser.run("document.getElementById('canvas').toDataURL()")
    at = shown(browser)
    browser.run("document.getElementById('slider').focus()")
    browser.key("ArrowRight", 39)
    wait_frame(browser, at + 1)
    check(browser.run("document.getElementById('canvas').toDataURL()") != before,
          "another picture is drawn")
    same(browser.run("document.getElementById('frame-number').textContent"),
         f"{at + 1} / {last} (P)", "number of the frame")
    browser.key("End", 35)
    wait_frame(browser, last)
    browser.run("document.getElementById('previous').click()")
    wait_frame(browser, last - 1)
    browser.run("document.getElementById('play').click()")
    browser.wait_for(f"document.getElementById('canvas').dataset.frame !== '{last - 1}'")
    browser.run("document.getElementById('play').click()")
    same(browser.run("document.getElementById('play').textContent"), "Play", "playing ends")


def point_at(browser, n, mb_width, size, click=False):
    browser.run("document.getElementById('canvas')"
                ".scrollIntoView({block: 'center', behavior: 'instant'})")
    box = browser.run("(({left, top, width, height}) => [left, top, width, height])"
                      "(document.getElementById('canvas').getBoundingClientRect())")
    x, y = 16 * (n % mb_width) + 8, 16 * (n // mb_width) + 8
    browser.mouse(box[0] + x / size[0] * box[2], box[1] + y / size[1] * box[3], click)


def hover_shows_the_data(browser, data, frame):
    sequence = data["sequences"][0]
    run = sequence["runs"][0]
    browser.run("delete document.getElementById('canvas').dataset.frame")
    browser.run(f"location.hash = '#sequence={sequence['name']}&qp={run['qp']}&frame={frame}'")
    wait_frame(browser, frame)
    mbs = macroblocks(sequence, run, frame)
    for n, mb in enumerate(mbs):
        point_at(browser, n, sequence["mb_width"], (sequence["width"], sequence["height"]))
        browser.wait_for("document.getElementById('mb-title').textContent"
                         f".startsWith('Macroblock {n} ')")
        got = browser.run("Object.fromEntries([...document.querySelectorAll("
                          "'#mb-panel [data-key]')].map((c) => [c.dataset.key, c.textContent]))")
        if mb is None:
            check("j-ours" not in got, f"macroblock {n} is intra")
            continue
        for key, want in mb[0].items():
            same(number(got.get(key)), want, f"macroblock {n}: {key}")
        for i, (theirs, ours) in enumerate(mb[1]):
            for who, mv in (("x264", theirs), ("ours", ours)):
                same(got.get(f"block-{i}-mv-{who}"), f"{samples(mv[0])}, {samples(mv[1])}",
                     f"macroblock {n}, block {i}: vector of {who}")


def addresses_lead_back(browser, url, data):
    sequence = data["sequences"][1]
    run = sequence["runs"][1]
    browser.open(f"{url}#sequence={sequence['name']}&qp={run['qp']}&frame=2&mb=7&vectors=ours"
                 "&outlines=own&heat=j")
    wait_frame(browser, 2)
    same(browser.run("document.getElementById('mb-title').textContent.split(' at')[0]"),
         "Macroblock 7", "macroblock of the address")
    chosen = [browser.run(f"document.querySelector('{element}').value") for element in
              ("#choose-sequence", "#choose-qp", "#heat", "input[name=vectors]:checked")]
    same(chosen, [sequence["name"], str(run["qp"]), "j", "ours"], "choices of the address")
    point_at(browser, 3, sequence["mb_width"], (sequence["width"], sequence["height"]), click=True)
    browser.wait_for("location.hash.includes('mb=3')")
    browser.run("document.getElementById('canvas').focus()")
    browser.mouse(1, 1)
    browser.key("ArrowRight", 39)
    browser.wait_for("location.hash.includes('mb=4')")
    browser.key("ArrowDown", 40)
    browser.wait_for(f"location.hash.includes('mb={4 + sequence['mb_width']}')")
    browser.key(".", 190, ".")
    wait_frame(browser, 3)
    browser.wait_for("location.hash.includes('frame=3')")
    link = browser.run("document.getElementById('permalink').href")
    browser.open(link)
    wait_frame(browser, 3)
    same(browser.run("document.getElementById('mb-title').textContent.split(' at')[0]"),
         f"Macroblock {4 + sequence['mb_width']}", "macroblock of the link")
    for broken in ("#frame=99999&mb=99999", "#sequence=none&frame=x", "#frame=-1", "#%%%",
                   "#frame=1&vectors=%22]&heat=x&zoom=77"):
        browser.open(url + broken)


def fits(browser, url, dark, shots):
    """Widths from a phone's on, without scrolling sideways; colours that can be read."""
    for width, height, phone in ((390, 844, True), (320, 700, True), (800, 600, False),
                                 (1280, 900, False)):
        browser.size(width, height, phone)
        for fragment in ("", "#frame=1&mb=5&zoom=4&outlines=x264&heat=bits"):
            browser.open(url + fragment)
            wide = browser.run("document.documentElement.scrollWidth")
            check(wide <= width, f"{width} px: the page is {wide} wide {fragment}")
        if shots and width in (390, 1280):
            browser.open(f"{url}#frame=2&mb=9&stretch=2&outlines=x264")
            browser.run("scrollTo(0, 0)")
            name = f"{'phone' if phone else 'desktop'}-{'dark' if dark else 'light'}.png"
            browser.screenshot(os.path.join(shots, name))


WORST_MB = """(() => {
  const side = (x, y, j) => ({ mv: [x, y], sad: 1, satd: 1, bits: 60, j });
  const block = (x, y) =>
    ({ x, y, w: 4, h: 4, x264: side(-2047, -1023, 12345), ours: side(-1999, 1023, 1) });
  const blocks = [block(12, 12), block(8, 12)];
  const bits = { mode: 12345, mv: 12345, residual: 12345 };
  fill(byId('mb-panel'), describeMb({ x264Type: 4, x264Sub: 0xE4, ownType: 4, ownSub: 0x1B,
    motusType: 4, motusSub: 0xE4, x264Bits: bits, motusBits: bits, predictor: [-2047, -1023],
    blocks, own: blocks, criterion: 'satd' }));
  byId('mb-panel').hidden = false;
})()"""
CUT = """[...document.querySelectorAll('#mb-panel .scroll')]
  .filter((s) => s.scrollWidth > s.clientWidth).length"""
DESKTOP, PHONE, NARROW = (1280, 900, False), (390, 844, True), (320, 700, True)


def panel_is_whole(browser, url):
    """No column of an MB's tables is cut off, neither in the data nor with long numbers."""
    for width, height, phone in (DESKTOP, (960, 700, False), PHONE, NARROW):
        browser.size(width, height, phone)
        browser.open(url + "#frame=2&mb=0")
        wait_frame(browser, 2)
        for n in range(12):
            browser.run(f"location.hash = '#frame=2&mb={n}'")
            browser.wait_for("document.getElementById('mb-title').textContent"
                             f".startsWith('Macroblock {n} ')")
            same(browser.run(CUT), 0, f"{width} px, macroblock {n}: tables that are cut off")
        browser.run(WORST_MB)
        same(browser.run(CUT), 0, f"{width} px, longest numbers: tables that are cut off")
        same(browser.run("document.querySelectorAll('#mb-panel .scroll').length"), 5, "tables")


def bar_hides_nothing(browser, folder, template, data):
    """A heading that is scrolled to stands below the bar, with a long name of the sequence, too."""
    long, name = json.loads(json.dumps(data)), "a_sequence_with_a_long_name_of_a_camera_20261123"
    long["sequences"][0]["name"] = name
    url = "file://" + write_page(folder, template, long, "long.html")
    places = """(() => { const box = (id) => document.getElementById(id).getBoundingClientRect();
      return [box('%s').top, box('choice').bottom]; })()"""
    for width, height, phone in (DESKTOP, PHONE, NARROW):
        browser.size(width, height, phone)
        browser.open(f"{url}#sequence={name}&frame=1")
        wait_frame(browser, 1)
        for heading in ("viewer", "viewer-title", "vectors-title", "how-title", "mb-title"):
            if heading != "viewer": # the address has scrolled to it
                browser.run(f"document.getElementById('{heading}')"
                            ".scrollIntoView({ behavior: 'instant' })")
            top, bar = browser.run(places % heading)
            check(top >= bar, f"{width} px: {heading} begins at {top}, the bar ends at {bar}")
        wide = browser.run("document.documentElement.scrollWidth")
        check(wide <= width, f"{width} px: the page with a long name is {wide} wide")
        check(bar <= 70, f"{width} px: the bar has one line, it ends at {bar}")


def gaps_are_named(browser, folder, template, data):
    """The page tells gaps where they are, with the option that fills them, and nowhere else."""
    some = json.loads(json.dumps(data))
    sequence = some["sequences"][1]
    for n in (3, 4):
        sequence["runs"][1]["frames"][n]["mbs"] = None
    some["viewer"] = {"left_out": 2, "gaps": [
        {"sequence": 1, "qp": 37, "first": 3, "last": 4, "frames": 2}]}
    url = "file://" + write_page(folder, template, some, "gaps.html")
    words = "the vectors at QP 37 of frames 3 to 4"
    for i, qp in ((0, 27), (0, 37), (1, 27), (1, 37)):
        browser.open(f"{url}#sequence={some['sequences'][i]['name']}&qp={qp}&frame=3")
        wait_frame(browser, 3)
        note = browser.run("document.getElementById('viewer-note').textContent")
        here = (i, qp) == (1, 37)
        check(("lacks" in note) == here and
              note.endswith(f"{words}; motus compare --page-mb 0 keeps them.") == here, note)
        over = browser.run("document.getElementById('viewer-empty').textContent")
        same("--page-mb 0" in over, here, "words over the picture")
    how = browser.run("document.getElementById('how').textContent")
    check(f"{sequence['name']}: {words}." in how, "the list of all gaps")


PLAIN_THOUSANDS = """[...document.querySelectorAll('main *')]
  .filter((e) => !e.closest('code, #settings, #mb-title, script, option, .u-legend'))
  .flatMap((e) => [...e.childNodes])
  .filter((n) => n.nodeType === 3 && /(^|[^\\d.,])\\d{4}/.test(n.data)).map((n) => n.data.trim())"""
KBPS = """[...document.querySelectorAll('#rd-table td')]
  .some((c) => /^\\d+,\\d{3}\\.\\d$/.test(c.textContent))"""


def thousands_agree(browser, folder, template, data):
    """All numbers have the same separators; those of the verdict come with theirs."""
    large = json.loads(json.dumps(data))
    for sequence in large["sequences"]:
        for point in sequence["rd"]:
            for key in ("kbps", "fps", "seconds", "elapsed"):
                point[key] *= 1000
    path = write_page(folder, template, large, "large.html")
    browser.open(f"file://{path}#frame=2&mb=9&heat=j")
    wait_frame(browser, 2)
    browser.run(WORST_MB)
    browser.run("document.querySelector('details').open = true")
    same(browser.run(PLAIN_THOUSANDS), [], "numbers without separators")
    check(browser.run(KBPS), "kb/s with separators")


HEADS = """(() => {
  const columns = (x, mv) => {
    const canvas = element('canvas', { width: 64, height: 40 }), ctx = canvas.getContext('2d');
    drawVector(ctx, { x, y: 20, mv }, 1, 2, '#fff', 0);
    const painted = (at) => ctx.getImageData(at, 0, 1, 40).data.filter((v, i) => i % 4 === 3 && v);
    return [12, 20, 50].map((at) => painted(at).length);
  };
  return [columns(56, [-192, 0]), columns(8, [192, 0]), columns(20, [0, 0])];
})()"""


def arrows_have_heads(browser):
    """A vector's arrow points to its block, and a vector at rest is a dot."""
    right, left, rest = browser.run(HEADS)
    check(0 < right[0] <= right[1] < right[2], f"to the right: {right}")
    check(left[0] > left[1] >= left[2] > 0, f"to the left: {left}")
    check(rest[0] == rest[2] == 0 < rest[1], f"at rest: {rest}")


LUMINANCE = """(() => {
  const linear = (x) => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  const l = (c) => {
    const v = c.match(/[\\d.]+/g).slice(0, 3).map((x) => linear(x / 255));
    return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2];
  };
  const paper = l(getComputedStyle(document.body).backgroundColor);
  const ratio = (e) => {
    const a = l(getComputedStyle(e).color);
    return (Math.max(a, paper) + 0.05) / (Math.min(a, paper) + 0.05);
  };
  const shown = (e) => e.offsetParent && !e.closest('.picture, .skip');
  const least = {};
  for (const selector of ['p', 'th', 'td', 'dd', 'a', '.muted', '.ours', '.x264', 'summary',
                          'label', 'select', 'button'])
    least[selector] =
      Math.min(...[...document.querySelectorAll(selector)].filter(shown).map(ratio));
  return [paper, least];
})()"""


def colours(browser, url, dark):
    browser.dark(dark)
    browser.size(1280, 900)
    browser.open(url + "#frame=1&mb=5")
    paper, least = browser.run(LUMINANCE)
    check(paper < 0.05 if dark else paper > 0.9, f"background, dark {dark}: {paper}")
    for selector, ratio in least.items():
        check(ratio is None or ratio >= 4.5, f"contrast of {selector}, dark {dark}: {ratio}")


def everything_has_a_name(browser):
    browser.call("Accessibility.enable")
    for node in browser.call("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value")
        if not node.get("ignored") and role in ("button", "combobox", "slider", "radio", "link",
                                                "application", "table", "region", "Canvas"):
            if role == "table":
                continue
            check(node.get("name", {}).get("value"),
                  f"a {role} has no name: {node.get('properties')}")
    check(browser.run("[...document.querySelectorAll('h2, h3')]"
                      ".every((h) => h.textContent.trim())"), "headings")
    check(browser.run("document.documentElement.lang === 'en' && document.title.length > 5"),
          "language and title")


def missing_parts(browser, folder, template, data):
    """Reports of which something is missing are shown as far as they go, without an error."""
    thin = json.loads(json.dumps(data))
    for sequence in thin["sequences"]:
        sequence["pictures"] = [None] * sequence["frames"]
        sequence["rd"] = sequence["bd_rate"] = []
        for run in sequence["runs"]:
            run["own"] = run["by_size"] = run["own_by_size"] = run["confusion"] = run["bits"] = None
            for frame in run["frames"]:
                frame["mbs"] = None
    one = dict(thin, sequences=thin["sequences"][:1], complete=False, total=None)
    bare = {"format": "motus-compare", "version": 1}
    empty = dict(bare, sequences=[], coders=[], verdict=[], complete=False)
    for name, part, words in (("thin", thin, "left out"), ("one", one, "left out"),
                              ("bare", bare, "no frames"), ("empty", empty, "no frames")):
        browser.open("file://" + write_page(folder, template, part, f"{name}.html"))
        browser.wait_for(f"document.getElementById('viewer-empty').textContent.includes('{words}')")
        same(browser.run("document.getElementById('incomplete').hidden"),
             part.get("complete") is not False, f"{name}: notice")
    for name, text, words in (("newer", '{"format": "motus-compare", "version": 2}', "version 2"),
                              ("other", '{"a": 1}', "none of motus compare"),
                              ("cut", '{"format": "mot', "cannot be read")):
        path = write_page(folder, template, text, f"{name}.html")
        browser.call("Page.navigate", url="file://" + path)
        browser.wait_for(f"document.querySelector('#verdict')?.textContent.includes('{words}')")


def test(browser, folder, template, motus, shots):
    data = make_data(folder, motus, "--qps", "27,37")
    url = "file://" + write_page(folder, template, data)
    browser.size(1280, 900)
    browser.open(url)
    check(not browser.run("location.hash"), "a plain address stays plain")
    figures_are_the_data(browser, data)
    slider_moves(browser, data)
    hover_shows_the_data(browser, data, 2)
    addresses_lead_back(browser, url, data)
    everything_has_a_name(browser)
    for dark in (False, True):
        colours(browser, url, dark)
        fits(browser, url, dark, shots)
    panel_is_whole(browser, url)
    arrows_have_heads(browser)
    bar_hides_nothing(browser, folder, template, data)
    gaps_are_named(browser, folder, template, data)
    thousands_agree(browser, folder, template, data)
    missing_parts(browser, folder, template, data)
    real_report(browser, folder, motus)
    same(browser.errors, [], "errors on the console")
    same([r for r in browser.requests if not r.startswith(("file://", "data:", "about:", "blob:"))],
         [], "requests to the network")


def real_report(browser, folder, motus):
    """A report as motus compare writes it, from generated pictures: the same questions."""
    if not shutil.which("x264"):
        print("SKIP: no x264 here, so no report of motus compare itself")
        return
    video, report = os.path.join(folder, "clip.y4m"), os.path.join(folder, "report")
    subprocess.run([motus, "synth", video, "--size", "96x64", "--frames", "5", "--pan", "3,1",
                    "--objects", "4"], check=True, stderr=subprocess.DEVNULL)
    subprocess.run([motus, "compare", video, video, "-o", report, "--qps", "27,37", "--quiet"],
                   check=True)
    with open(os.path.join(report, "index.html"), encoding="utf-8") as file:
        data = json.loads(re.search(r'id="motus-data">(.*?)</script>', file.read(), re.S).group(1))
    # The page numbers the second clip of the same name.
    data["sequences"][1]["name"] += " (2)"
    browser.size(1280, 900)
    browser.open(f"file://{report}/index.html")
    figures_are_the_data(browser, data)
    hover_shows_the_data(browser, data, 2)
    browser.open(f"file://{report}/index.html#frame=3&mb=2&outlines=motus&heat=own")
    wait_frame(browser, 3)


def large(browser, folder, template, motus):
    data = make_data(folder, motus, "--size", "352x288", "--frames", "300", "--sequences", "1",
                     "--qps", "27")
    path = write_page(folder, template, data)
    browser.size(1280, 900)
    paints = []
    for _ in range(5):
        browser.open("file://" + path)
        wait_frame(browser, 1)
        paints.append(
            browser.run("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    whole = browser.run("performance.now()")
    print(f"300 CIF frames, one QP: {os.path.getsize(path) / 1e6:.1f} MB, first paint after "
          f"{sorted(paints)[2]:.0f} ms (median of 5), frame 1 drawn after {whole:.0f} ms")
    check(os.path.getsize(path) < 25e6 and sorted(paints)[2] < 2000, "limits")
    began = browser.run("performance.now()")
    browser.run("document.getElementById('play').click()")
    browser.wait_for("Number(document.getElementById('canvas').dataset.frame) >= 91", 60)
    played = browser.run("performance.now()") - began
    print(f"90 frames played in {played:.0f} ms (3003 at full speed)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("motus")
    parser.add_argument("--shots")
    parser.add_argument("--large", action="store_true")
    args = parser.parse_args()
    program = find_chromium()
    if not program:
        print("SKIP: no Chromium here (tools/deps.sh --browser installs it)")
        return 77
    with open(args.page, encoding="utf-8") as file:
        template = file.read()
    same(template.count(PLACEHOLDER), 1, "placeholders")
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(program)
        try:
            if args.large:
                large(browser, folder, template, args.motus)
            else:
                test(browser, folder, template, args.motus, args.shots)
        finally:
            browser.close()
    print(f"{page.checks} checks, {page.failures} failed")
    return 1 if page.failures else 0


if __name__ == "__main__":
    sys.exit(main())
