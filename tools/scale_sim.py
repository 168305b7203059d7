#!/usr/bin/env python3
"""Predicts motus-mpi on many ranks: simulates its protocol by discrete events, from measured times.

    mpirun -n 2 motus-mpi encode film.y4m -o film.264 --times times.csv
    tools/scale_sim.py times.csv                     a table for 1 to 4,096 ranks
    tools/scale_sim.py times.csv --check             the measured run, simulated
    tools/scale_sim.py --check-formulas              cases whose result is known

Segment times repeat the measured ones in order. A worker codes its segments one after another; a
segment's time runs from the end of the one before. The worker requests the next segment 50 ms
before the last frame of this one is sent (tools/mpi/worker.c). Rank 0 is one server: a message
costs it --per-message seconds, pictures --per-picture-message and --per-byte; --latency is one way.
At most 2 * ranks * (GOP coders + 1) + 1 segments are handed out before the oldest is written, each
to the requesting rank that has the fewest (tools/mpi/master.c). If GOPs begin at scene cuts, a
segment is handed out once its end has been scanned (tools/mpi/scene_scan.h).
"""
# SPDX-License-Identifier: BSD-2-Clause
import argparse
import csv
import heapq
import signal
import sys


def read_times(path):
    """Returns segments as (pictures, bytes, seconds, first, rank, end) in stream order, and the
    last line's values."""
    segments, run = [], {}
    with open(path, newline="") as file:
        for row in csv.reader(file):
            if row and row[0].startswith("#"):
                words = row[0].split()[1:]
                run = {words[i]: float(words[i + 1]) for i in range(0, len(words), 2)}
            elif row:
                first, pictures, rank, size = map(int, row[:4])
                segments.append((pictures, size, float(row[4]), first, rank, float(row[5])))
    if not segments or not run:
        sys.exit(f"{path}: has no times of a whole run")
    return sorted(segments, key=lambda segment: segment[3]), run


