#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Profiles a picture on a GPU, kernel by kernel, by Nsight Compute (ncu).

    tools/profile.py MOTUS INPUT [OPTION...]
    tools/profile.py build/release/tools/motus street.y4m --preset faster --qp 28 --frames 4

OPTIONs are those of motus encode (--qp 28 --frames 3). Columns: launches; microseconds in all and
per launch (mean); share of the time in which an SM's schedulers issue; resident warps of those that
an SM can hold; "full": microseconds in which the same instructions would issue if every scheduler
issued all the time. The sum of "full" bounds several GOP coders together, the sum of times is that
of one. Clocks are left as they are."""
import collections
import csv
import signal
import subprocess
import sys

METRICS = {
    "gpu__time_duration.sum": "us",
    "smsp__issue_active.avg.pct_of_peak_sustained_elapsed": "issue",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "warps",
    "launch__registers_per_thread": "registers",
}
TO_US = {
    **{"nsecond": 1e-3, "usecond": 1, "msecond": 1e3, "second": 1e6},
    **{"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6},
}


def launches(text):
    """Returns the kernel's name and the metrics, by their short names, of each launch in order."""
    rows = csv.reader(line for line in text.splitlines() if line.startswith('"'))
    head = {name: i for i, name in enumerate(next(rows))}
    found = collections.OrderedDict()
    for row in rows:
        name = row[head["Kernel Name"]].split("(")[0]
        name = name.replace("<unnamed>::", "").replace("void ", "")
        values = found.setdefault(row[head["ID"]], {"name": name})
        metric = METRICS.get(row[head["Metric Name"]])
        if metric:
            scale = TO_US.get(row[head["Metric Unit"]], 1) if metric == "us" else 1
            values[metric] = float(row[head["Metric Value"]].replace(",", "")) * scale
    return found.values()


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    if len(sys.argv) < 3 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if len(sys.argv) > 1 and sys.argv[1] in ("-h", "--help") else 2
    options = sys.argv[3:] or ["--qp", "28", "--frames", "3"]
    command = ["ncu", "--clock-control", "none", "--csv", "--metrics", ",".join(METRICS)]
    command += [sys.argv[1], "encode", sys.argv[2], "-o", "/dev/null"]
    command += ["--backend", "cuda", "--gop-coders", "1", "--quiet", *options]
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    except OSError as error:
        print(f"profile.py: ncu: {error.strerror}", file=sys.stderr)
        return 1
    text = run.stdout.decode(errors="replace")
    if run.returncode or '"Kernel Name"' not in text:
        said = run.stderr.decode(errors="replace")[-400:] + text[-400:]
        print(f"profile.py: ncu failed ({run.returncode}): {said}", file=sys.stderr)
        return 1
    kernels = collections.OrderedDict()
    for launch in launches(text):
        kernels.setdefault(launch["name"], []).append(launch)
    print(
        f"{'kernel':28s} {'launches':>8s} {'us':>9s} {'one':>8s} {'issue %':>8s} {'warps %':>8s} "
        f"{'full us':>8s} {'registers':>9s}"
    )
    sums = [0.0, 0.0]
    for name, runs in sorted(kernels.items(), key=lambda item: -sum(v["us"] for v in item[1])):
        us = sum(v["us"] for v in runs)
        full = sum(v["us"] * v["issue"] / 100 for v in runs)
        warps = sum(v["us"] * v["warps"] for v in runs) / us
        sums[0] += us
        sums[1] += full
        print(
            f"{name:28s} {len(runs):8d} {us:9.1f} {us / len(runs):8.1f} {100 * full / us:8.1f} "
            f"{warps:8.1f} {full:8.1f} {runs[0]['registers']:9.0f}"
        )
    print(f"{'all':28s} {'':8s} {sums[0]:9.1f} {'':8s} {'':8s} {'':8s} {sums[1]:8.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
