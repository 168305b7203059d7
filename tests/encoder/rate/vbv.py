#!/usr/bin/env python3
"""Checks the decoder's buffer of Annex C of H.264 from the stream alone.

    vbv.py [--rate BITS_A_SECOND --size BITS --fps N/D] FILE.264...

Reads the VUI's HRD parameters, buffering periods and picture timings, and checks arrival and
removal of every access unit (C.1, C.2.1): no underflow; with cbr_flag the buffer is never full
before the last bit; delays fit the buffer. A stream without HRD is checked against the given rate
and size, as a leaky bucket that begins nine tenths full. Exit status 1 if anything is wrong.
"""
import argparse
import signal
import sys
from fractions import Fraction


class Bits:
    def __init__(self, rbsp):
        self.data, self.at = rbsp, 0

    def u(self, n):
        v = 0
        for _ in range(n):
            v = v << 1 | self.data[self.at >> 3] >> (7 - (self.at & 7)) & 1
            self.at += 1
        return v

    def ue(self):
        n = 0
        while not self.u(1):
            n += 1
        return (1 << n) - 1 + self.u(n)

    def se(self):
        k = self.ue()
        return (k + 1) // 2 if k & 1 else -(k // 2)


def nal_units(data):
    """(first byte of the start code with its zero_byte, first byte of the NAL unit, its end)."""
    starts, at = [], data.find(b'\0\0\1')
    while at >= 0:
        starts.append((at - 1 if at and data[at - 1] == 0 else at, at + 3))
        at = data.find(b'\0\0\1', at + 3)
    for i, (code, first) in enumerate(starts):
        yield code, first, starts[i + 1][0] if i + 1 < len(starts) else len(data)


def rbsp_of(nal):
    return nal[1:].replace(b'\0\0\3', b'\0\0')


def read_hrd(b):
    hrd = {'count': b.ue() + 1}
    rate_scale, size_scale = b.u(4), b.u(4)
    for i in range(hrd['count']):
        rate, size, cbr = (b.ue() + 1) << (6 + rate_scale), (b.ue() + 1) << (4 + size_scale), b.u(1)
        if i == 0:
            hrd.update(rate=rate, size=size, cbr=cbr)
    for name in ('initial_bits', 'removal_bits', 'output_bits'):
        hrd[name] = b.u(5) + 1
    hrd['offset_bits'] = b.u(5)
    return hrd


def read_sps(rbsp):
    b = Bits(rbsp)
    profile = b.u(8)
    b.u(16), b.ue()
    if profile == 100:  # chroma format, bit depths, no scaling matrices
        b.ue(), b.ue(), b.ue(), b.u(2)
    sps = {'hrd': None, 'frame_num_bits': b.ue() + 4, 'poc_bits': 0}
    if b.ue() == 0:
        sps['poc_bits'] = b.ue() + 4
    b.ue(), b.u(1), b.ue(), b.ue(), b.u(1), b.u(1)
    if b.u(1):
        [b.ue() for _ in range(4)]
    if not b.u(1):
        return sps
    if b.u(1) and b.u(8) == 255:
        b.u(32)
    if b.u(1):
        b.u(1)
    if b.u(1):
        b.u(4)
        if b.u(1):
            b.u(24)
    if b.u(1):
        b.ue(), b.ue()
    if b.u(1):
        units, scale = b.u(32), b.u(32)
        sps['tick'] = Fraction(units, scale)
        b.u(1)
    if b.u(1):
        sps['hrd'] = read_hrd(b)
    if b.u(1):
        read_hrd(b)
    return sps


def messages(rbsp):
    at = 0
    while at + 2 < len(rbsp):
        kind = size = 0
        while rbsp[at] == 255:
            kind, at = kind + 255, at + 1
        kind, at = kind + rbsp[at], at + 1
        while rbsp[at] == 255:
            size, at = size + 255, at + 1
        size, at = size + rbsp[at], at + 1
        yield kind, rbsp[at:at + size]
        at += size


def read_poc_lsb(sps, nal):
    """pic_order_cnt_lsb of a slice, 0 without; frames only."""
    b = Bits(rbsp_of(nal[:40]))
    b.ue(), b.ue(), b.ue(), b.u(sps['frame_num_bits'])
    if nal[0] & 31 == 5:
        b.ue()
    return b.u(sps['poc_bits'])


def display_order(sps, units):
    """The index in display order of each access unit."""
    keys, period, poc = [], 0, 0
    for n, unit in enumerate(units):
        if unit['idr']:
            period, poc = period + 1, 0
        if sps['poc_bits']:
            half = 1 << (sps['poc_bits'] - 1)
            poc += (unit['poc_lsb'] - poc + half) % (2 * half) - half
        keys.append((period, poc, n))
    order = sorted(range(len(units)), key=lambda n: keys[n])
    display = [0] * len(units)
    for at, n in enumerate(order):
        display[n] = at
    return display


