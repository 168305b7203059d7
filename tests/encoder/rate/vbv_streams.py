#!/usr/bin/env python3
"""Checks streams with a VBV against the standard's buffer: vbv_streams.py MOTUS [FILE.y4m...]

Encodes generated sequences (cuts, fades, noise that comes and goes, stills) and the given files at
random rates and buffer sizes, with and without HRD. vbv.py judges each stream; constant rates must
be met, and sizes must be those of the summary. MOTUS_VBV=N makes N streams (16); MOTUS_SEED.
"""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile

import vbv


def header(path):
    with open(path, 'rb') as file:
        fields = file.readline().split()[1:]
    value = {f[:1]: f[1:] for f in fields}
    num, den = value[b'F'].split(b':')
    return int(value[b'W']), int(value[b'H']), f'{int(num)}/{int(den)}'


def fade(source, target, rng):
    """The sequence faded to black and back every so often."""
    data = open(source, 'rb').read()
    head, rest = data.split(b'\n', 1)
    width, height, _ = header(source)
    size = width * height * 3 // 2
    period = rng.randint(6, 20)
    with open(target, 'wb') as file:
        file.write(head + b'\n')
        for i in range(len(rest) // (size + 6)):
            frame = rest[i * (size + 6) + 6:(i + 1) * (size + 6)]
            level = abs(i % (2 * period) - period) / period
            luma = bytes(int(16 + (v - 16) * level) if v > 16 else v for v in range(256))
            chroma = bytes(max(0, min(255, int(128 + (v - 128) * level))) for v in range(256))
            n = width * height
            file.write(b'FRAME\n' + frame[:n].translate(luma) + frame[n:].translate(chroma))


def sequences(motus, folder, rng):
    kinds = [['--cut', '7', '--noise', '3'], ['--cut', '23', '--objects', '8'],
             ['--pan', '0,0', '--noise', '0'], ['--pan', '3.25,-2', '--noise', '12'],
             ['--zoom', '1.02', '--cut', '31']]
    made = []
    for k, kind in enumerate(kinds):
        path = os.path.join(folder, f'{k}.y4m')
        size = rng.choice(['176x144', '128x96', '208x160'])
        subprocess.run([motus, 'synth', path, '--size', size, '--frames', '75', '--seed',
                        str(k + 1)] + kind, check=True)
        made.append(path)
    faded = os.path.join(folder, 'fade.y4m')
    fade(made[1], faded, rng)
    return made + [faded]


def settings(rng, width, height, hopeless):
    """Arguments, rate and size; bits a sample from too few at QP 51 to plenty."""
    density = 0.004 if hopeless else rng.choice([0.03, 0.06, 0.12, 0.25, 0.6, 1.5])
    rate = max(8, int(width * height * 25 * density / 1000))
    size = max(8, int(rate * rng.choice([0.4, 0.7, 1, 2])))
    maxrate = rate if rng.random() < 0.5 else int(rate * rng.uniform(1.1, 3))
    arguments = ['--vbv-maxrate', str(maxrate), '--vbv-bufsize', str(size), '--preset', 'faster',
                 '--keyint', str(rng.choice([15, 50, 250]))]
    if rng.random() < 0.25:
        arguments += ['--crf', str(rng.randint(10, 30))]
    else:
        arguments += ['--bitrate', str(rate)]
    hrd = rng.choice(['none', 'vbr', 'cbr'])
    if hrd == 'cbr' and (maxrate != rate or '--crf' in arguments):
        hrd = 'vbr'
    arguments += ['--nal-hrd', hrd]
    if rng.random() < 0.3:
        arguments += ['--tune', 'zerolatency']
    if rng.random() < 0.3:
        arguments += ['--aq-mode', str(rng.randint(1, 2))]
    return arguments, maxrate * 1000, size * 1000, hrd


def check(motus, source, folder, rng, hopeless):
    width, height, fps = header(source)
    arguments, rate, size, hrd = settings(rng, width, height, hopeless)
    stream, stats = os.path.join(folder, 's.264'), os.path.join(folder, 's.json')
    command = [motus, 'encode', source, '-o', stream, '--stats', stats, '--quiet', '--backend',
               'cpu', '--threads', '1'] + arguments
    subprocess.run(command, check=True)
    report = json.load(open(stats))
    wrong = []
    sps, units = vbv.access_units(open(stream, 'rb').read())
    complain = lambda n, text: wrong.append(f'picture {n}: {text}')
    if (sps['hrd'] is not None) != (hrd != 'none'):
        wrong.append('HRD parameters')
    if sps['hrd']:
        late = vbv.check_hrd(sps, units, complain)
    else:
        late = vbv.check_bucket(units, rate, size, vbv.Fraction(fps))
    if len(units) != report['frames']:
        wrong.append(f'{len(units)} access units of {report["frames"]}')
    # The report has display order, access units have coding order.
    display = vbv.display_order(sps, units)
    frames = [report['per_frame'][at] for at in display]
    wrong += [f'{f["bits"]} bits told, {u["bits"]} written' for f, u in zip(frames, units)
              if not sps['hrd'] and f['bits'] != u['bits']][:1]
    # A picture that does not fit at QP 51 is coded all the same, and told; so are those behind it
    # until the channel has caught up.
    told = [n for n, f in enumerate(frames) if f['vbv_fullness'] < 0]
    if told != list(late) or len(told) != report['vbv_underflows']:
        wrong.append(f'late are {list(late)}, told {told}')
    wrong += [f'picture {n} is late at QP {frames[n]["mean_qp"]}' for n in late
              if frames[n]['mean_qp'] < 50.9]
    what = f'{" ".join(arguments)} {os.path.basename(source)}'
    return [f'{what}: {w}' for w in wrong[:3]], bool(late), report['coded_again']


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    seed = int(os.environ.get('MOTUS_SEED', '1'))
    count = int(os.environ.get('MOTUS_VBV', 16))
    rng = random.Random(seed)
    motus, failures, hopeless, again = os.path.abspath(sys.argv[1]), [], 0, 0
    print(f'MOTUS_SEED={seed}, {count} streams')
    with tempfile.TemporaryDirectory() as folder:
        sources = sequences(motus, folder, rng) + sys.argv[2:]
        for i in range(count):
            wrong, told, recoded = check(motus, sources[i % len(sources)], folder, rng, i % 8 == 3)
            failures += wrong
            hopeless += told
            again += recoded
    for line in failures:
        print('FAILED:', line)
    print(f'{count} streams, {len(failures)} failures, {hopeless} with a picture too large at QP '
          f'51 (told), {again} pictures coded again')
    return bool(failures)


if __name__ == '__main__':
    sys.exit(main())
