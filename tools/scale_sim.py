#!/usr/bin/env python3
"""How motus-mpi would do on many ranks: a discrete-event simulation of its protocol, from measured times.

    mpirun -n 2 motus-mpi encode film.y4m -o film.264 --times times.csv
    tools/scale_sim.py times.csv                     a table for 1 to 4,096 ranks
    tools/scale_sim.py times.csv --check             the measured run again, simulated
    tools/scale_sim.py --check-formulas              the simulator against cases whose result is known

Times of parts are drawn from the measured ones in turn, so that a longer film is a longer row of the same parts. Rank 0 is one server:
a message costs it --per-message seconds and its bytes over --bandwidth; a part is asked for, told and answered over --latency. No more
than 2 * ranks + 1 parts are handed out before the first of them is written, as in tools/mpi/master.c.
"""
# SPDX-License-Identifier: BSD-2-Clause
import argparse
import csv
import heapq
import sys


def read_times(path):
    """Parts as (pictures, bytes, seconds, first), in the stream's order, and what the last line says of the run."""
    parts, run = [], {}
    with open(path, newline="") as file:
        for row in csv.reader(file):
            if row and row[0].startswith("#"):
                words = row[0].split()[1:]
                run = {words[i]: float(words[i + 1]) for i in range(0, len(words), 2)}
            elif row:
                parts.append((int(row[1]), int(row[3]), float(row[4]), int(row[0])))
    if not parts or not run:
        sys.exit(f"{path}: has no times of a whole run")
    return sorted(parts, key=lambda part: part[3]), run


def simulate(parts, workers, per_message, latency, bandwidth, window, journal=0.0):
    """Seconds for all parts, and for how many of them rank 0 was busy. parts: (pictures, bytes, seconds, ...).

    Rank 0 serves what comes in the order of arrival: a worker's question, or a finished part with its pictures. Pictures arrive while a
    part is coded; that they are served at its end is the worst case for the one who waits."""
    server, busy = 0.0, 0.0  # when rank 0 is free; for how long it worked
    events = []  # (arrival at rank 0, order, worker, part that is finished or None)
    for worker in range(workers):
        heapq.heappush(events, (latency, worker, worker, None))
    order, handed, head, waiting = workers, 0, 0, []
    done = [False] * len(parts)
    while events:
        arrival, _, worker, part = heapq.heappop(events)
        cost = per_message
        if part is not None:
            pictures, size = parts[part][0], parts[part][1]
            cost += per_message * pictures + size / bandwidth + journal
            done[part] = True
            while head < len(parts) and done[head]:
                head += 1
        server = max(server, arrival) + cost
        busy += cost
        waiting.append(worker)
        while waiting and handed < len(parts) and handed - head < window:
            start = server + latency
            heapq.heappush(events, (start + parts[handed][2] + latency, order, waiting.pop(0), handed))
            order, handed = order + 1, handed + 1
    return server, busy


def repeated(parts, n):
    return [parts[i % len(parts)] for i in range(n)]


def table(parts, args):
    work = sum(part[2] for part in parts) / len(parts)
    pictures = sum(part[0] for part in parts) / len(parts)
    size = sum(part[1] for part in parts) / len(parts)
    print(f"a part: {pictures:.1f} pictures, {size:.0f} bytes, {work:.3f} s; a message: {args.per_message * 1e6:.1f} us; "
          f"latency {args.latency * 1e6:.0f} us; {args.parts} parts a rank")
    print(f"{'ranks':>6} {'parts':>8} {'seconds':>10} {'efficiency':>10} {'rank 0 busy':>11} {'pictures/s':>11}")
    ranks = 1
    while ranks <= args.most:
        all_parts = repeated(parts, ranks * args.parts)
        seconds, busy = simulate(all_parts, ranks, args.per_message, args.latency, args.bandwidth, 2 * ranks + 1)
        ideal = sum(part[2] for part in all_parts) / ranks
        coded = sum(part[0] for part in all_parts)
        print(f"{ranks:6} {len(all_parts):8} {seconds:10.2f} {ideal / seconds:10.1%} {busy / seconds:11.1%} {coded / seconds:11.0f}")
        ranks *= 2
    print(f"rank 0 is the limit from about {work / (args.per_message * (pictures + 1) + size / args.bandwidth):.0f} ranks on")


def check(parts, run, args):
    """The run that was measured: its own parts, workers and times."""
    workers, ranks = int(run["workers"]), int(run["ranks"])
    seconds, busy = simulate(parts, workers, args.per_message, args.latency, args.bandwidth, 2 * ranks + 1)
    seconds += run.get("opening", 0) # of devices, before anybody asks for work
    print(f"{ranks} ranks, {workers} workers, {len(parts)} parts: measured {run['seconds']:.3f} s, simulated {seconds:.3f} s "
          f"({seconds / run['seconds'] - 1:+.1%}), rank 0 busy {busy / seconds:.1%}")


def check_formulas():
    """Cases with a known result."""
    free = dict(per_message=0, latency=0, bandwidth=float("inf"))
    failures = 0

    def expect(what, got, wanted):
        nonlocal failures
        if abs(got - wanted) > 1e-9 * max(1, wanted):
            print(f"{what}: {got}, not {wanted}")
            failures += 1

    same = [(10, 1000, 2.0)] * 12
    for workers in (1, 2, 3, 4, 6, 12):
        expect(f"{workers} workers", simulate(same, workers, window=99, **free)[0], 24 / workers)
    expect("more workers than parts", simulate(same, 50, window=999, **free)[0], 2)
    expect("a long part first", simulate([(1, 1, 10.0)] + [(1, 1, 1.0)] * 9, 2, window=99, **free)[0], 10)
    expect("a long part first, narrow window", simulate([(1, 1, 10.0)] + [(1, 1, 1.0)] * 9, 2, window=2, **free)[0], 14)
    expect("latency", simulate(same, 1, per_message=0, latency=0.25, bandwidth=float("inf"), window=9)[0], 0.25 + 12 * 2.5)
    # Rank 0 is the limit: 1 second a message, 11 messages a part and a question of each worker's.
    seconds, busy = simulate(same, 12, per_message=1, latency=0, bandwidth=float("inf"), window=99)
    expect("rank 0's work", busy, 12 * 11 + 12)
    if not busy <= seconds <= busy + 3:
        print(f"rank 0 is the limit: {seconds} s, busy {busy} s")
        failures += 1
    expect("bandwidth", simulate([(0, 500, 1.0)], 1, per_message=0, latency=0, bandwidth=100, window=9)[0], 6)
    print("failed" if failures else "all cases are right")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("times", nargs="?", help="of motus-mpi encode --times")
    parser.add_argument("--check", action="store_true", help="simulate the measured run")
    parser.add_argument("--check-formulas", action="store_true", help="cases whose result is known")
    parser.add_argument("--per-message", type=float, help="seconds of rank 0 (default: what the processor took for a message in the run)")
    parser.add_argument("--latency", type=float, default=20e-6, help="seconds, one way (20e-6)")
    parser.add_argument("--bandwidth", type=float, default=1e9, help="bytes a second that rank 0 takes in and writes (1e9)")
    parser.add_argument("--parts", type=int, default=20, help="parts for each rank in the table (20)")
    parser.add_argument("--most", type=int, default=4096, help="ranks (4096)")
    args = parser.parse_args()
    if args.check_formulas:
        return check_formulas()
    if not args.times:
        parser.error("the times are missing")
    parts, run = read_times(args.times)
    if args.per_message is None:
        args.per_message = run["cpu"] / run["messages"]
    if args.check:
        check(parts, run, args)
    else:
        table(parts, args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