class Costs:
    """Seconds of rank 0 per message, message of pictures and byte; seconds of latency."""

    def __init__(self, message=0.0, pictures=0.0, byte=0.0, latency=0.0):
        self.message, self.pictures, self.byte, self.latency = message, pictures, byte, latency

    def segment(self, size):
        """A segment's pictures: a message a MiB (tools/mpi/worker.c, HELD_BYTES)."""
        return self.pictures * (1 + size // (1 << 20)) + self.byte * size


class SceneScan:
    """Scanners, seconds a picture, pictures of a stretch, mean scans of a picture, and when the
    scan begins. No scanners: no scan."""

    def __init__(self, scanners=0, seconds=0.0, stretch=240, times=1.0, begin=0.0):
        self.scanners, self.seconds, self.stretch = scanners, seconds, stretch
        self.times, self.begin = times, begin

    def known(self, segments):
        """Returns when each segment's end is known: its last picture and the next one have been
        scanned, and all stretches before have met the next one."""
        if not self.scanners:
            return [0.0] * len(segments)
        total, end, found, known = sum(segment[0] for segment in segments), 0, 0.0, []

        def begins(stretch):  # pictures that each scanner has scanned before this stretch
            return stretch // self.scanners * self.stretch * self.times

        for segment in segments:
            end += segment[0]
            stretch = end // self.stretch if self.scanners > 1 else 0
            found = max(found, begins(stretch) + end - stretch * self.stretch + (end < total))
            if stretch:
                found = max(found, begins(stretch - 1) + self.stretch * self.times + 1)
            known.append(self.begin + self.seconds * found)
        return known


AHEAD = 0.05  # seconds (tools/mpi/worker.c)


def window_of(ranks, gop_coders):
    return 2 * ranks * (gop_coders + 1) + 1


def simulate(segments, workers, gop_coders, window, costs, ahead=AHEAD, opening=(), scan=None):
    """Returns the seconds for all segments, and those that rank 0 was busy. segments: (pictures,
    bytes, seconds, ...). opening: each worker's first request, 0 by default."""
    server, busy, order = 0.0, 0.0, 0  # when rank 0 is free, how long it worked
    ends = [[0.0] for _ in range(workers)]  # of each worker's segments
    assigned = [0] * workers  # segments in progress, as rank 0 knows it
    # Segments in progress when the frames of another one have been sent; a lone GOP coder holds
    # four frames.
    queue = gop_coders if gop_coders > 1 else 0
    done = [False] * len(segments)
    requests, handed, head, awaited = [], 0, 0, 0
    known = (scan or SceneScan()).known(segments)
    # (when, order, what, worker, segment): "request", "done" and "known" at rank 0, "arrives" at a
    # worker
    events = []

    def happens(when, what, worker, segment=None):
        nonlocal order
        order += 1
        heapq.heappush(events, (when, order, what, worker, segment))

    for worker in range(workers):
        begin = opening[worker] if worker < len(opening) else 0
        happens(begin + costs.latency, "request", worker)
    while events:
        now, _, what, worker, segment = heapq.heappop(events)
        if what == "arrives":
            own = ends[worker]
            own.append(max(own[-1], now) + segments[segment][2])
            happens(own[-1] + costs.latency, "done", worker, segment)
            before = len(own) - 1 - queue
            # A worker does not know how long its first segment takes.
            sent = own[before] - (ahead if len(own) > 2 else 0) if before > 0 else now
            happens(max(now, sent) + costs.latency, "request", worker)
            continue
        cost = {"request": costs.message, "known": 0.0,
                "done": costs.segment(segments[segment][1]) if what == "done" else 0.0}[what]
        server = max(server, now) + cost
        busy += cost
        if what == "request":
            heapq.heappush(requests, (assigned[worker], worker))
        elif what == "done":
            assigned[worker] -= 1
            done[segment] = True
            while head < len(segments) and done[head]:
                head += 1
        while requests and handed < len(segments) and handed - head < window:
            if known[handed] > server:
                if awaited <= handed:
                    happens(known[handed], "known", None)
                    awaited = handed + 1
                break
            least, worker = heapq.heappop(requests)
            if least != assigned[worker]:  # it has finished some since
                heapq.heappush(requests, (assigned[worker], worker))
                continue
            assigned[worker] += 1
            happens(server + costs.latency, "arrives", worker, handed)
            handed += 1
    return server, busy


def scan_of(segments, run):
    """Returns the scan of a measured run."""
    if not run.get("scanned"):
        return SceneScan()
    pictures = sum(segment[0] for segment in segments)
    return SceneScan(int(run["scanners"]), run["scan_seconds"] / run["scanned"],
                     int(run["stretch"]), max(1.0, run["scanned"] / pictures), run["scan_start"])


def table(segments, args, costs, scan):
    n = len(segments)
    work, pictures, size = (sum(segment[i] for segment in segments) / n for i in (2, 0, 1))
    print(f"a segment: {pictures:.1f} pictures, {size:.0f} bytes, {work:.3f} s; rank 0: "
          f"{costs.message * 1e6:.1f} us a message, {costs.pictures * 1e6:.1f} us a message of "
          f"pictures and {costs.byte * 1e9:.2f} ns a byte; latency {costs.latency * 1e6:.0f} us; "
          f"{args.segments} segments a rank")
    print(f"{'ranks':>6} {'segments':>8} {'seconds':>10} {'efficiency':>10} {'rank 0 busy':>11} "
          f"{'pictures/s':>11}")
    ranks = 1
    while ranks <= args.most:
        repeated = [segments[i % n] for i in range(ranks * args.segments)]
        seconds, busy = simulate(repeated, ranks, args.gop_coders,
                                 window_of(ranks, args.gop_coders), costs, scan=scan)
        ideal = sum(segment[2] for segment in repeated) / ranks
        coded = sum(segment[0] for segment in repeated)
        print(f"{ranks:6} {len(repeated):8} {seconds:10.2f} {ideal / seconds:10.1%} "
              f"{busy / seconds:11.1%} {coded / seconds:11.0f}")
        ranks *= 2
    if scan.scanners:
        limit = work / pictures * scan.scanners / (scan.seconds * scan.times)
        print(f"{scan.scanners} scanners, {scan.seconds * 1e6:.0f} us a picture, each scanned "
              f"{scan.times:.2f} times: the limit from about {limit:.1f} ranks on")
    limit = work / (costs.message + costs.segment(size))
    print(f"rank 0 is the limit from about {limit:.0f} ranks on")


def check(segments, run, args, costs, scan):
    """Simulates the measured run: its segments, workers and times."""
    workers, ranks = int(run["workers"]), int(run["ranks"])
    begins = {}  # of each rank's first segment: until then it opened its device
    for _, _, seconds, _, rank, ended in segments:
        begins[rank] = min(begins.get(rank, ended), ended - seconds)
    seconds, busy = simulate(segments, workers, args.gop_coders, window_of(ranks, args.gop_coders),
                             costs, opening=sorted(begins.values()), scan=scan)
    print(f"{ranks} ranks, {workers} workers, {len(segments)} segments: measured "
          f"{run['seconds']:.3f} s, simulated {seconds:.3f} s "
          f"({seconds / run['seconds'] - 1:+.1%}), rank 0 busy {busy / seconds:.1%}")


def check_formulas():
    """Simulates cases with a known result."""
    free = Costs()
    failures = 0

    def expect(what, wanted, segments, workers, gop_coders, window, costs=free, **more):
        nonlocal failures
        got = simulate(segments, workers, gop_coders, window, costs, **more)[0]
        if abs(got - wanted) > 1e-9 * max(1, wanted):
            print(f"{what}: {got}, not {wanted}")
            failures += 1

    same = [(10, 1000, 2.0)] * 12
    for workers in (1, 2, 3, 4, 6, 12):
        for coders in (1, 2, 3):
            if 12 // workers > coders:
                expect(f"{workers} workers, {coders} GOP coders", 24 / workers,
                       same, workers, coders, 99)
    expect("more workers than segments", 2, same, 50, 1, 999)
    long_first = [(1, 1, 10.0)] + [(1, 1, 1.0)] * 9
    expect("a long segment first", 10, long_first, 2, 1, 99)
    expect("a long segment first, three wait behind it", 12, long_first, 2, 2, 99)
    expect("a long segment first, narrow window", 14, long_first, 2, 1, 2)
    late = Costs(latency=0.25)
    expect("latency, requested in time", 1 + 12 * 2 + 0.25, same, 1, 1, 9, late, ahead=0.5)
    expect("latency, requested late", 1 + 12 * 2 + 10 * 0.3 + 0.25, same, 1, 1, 9, late, ahead=0.2)
    # Rank 0 is the limit: 11 seconds for the pictures of a segment, and 1 for each request, of
    # which every worker has one left at the end.
    seconds, busy = simulate(same, 12, 1, 99, Costs(message=1, byte=0.011))
    if abs(busy - (12 * 11 + 24)) > 1e-6 or not busy <= seconds <= busy + 3:
        print(f"rank 0 is the limit: {seconds} s, busy {busy} s")
        failures += 1
    expect("bytes", 6, [(0, 500, 1.0)], 1, 1, 9, Costs(byte=0.01))
    expect("a worker that opens late", 18, same, 2, 1, 99, opening=(0, 11))
    scanned = 0.5 * 120  # no picture follows the last segment
    expect("one scanner", scanned + 2, same, 12, 1, 99, scan=SceneScan(1, 0.5))
    expect("one scanner, later", 7 + scanned + 2, same, 12, 1, 99, scan=SceneScan(1, 0.5, begin=7))
    expect("one fast scanner", 1.1 + 24, same, 1, 1, 99, scan=SceneScan(1, 0.1))
    expect("two scanners", 0.5 * 61 + 2, same, 12, 1, 99, scan=SceneScan(2, 0.5, stretch=60))
    expect("two scanners, half of it twice", 0.5 * 91 + 2, same, 12, 1, 99,
           scan=SceneScan(2, 0.5, stretch=60, times=1.5))
    expect("two scanners, four stretches", 0.5 * 61 + 2, same, 12, 1, 99,
           scan=SceneScan(2, 0.5, stretch=30))
    expect("messages of a MiB", 4, [(0, 5 << 19, 1.0)], 1, 1, 9, Costs(pictures=1))
    print("failed" if failures else "all cases are right")
    return 1 if failures else 0


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("times", nargs="?", help="of motus-mpi encode --times")
    add("--check", action="store_true", help="simulate the measured run")
    add("--check-formulas", action="store_true", help="cases whose result is known")
    add("--per-message", type=float,
        help="seconds of rank 0 for a message without pictures (default: CPU time of the run)")
    add("--per-picture-message", type=float, default=0.0, help="for one with pictures (0)")
    add("--per-byte", type=float,
        help="for each of its bytes (default: all that they took in the run)")
    add("--gop-coders", type=int, help="of a worker (default: of the run)")
    add("--latency", type=float, default=20e-6, help="seconds, one way (20e-6)")
    add("--segments", type=int, default=20, help="for each rank in the table (20)")
    add("--most", type=int, default=4096, help="ranks (4096)")
    args = parser.parse_args()
    if args.check_formulas:
        return check_formulas()
    if not args.times:
        parser.error("the times are missing")
    segments, run = read_times(args.times)
    if args.per_message is None:
        args.per_message = run["cpu"] / max(1, run["messages"])
    if args.per_byte is None:
        messages = args.per_picture_message * run["pictures"]
        args.per_byte = (run["cpu_pictures"] - messages) / max(1, run["bytes"])
    if args.gop_coders is None:
        args.gop_coders = int(run["gop_coders"])
    costs = Costs(args.per_message, args.per_picture_message, args.per_byte, args.latency)
    scan = scan_of(segments, run)
    if args.check:
        check(segments, run, args, costs, scan)
    else:
        scan.begin = 0.0
        table(segments, args, costs, scan)
    return 0


if __name__ == "__main__":
    sys.exit(main())
