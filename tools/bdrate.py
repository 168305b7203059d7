#!/usr/bin/env python3
# BD-rate: how many per cent more bits a test encoder needs than an anchor for the same PSNR, averaged over the PSNR range both cover.
# Two fits of log10(rate) as a function of PSNR:
#   piecewise  monotone cubic between neighbouring points (Fritsch-Carlson slopes); this is the figure motus quotes
#   cubic      one polynomial of degree 3 through all points (least squares), as in VCEG-M33, for comparison with older papers
# SPDX-License-Identifier: BSD-2-Clause
import argparse
import csv
import math
import sys


def prepare(points):
    """Points (kbps, psnr) as two lists, psnr rising and log10(kbps)."""
    points = sorted((psnr, math.log10(rate)) for rate, psnr in points)
    x, y = [p[0] for p in points], [p[1] for p in points]
    if len(points) < 4:
        raise ValueError("at least four points are needed")
    if any(b <= a for a, b in zip(x, x[1:])) or any(b <= a for a, b in zip(y, y[1:])):
        raise ValueError("PSNR must rise strictly with the rate")
    return x, y


def slopes(x, y):
    """Slopes of the monotone piecewise cubic at every point."""
    h = [b - a for a, b in zip(x, x[1:])]
    d = [(b - a) / s for a, b, s in zip(y, y[1:], h)]
    inner = [(h[i - 1] + h[i]) * 3 / ((2 * h[i] + h[i - 1]) / d[i - 1] + (h[i] + 2 * h[i - 1]) / d[i]) for i in range(1, len(d))]

    def end(h0, h1, d0, d1):  # three-point slope at an end, limited so that the curve stays monotone
        m = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1)
        return 0.0 if m * d0 <= 0 else min(m, 3 * d0)

    return [end(h[0], h[1], d[0], d[1])] + inner + [end(h[-1], h[-2], d[-1], d[-2])]


def piecewise_integral(points, lo, hi):
    x, y = prepare(points)
    m = slopes(x, y)
    total = 0.0
    for i in range(len(x) - 1):
        a, b, h = max(lo, x[i]), min(hi, x[i + 1]), x[i + 1] - x[i]
        if b <= a:
            continue
        d = (y[i + 1] - y[i]) / h
        c = (3 * d - 2 * m[i] - m[i + 1]) / h
        e = (m[i] + m[i + 1] - 2 * d) / (h * h)

        def primitive(t):
            return y[i] * t + m[i] * t**2 / 2 + c * t**3 / 3 + e * t**4 / 4

        total += primitive(b - x[i]) - primitive(a - x[i])
    return total


