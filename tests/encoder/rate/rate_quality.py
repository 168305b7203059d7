#!/usr/bin/env python3
"""Computes BD-rates of motus encode --crf against x264 --crf.

    rate_quality.py MOTUS [--tune psnr|ssim] [--crf 18,23,28,33] [--bitrate] [--baseline]
                    FILE.y4m... [-- options of motus encode]

x264 runs with --preset medium as it ships (lookahead and mbtree on) and the same --tune. With
--baseline both run in that profile with one reference. ffmpeg decodes both and measures
luma PSNR, or SSIM in dB: -10 log10(1 - SSIM).
Sizes leave x264's user data out. With --bitrate both get the bitrates of x264's streams of these
CRFs, and ours is compared with those streams too. Needs x264 and ffmpeg; takes minutes.
"""
import argparse
import math
import os
import re
import signal
import subprocess
import sys
import tempfile

X264 = '--preset medium --threads 1 --quiet --no-progress'.split()
BASELINE = '--profile baseline --ref 1 --bframes 0'.split()


def without_user_data(path):
    """Bytes but for SEI with user data (nal_unit_type 6, payload 5)."""
    data = open(path, 'rb').read()
    starts = [m.start() for m in re.finditer(b'\0\0\1', data)] + [len(data)]
    taken = sum(end - at for at, end in zip(starts, starts[1:])
                if data[at + 3] & 31 == 6 and data[at + 4] == 5)
    return len(data) - taken


def measure(stream, source, ssim):
    kind = 'ssim' if ssim else 'psnr'
    command = ['ffmpeg', '-hide_banner', '-nostdin', '-threads', '1', '-r', '25', '-i', stream,
               '-threads', '1', '-r', '25', '-i', source, '-lavfi', f'[0:v][1:v]{kind}', '-f',
               'null', '-']
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    if ssim:
        return -10 * math.log10(1 - float(re.search(r'SSIM Y:([0-9.]+)', said).group(1)))
    return float(re.search(r'PSNR y:([0-9.]+)', said).group(1))


def curve(make, source, values, options):
    points = []
    with tempfile.TemporaryDirectory() as folder:
        stream = os.path.join(folder, 's.264')
        for value in values:
            subprocess.run(make(value, source, stream), check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            points.append((measure(stream, source, options.tune == 'ssim'),
                           math.log10(without_user_data(stream))))
    return sorted(points)


def rates(source, points):
    """kb/s of streams with these sizes, whole ones as x264 wants them."""
    with open(source, 'rb') as file:
        line = file.readline()
    value = {f[:1]: f[1:] for f in line.split()[1:]}
    width, height, fps = (int(value[b'W']), int(value[b'H']),
                          [int(v) for v in value[b'F'].split(b':')])
    frame = 6 + width * height + (width + 1) // 2 * ((height + 1) // 2) * 2
    pictures = (os.path.getsize(source) - len(line)) // frame
    return [round(10 ** size * 8 * fps[0] / fps[1] / pictures / 1000) for _, size in points]


def slopes(points):
    """Integrates a monotone piecewise cubic (Fritsch and Carlson)."""
    h = [b[0] - a[0] for a, b in zip(points, points[1:])]
    d = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(points, points[1:])]
    inner = [0 if d[i] * d[i + 1] <= 0
             else 3 * (h[i] + h[i + 1]) / ((2 * h[i + 1] + h[i]) / d[i] +
                                           (h[i + 1] + 2 * h[i]) / d[i + 1])
             for i in range(len(d) - 1)]

    def end(h0, h1, d0, d1):
        s = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1)
        return 0 if s * d0 < 0 else 3 * d0 if d0 * d1 < 0 and abs(s) > abs(3 * d0) else s
    return [end(h[0], h[1], d[0], d[1])] + inner + [end(h[-1], h[-2], d[-1], d[-2])]


def integral(points, low, high):
    s, total = slopes(points), 0.0
    for (x0, y0), (x1, y1), m0, m1 in zip(points, points[1:], s, s[1:]):
        a, b = max(low, x0), min(high, x1)
        if a >= b:
            continue
        h = x1 - x0
        c2, c3 = (3 * (y1 - y0) / h - 2 * m0 - m1) / h, (m0 + m1 - 2 * (y1 - y0) / h) / h ** 2
        part = lambda t: y0 * t + m0 * t ** 2 / 2 + c2 * t ** 3 / 3 + c3 * t ** 4 / 4
        total += part(b - x0) - part(a - x0)
    return total


def bd_rate(anchor, test):
    low, high = max(anchor[0][0], test[0][0]), min(anchor[-1][0], test[-1][0])
    mean = (integral(test, low, high) - integral(anchor, low, high)) / (high - low)
    return (10 ** mean - 1) * 100


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    arguments, more = sys.argv[1:], []
    if '--' in arguments:
        arguments, more = arguments[:arguments.index('--')], arguments[arguments.index('--') + 1:]
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('motus')
    parser.add_argument('files', nargs='+')
    parser.add_argument('--tune', choices=['psnr', 'ssim'], default='psnr')
    parser.add_argument('--crf', type=lambda text: [float(v) for v in text.split(',')],
                        default=[18, 23, 28, 33])
    parser.add_argument('--bitrate', action='store_true')
    parser.add_argument('--baseline', action='store_true')
    options = parser.parse_args(arguments)
    both = BASELINE if options.baseline else []
    mode = '--bitrate' if options.bitrate else '--crf'

    def x264_as(mode):
        return lambda value, source, stream: ['x264', *X264, *both, '--tune', options.tune, mode,
                                              str(value), source, '-o', stream]

    def ours(value, source, stream):
        return [options.motus, 'encode', source, '-o', stream, '--backend', 'cpu', '--threads', '1',
                '--quiet', *both, '--tune', options.tune, mode, str(value), *more]

    for source in options.files:
        with_crf = curve(x264_as('--crf'), source, options.crf, options)
        values = rates(source, with_crf) if options.bitrate else options.crf
        anchor = with_crf
        if options.bitrate:
            anchor = curve(x264_as(mode), source, values, options)
        test = curve(ours, source, values, options)
        also = f', against its CRF {bd_rate(with_crf, test):+.2f} %' if options.bitrate else ''
        print(f'{os.path.basename(source)}, {options.tune}: BD-rate {bd_rate(anchor, test):+.2f} '
              f'%{also}', flush=True)
        for name, points in (('x264', anchor), ('motus', test)):
            print(f'    {name}: ' + ', '.join(f'{10 ** y:.0f} bytes {x:.3f} dB' for x, y in points),
                  flush=True)


if __name__ == '__main__':
    main()
