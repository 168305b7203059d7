#!/usr/bin/env python3
"""Measures how close bitrates come, and that CRF is monotonic.

    rate_accuracy.py MOTUS [options] FILE.y4m... [options of motus encode]

Plays each sequence to and fro for --pictures pictures, encodes it at --rates kb/s (or --crf) and
prints a line. --passes 2 uses two passes. Exit status 1 if a rate is off by more than --limit
percent, or if a higher CRF is larger or better. Takes minutes to hours, so ctest does not run it;
docs/rate-control.md has its figures.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile


def header(path):
    with open(path, 'rb') as file:
        line = file.readline()
    value = {f[:1]: f[1:] for f in line.split()[1:]}
    num, den = (int(v) for v in value[b'F'].split(b':'))
    width, height = int(value[b'W']), int(value[b'H'])
    return line, (width + 1) // 2 * ((height + 1) // 2) * 2 + width * height + 6, num / den


def frames(path, count):
    """Frames with their headers, to and fro; memory holds one."""
    line, size, _ = header(path)
    there = (os.path.getsize(path) - len(line)) // size
    with open(path, 'rb') as file:
        for i in range(count):
            at = i % (2 * there - 2) if there > 1 else 0
            file.seek(len(line) + size * (at if at < there else 2 * there - 2 - at))
            yield file.read(size)


def encode(motus, path, count, arguments):
    """Returns the bytes and luma PSNR (None without statistics) of one run."""
    with tempfile.TemporaryDirectory() as folder:
        stream, stats = os.path.join(folder, 's.264'), os.path.join(folder, 's.json')
        command = [motus, 'encode', '-', '-o', stream, '--quiet'] + arguments
        wants_psnr = '--crf' in arguments
        process = subprocess.Popen(command + (['--stats', stats] if wants_psnr else []),
                                   stdin=subprocess.PIPE)
        process.stdin.write(header(path)[0])
        for frame in frames(path, count):
            process.stdin.write(frame)
        process.stdin.close()
        if process.wait():
            sys.exit(f'{" ".join(command)}: ended with {process.returncode}')
        psnr = json.load(open(stats))['psnr_y'] if wants_psnr else None
        return os.path.getsize(stream), psnr


def bitrate(options, path, kbps, more):
    rate = ['--bitrate', str(kbps)] + more
    if options.passes == 1:
        return encode(options.motus, path, options.pictures, rate)[0]
    with tempfile.TemporaryDirectory() as folder:
        log = ['--pass-log', os.path.join(folder, 'log')]
        encode(options.motus, path, options.pictures, rate + ['--pass', '1'] + log)
        return encode(options.motus, path, options.pictures, rate + ['--pass', '2'] + log)[0]


def rates(options, path, more):
    fps, bad = header(path)[2], 0
    for kbps in options.rates:
        size = bitrate(options, path, kbps, more)
        got = size * 8 * fps / options.pictures / 1000
        off = (got / kbps - 1) * 100
        bad += abs(off) > options.limit
        print(f'{os.path.basename(path)}: {options.pictures} pictures, {kbps:g} kb/s: {size} '
              f'bytes, {got:.1f} kb/s, {off:+.3f} %', flush=True)
    return bad


def qualities(options, path, more):
    last, bad = None, 0
    for crf in sorted(options.crf):
        size, psnr = encode(options.motus, path, options.pictures, ['--crf', str(crf)] + more)
        wrong = last and (size >= last[0] or psnr >= last[1])
        bad += bool(wrong)
        last = size, psnr
        print(f'{os.path.basename(path)}: {options.pictures} pictures, CRF {crf:g}: {size} bytes, '
              f'{psnr:.3f} dB{"  NOT MONOTONIC" if wrong else ""}', flush=True)
    return bad


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    numbers = lambda text: [float(v) if '.' in v else int(v) for v in text.split(',')]
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('motus')
    parser.add_argument('files', nargs='+')
    parser.add_argument('--pictures', type=int, default=1500)
    parser.add_argument('--rates', type=numbers, help='kb/s, with commas between')
    parser.add_argument('--crf', type=numbers, help='CRFs, with commas between')
    parser.add_argument('--passes', type=int, choices=[1, 2], default=1)
    parser.add_argument('--limit', type=float, default=1.0, help='percent')
    options, more = parser.parse_known_args() # what is not known here is an option of motus encode
    if '--backend' not in more:
        more += ['--backend', 'cpu']
    if bool(options.rates) == bool(options.crf):
        parser.error('either --rates or --crf')
    judge = rates if options.rates else qualities
    return 1 if sum(judge(options, path, more) for path in options.files) else 0


if __name__ == '__main__':
    sys.exit(main())