def polynomial(x, y):
    """Coefficients of the least-squares polynomial of degree 3, by the normal equations and Gauss-Jordan elimination."""
    rows = [[sum(t ** (i + j) for t in x) for j in range(4)] + [sum(v * t**i for t, v in zip(x, y))] for i in range(4)]
    for i in range(4):
        pivot = max(range(i, 4), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for r in range(4):
            if r != i:
                rows[r] = [v - rows[r][i] * w for v, w in zip(rows[r], rows[i])]
    return [row[4] for row in rows]


def cubic_integral(points, lo, hi):
    x, y = prepare(points)
    centre = sum(x) / len(x)  # centred, so that the powers stay small
    c = polynomial([t - centre for t in x], y)

    def primitive(t):
        return sum(v * t ** (i + 1) / (i + 1) for i, v in enumerate(c))

    return primitive(hi - centre) - primitive(lo - centre)


def bd_rate(anchor, test, integral=piecewise_integral):
    """Per cent; negative means that `test` needs fewer bits."""
    lo = max(min(p for _, p in anchor), min(p for _, p in test))
    hi = min(max(p for _, p in anchor), max(p for _, p in test))
    if hi <= lo:
        raise ValueError("the PSNR ranges do not overlap")
    return (10 ** ((integral(test, lo, hi) - integral(anchor, lo, hi)) / (hi - lo)) - 1) * 100


def read_points(path, psnr_column):
    with open(path, newline="", encoding="utf-8") as file:
        return [(float(r["kbps"]), float(r[psnr_column])) for r in csv.DictReader(file)]


def table(path, anchor, test, psnr_column):
    """Prints every sequence of a CSV with columns sequence, encoder, qp, kbps and psnr_column; then mean and worst."""
    curves = {}
    with open(path, newline="", encoding="utf-8") as file:
        for r in csv.DictReader(file):
            curves.setdefault(r["sequence"], {}).setdefault(r["encoder"], []).append((float(r["kbps"]), float(r[psnr_column])))
    print(f"BD-rate of {test} against {anchor}, {psnr_column} (above 0: {test} needs more bits)")
    print(f"{'sequence':<28}{'piecewise':>12}{'cubic':>12}")
    rates = []
    for name, curve in curves.items():
        if anchor not in curve or test not in curve:
            continue
        piecewise, cubic = (bd_rate(curve[anchor], curve[test], fit) for fit in (piecewise_integral, cubic_integral))
        rates.append((piecewise, cubic, name))
        print(f"{name:<28}{piecewise:>+11.2f}%{cubic:>+11.2f}%")
    if not rates:
        sys.exit(f"bdrate.py: no sequence in {path} has both {anchor} and {test}")
    print(f"{'mean':<28}{sum(r[0] for r in rates) / len(rates):>+11.2f}%{sum(r[1] for r in rates) / len(rates):>+11.2f}%")
    print(f"{'worst':<28}{max(r[0] for r in rates):>+11.2f}%{max(r[1] for r in rates):>+11.2f}%   ({max(rates)[2]})")


def self_test():
    """Cases whose answer is known without a BD-rate program."""
    curve = [(100, 30.0), (210, 33.5), (450, 36.2), (1000, 39.9)]
    curved = [(10 ** (1 + 0.002 * (p - 20) ** 2 + 0.0001 * (p - 20) ** 3), p) for p in (28.0, 31.0, 34.0, 37.5)]
    for fit in (piecewise_integral, cubic_integral):
        assert abs(bd_rate(curve, curve, fit)) < 1e-9
        for factor in (0.5, 1.1, 1.2, 3.0):  # the same curve at `factor` times the rate
            scaled = [(r * factor, p) for r, p in curve]
            assert abs(bd_rate(curve, scaled, fit) - (factor - 1) * 100) < 1e-6
            assert abs((1 + bd_rate(scaled, curve, fit) / 100) * factor - 1) < 1e-9
        assert abs(bd_rate(curve, curve[::-1], fit)) < 1e-9  # the order of points does not matter
    # A cubic is found exactly by the polynomial fit: the mean of its difference to a constant factor of itself shifted by 1 dB.
    exact = sum(0.002 * ((p - 21) ** 2 - (p - 20) ** 2) + 0.0001 * ((p - 21) ** 3 - (p - 20) ** 3)
                for p in (29 + 8.5 * (i + 0.5) / 100000 for i in range(100000))) / 100000
    shifted = [(r, p + 1) for r, p in curved]
    assert abs(bd_rate(curved, shifted, cubic_integral) - (10**exact - 1) * 100) < 1e-3
    # A straight line is found exactly by both.
    line = [(10 ** (p / 10), p) for p in (30.0, 32.0, 35.0, 41.0)]
    above = [(10 ** (p / 10 + 0.1), p) for p in (28.0, 33.0, 36.0, 40.0)]
    for fit in (piecewise_integral, cubic_integral):
        assert abs(bd_rate(line, above, fit) - (10**0.1 - 1) * 100) < 1e-6
    for bad in ([(100, 30), (200, 31), (300, 32)], [(100, 30), (200, 29), (300, 32), (400, 33)]):
        try:
            bd_rate(curve, bad)
        except ValueError:
            continue
        raise AssertionError("bad points were accepted")
    print("bdrate self-test passed")


def main():
    parser = argparse.ArgumentParser(description="BD-rate of TEST against ANCHOR (CSV files with a kbps and a PSNR column)")
    parser.add_argument("anchor", nargs="?")
    parser.add_argument("test", nargs="?")
    parser.add_argument("--psnr", default="psnr", help="name of the PSNR column (default: psnr)")
    parser.add_argument("--table", metavar="CSV", help="a CSV of tools/compare-x264.sh: every sequence, the mean and the worst")
    parser.add_argument("--names", default="x264,motus", help="with --table: names of the anchor and the test encoder")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        self_test()
    elif args.table:
        table(args.table, *args.names.split(","), args.psnr)
    elif args.anchor and args.test:
        points = read_points(args.anchor, args.psnr), read_points(args.test, args.psnr)
        print(f"piecewise {bd_rate(*points):+.2f} %   cubic {bd_rate(*points, cubic_integral):+.2f} %")
    else:
        parser.error("give ANCHOR and TEST, or --table CSV")


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, KeyError) as problem:
        sys.exit(f"bdrate.py: {problem}")