def access_units(data):
    """Dictionaries with bits, buffering (delay, offset) or None, removal, idr and poc_lsb."""
    sps, unit, units, seen = None, None, [], False
    for code, first, end in nal_units(data):
        kind = data[first] & 31
        begins = kind in (6, 7, 8, 9) and seen or kind in (1, 5) and seen and data[first + 1] & 0x80
        if unit is None or begins:
            unit, seen = {'bits': 0, 'buffering': None, 'removal': None}, False
            units.append(unit)
        unit['bits'] += 8 * (end - code)
        if kind in (1, 5) and not seen:
            unit.update(idr=kind == 5, poc_lsb=read_poc_lsb(sps, data[first:end]))
        seen = seen or kind in (1, 5)
        if kind == 7:
            sps = read_sps(rbsp_of(data[first:end]))
        if kind == 6 and sps and sps['hrd']:
            h = sps['hrd']
            for sei, payload in messages(rbsp_of(data[first:end])):
                b = Bits(payload)
                if sei == 0:
                    b.ue()
                    unit['buffering'] = b.u(h['initial_bits']), b.u(h['initial_bits'])
                if sei == 1:
                    unit['removal'] = b.u(h['removal_bits'])
    return sps, units


def check_hrd(sps, units, complain):
    """Returns the pictures that arrive too late, each with how much."""
    late = {}
    h, tick = sps['hrd'], sps['tick']
    final, period, removed = Fraction(0), None, Fraction(0)
    for n, unit in enumerate(units):
        if unit['removal'] is None:
            complain(n, 'no picture timing')
            return late
        if n == 0 or unit['buffering']:
            if not unit['buffering']:
                complain(n, 'no buffering period')
                return late
            delay, offset = unit['buffering']
        removal = Fraction(delay, 90000) if n == 0 else period + tick * unit['removal']  # C.1.2
        if unit['buffering']:
            if delay < 1 or (delay + offset) * h['rate'] > 90000 * h['size'] + h['rate']:
                complain(n, f'initial delay {delay} + {offset} is more than the buffer')
            if n and delay > max(1, (removal - final) * 90000 + 1):  # 0 is forbidden, even if late
                complain(n, f'initial delay {delay} is longer than '
                         f'{float((removal - final) * 90000):.1f}')
        earliest = removal - Fraction(delay + (0 if unit['buffering'] else offset), 90000)
        begins = final if h['cbr'] else max(final, earliest)  # C.1.1
        if n == 0:
            begins = Fraction(0)
        final = begins + Fraction(unit['bits'], h['rate'])
        if final > removal:
            late[n] = f'arrives {float(final - removal):.6f} s too late'
        if unit['buffering']:
            period = removal
        if removed > removal:
            complain(n, 'removed before the one before it')
        removed = removal
        unit['begins'], unit['final'], unit['removed'] = begins, final, removal
    occupancy(h, units, complain)
    return late


def occupancy(h, units, complain):
    """Bits that have arrived and not been removed, looked at right before each removal (C.3)."""
    for n, unit in enumerate(units):
        total = Fraction(0)
        for later in units[n:]:
            if later['begins'] >= unit['removed']:
                break
            total += min(Fraction(later['bits']), (unit['removed'] - later['begins']) * h['rate'])
        if total > h['size'] + 64:
            complain(n, f'{float(total):.0f} bits in a buffer of {h["size"]}')


def check_bucket(units, rate, size, fps):
    """Returns the pictures that arrive too late; those behind them wait for them."""
    held, late = Fraction(size) * 9 / 10, {}
    for n, unit in enumerate(units):
        held -= unit['bits']
        if held < 0:
            late[n] = f'{float(-held):.0f} bits are missing'
        held = min(held + Fraction(rate) / fps, Fraction(size))
    return late


def check_file(path, args):
    data = open(path, 'rb').read()
    sps, units = access_units(data)
    wrong = []
    complain = lambda n, text: wrong.append(f'{path}: picture {n}: {text}')
    late = {}
    if args.rate:
        late = check_bucket(units, args.rate, args.size, Fraction(args.fps))
    elif not sps or not sps['hrd']:
        wrong.append(f'{path}: no HRD parameters, and no --rate')
    if sps and sps['hrd']:
        late.update(check_hrd(sps, units, complain))
    for n, text in late.items():
        complain(n, text)
    for line in wrong[:5]:
        print(line)
    return not wrong, len(units)


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rate', type=int)
    parser.add_argument('--size', type=int)
    parser.add_argument('--fps', default='25')
    parser.add_argument('files', nargs='+')
    args = parser.parse_args()
    good = 0
    for path in args.files:
        ok, n = check_file(path, args)
        good += ok
    print(f'{good} of {len(args.files)} streams keep their buffer')
    return good != len(args.files)


if __name__ == '__main__':
    sys.exit(main())
