#!/usr/bin/env python3
"""How motus-mpi would do on many ranks: a discrete-event simulation of its protocol, from measured times.

    mpirun -n 2 motus-mpi encode film.y4m -o film.264 --times times.csv
    tools/scale_sim.py times.csv                     a table for 1 to 4,096 ranks
    tools/scale_sim.py times.csv --check             the measured run again, simulated
    tools/scale_sim.py --check-formulas              the simulator against cases whose result is known

Times of parts are drawn from the measured ones in turn, so that a longer film is a longer row of the same parts. A worker does parts one after another: a part's time is what
passes from the end of the one before it to its own. Its encoder takes all frames of a part when the one that had the same lane before is done, and the worker asks for
another one 50 ms before that, as tools/mpi/worker.c does. Rank 0 is one server: a message costs it --per-word seconds, pictures --per-picture-message and --per-byte; messages
take --latency. No more than 2 * ranks * (lanes + 1) + 1 parts are handed out before the first of them is written, as in tools/mpi/master.c, which gives a part to the one
of those who ask who has least to do. Where GOPs begin at scene cuts, rank 0 looks for them ahead of those who code, several stretches of the input at a time (tools/mpi/cuts.h), and
a part cannot be handed out before its end has been seen.
"""
# SPDX-License-Identifier: BSD-2-Clause
import argparse
import csv
import heapq
import sys


def read_times(path):
    """Parts as (pictures, bytes, seconds, first, rank, when it was done), in the stream's order, and what the last line says of the run."""
    parts, run = [], {}
    with open(path, newline="") as file:
        for row in csv.reader(file):
            if row and row[0].startswith("#"):
                words = row[0].split()[1:]
                run = {words[i]: float(words[i + 1]) for i in range(0, len(words), 2)}
            elif row:
                parts.append((int(row[1]), int(row[3]), float(row[4]), int(row[0]), int(row[2]), float(row[5])))
    if not parts or not run:
        sys.exit(f"{path}: has no times of a whole run")
    return sorted(parts, key=lambda part: part[3]), run


class Costs:
    """Of rank 0, in seconds; and the way between it and the others."""

    def __init__(self, word=0.0, pictures=0.0, byte=0.0, latency=0.0):
        self.word, self.pictures, self.byte, self.latency = word, pictures, byte, latency

    def part(self, size):
        """A part's pictures: a message a MiB (tools/mpi/worker.c, HELD)."""
        return self.pictures * (1 + size // (1 << 20)) + self.byte * size


class Looking:
    """For cuts: how many look, seconds of a picture, pictures of a stretch, how many times each is looked at on average, and when that begins. No lookers: nobody has to."""

    def __init__(self, lookers=0, seconds=0.0, stretch=240, times=1.0, begin=0.0):
        self.lookers, self.seconds, self.stretch, self.times, self.begin = lookers, seconds, stretch, times, begin

    def known(self, parts):
        """When the end of each part is: as its last picture and the one after that have been seen, and all stretches before have met the next one."""
        if not self.lookers:
            return [0.0] * len(parts)
        total, end, found, known = sum(part[0] for part in parts), 0, 0.0, []

        def begins(run):  # pictures that each looker has seen when a run begins
            return run // self.lookers * self.stretch * self.times

        for part in parts:
            end += part[0]
            run = end // self.stretch if self.lookers > 1 else 0
            found = max(found, begins(run) + end - run * self.stretch + (end < total))
            if run:
                found = max(found, begins(run - 1) + self.stretch * self.times + 1)
            known.append(self.begin + self.seconds * found)
        return known


AHEAD = 0.05  # seconds (tools/mpi/worker.c)


def window_of(ranks, lanes):
    return 2 * ranks * (lanes + 1) + 1


def simulate(parts, workers, lanes, window, costs, ahead=AHEAD, opening=(), looking=None):
    """Seconds for all parts, and for how many of them rank 0 was busy. parts: (pictures, bytes, seconds, ...). opening: when each worker first asks; 0 where there is none."""
    server, busy, order = 0.0, 0.0, 0  # when rank 0 is free; for how long it worked
    ends = [[0.0] for _ in range(workers)]  # when a worker's parts are done; at first nothing is under way
    has = [0] * workers  # parts under way, as rank 0 knows it
    queue = lanes if lanes > 1 else 0  # parts that are under way when the frames of another one have been sent; a lone lane holds four frames
    done = [False] * len(parts)
    asking, handed, head, awaited = [], 0, 0, 0
    known = (looking or Looking()).known(parts)
    events = []  # (when, order, what, worker, part): "ask", "done" and "known" at rank 0, "comes" at a worker

    def happens(when, what, worker, part=None):
        nonlocal order
        order += 1
        heapq.heappush(events, (when, order, what, worker, part))

    for worker in range(workers):
        happens((opening[worker] if worker < len(opening) else 0) + costs.latency, "ask", worker)
    while events:
        now, _, what, worker, part = heapq.heappop(events)
        if what == "comes":
            own = ends[worker]
            own.append(max(own[-1], now) + parts[part][2])
            happens(own[-1] + costs.latency, "done", worker, part)
            before = len(own) - 1 - queue
            sent = own[before] - (ahead if len(own) > 2 else 0) if before > 0 else now  # of its first part a worker does not know how long it takes
            happens(max(now, sent) + costs.latency, "ask", worker)
            continue
        cost = {"ask": costs.word, "known": 0.0, "done": costs.part(parts[part][1]) if what == "done" else 0.0}[what]
        server = max(server, now) + cost
        busy += cost
        if what == "ask":
            heapq.heappush(asking, (has[worker], worker))
        elif what == "done":
            has[worker] -= 1
            done[part] = True
            while head < len(parts) and done[head]:
                head += 1
        while asking and handed < len(parts) and handed - head < window:
            if known[handed] > server:
                if awaited <= handed:
                    happens(known[handed], "known", None)
                    awaited = handed + 1
                break
            least, worker = heapq.heappop(asking)
            if least != has[worker]:  # it has finished some since
                heapq.heappush(asking, (has[worker], worker))
                continue
            has[worker] += 1
            happens(server + costs.latency, "comes", worker, handed)
            handed += 1
    return server, busy


def looking_of(parts, run):
    """As it was in a run."""
    if not run.get("looked"):
        return Looking()
    pictures = sum(part[0] for part in parts)
    return Looking(int(run["lookers"]), run["looking"] / run["looked"], int(run["stretch"]), max(1.0, run["looked"] / pictures), run["looking_from"])


def repeated(parts, n):
    return [parts[i % len(parts)] for i in range(n)]


def table(parts, args, costs, looking):
    work = sum(part[2] for part in parts) / len(parts)
    pictures = sum(part[0] for part in parts) / len(parts)
    size = sum(part[1] for part in parts) / len(parts)
    print(f"a part: {pictures:.1f} pictures, {size:.0f} bytes, {work:.3f} s; rank 0: {costs.word * 1e6:.1f} us a word, {costs.pictures * 1e6:.1f} us "
          f"a message of pictures and {costs.byte * 1e9:.2f} ns a byte; latency {costs.latency * 1e6:.0f} us; {args.parts} parts a rank")
    print(f"{'ranks':>6} {'parts':>8} {'seconds':>10} {'efficiency':>10} {'rank 0 busy':>11} {'pictures/s':>11}")
    ranks = 1
    while ranks <= args.most:
        all_parts = repeated(parts, ranks * args.parts)
        seconds, busy = simulate(all_parts, ranks, args.lanes, window_of(ranks, args.lanes), costs, looking=looking)
        ideal = sum(part[2] for part in all_parts) / ranks
        coded = sum(part[0] for part in all_parts)
        print(f"{ranks:6} {len(all_parts):8} {seconds:10.2f} {ideal / seconds:10.1%} {busy / seconds:11.1%} {coded / seconds:11.0f}")
        ranks *= 2
    if looking.lookers:
        print(f"{looking.lookers} look for cuts, {looking.seconds * 1e6:.0f} us a picture, each {looking.times:.2f} times: "
              f"the limit from about {work / pictures * looking.lookers / (looking.seconds * looking.times):.1f} ranks on")
    print(f"rank 0 is the limit from about {work / (costs.word + costs.part(size)):.0f} ranks on")


def check(parts, run, args, costs, looking):
    """The run that was measured: its own parts, workers and times."""
    workers, ranks = int(run["workers"]), int(run["ranks"])
    begins = {}  # when each rank's first part began: until then it opened its device
    for _, _, seconds, _, rank, ended in parts:
        begins[rank] = min(begins.get(rank, ended), ended - seconds)
    seconds, busy = simulate(parts, workers, args.lanes, window_of(ranks, args.lanes), costs, opening=sorted(begins.values()), looking=looking)
    print(f"{ranks} ranks, {workers} workers, {len(parts)} parts: measured {run['seconds']:.3f} s, simulated {seconds:.3f} s "
          f"({seconds / run['seconds'] - 1:+.1%}), rank 0 busy {busy / seconds:.1%}")


def check_formulas():
    """Cases with a known result."""
    free = Costs()
    failures = 0

    def expect(what, got, wanted):
        nonlocal failures
        if abs(got - wanted) > 1e-9 * max(1, wanted):
            print(f"{what}: {got}, not {wanted}")
            failures += 1

    same = [(10, 1000, 2.0)] * 12
    for workers in (1, 2, 3, 4, 6, 12):
        for lanes in (1, 2, 3):
            if 12 // workers > lanes:
                expect(f"{workers} workers, {lanes} lanes", simulate(same, workers, lanes, 99, free)[0], 24 / workers)
    expect("more workers than parts", simulate(same, 50, 1, 999, free)[0], 2)
    long_first = [(1, 1, 10.0)] + [(1, 1, 1.0)] * 9
    expect("a long part first", simulate(long_first, 2, 1, 99, free)[0], 10)
    expect("a long part first, three wait behind it", simulate(long_first, 2, 2, 99, free)[0], 12)
    expect("a long part first, narrow window", simulate(long_first, 2, 1, 2, free)[0], 14)
    expect("latency, asked for in time", simulate(same, 1, 1, 9, Costs(latency=0.25), ahead=0.5)[0], 1 + 12 * 2 + 0.25)
    expect("latency, asked for late", simulate(same, 1, 1, 9, Costs(latency=0.25), ahead=0.2)[0], 1 + 12 * 2 + 10 * 0.3 + 0.25)
    # Rank 0 is the limit: 11 seconds for the pictures of a part, and 1 for each question, of which every worker has one left at the end.
    seconds, busy = simulate(same, 12, 1, 99, Costs(word=1, byte=0.011))
    expect("rank 0's work", busy, 12 * 11 + 24)
    if not busy <= seconds <= busy + 3:
        print(f"rank 0 is the limit: {seconds} s, busy {busy} s")
        failures += 1
    expect("bytes", simulate([(0, 500, 1.0)], 1, 1, 9, Costs(byte=0.01))[0], 6)
    expect("a worker that opens late", simulate(same, 2, 1, 99, free, opening=(0, 11))[0], 18)
    looks = 0.5 * 120  # of the last part the next picture is not there
    expect("one looks", simulate(same, 12, 1, 99, free, looking=Looking(1, 0.5))[0], looks + 2)
    expect("one looks, later", simulate(same, 12, 1, 99, free, looking=Looking(1, 0.5, begin=7))[0], 7 + looks + 2)
    expect("one looks, nobody waits", simulate(same, 1, 1, 99, free, looking=Looking(1, 0.1))[0], 1.1 + 24)
    expect("two look", simulate(same, 12, 1, 99, free, looking=Looking(2, 0.5, stretch=60))[0], 0.5 * 61 + 2)
    expect("two look, half of it twice", simulate(same, 12, 1, 99, free, looking=Looking(2, 0.5, stretch=60, times=1.5))[0], 0.5 * 91 + 2)
    expect("two look, four stretches", simulate(same, 12, 1, 99, free, looking=Looking(2, 0.5, stretch=30))[0], 0.5 * 61 + 2)
    expect("messages of a MiB", simulate([(0, 5 << 19, 1.0)], 1, 1, 9, Costs(pictures=1))[0], 4)
    print("failed" if failures else "all cases are right")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("times", nargs="?", help="of motus-mpi encode --times")
    parser.add_argument("--check", action="store_true", help="simulate the measured run")
    parser.add_argument("--check-formulas", action="store_true", help="cases whose result is known")
    parser.add_argument("--per-word", type=float, help="seconds of rank 0 for a message without pictures (default: of the processor, in the run)")
    parser.add_argument("--per-picture-message", type=float, default=0.0, help="seconds for one with pictures (0)")
    parser.add_argument("--per-byte", type=float, help="and for each of its bytes (default: all that they took in the run)")
    parser.add_argument("--gop-coders", type=int, help="of a worker (default: of the run)")
    parser.add_argument("--latency", type=float, default=20e-6, help="seconds, one way (20e-6)")
    parser.add_argument("--parts", type=int, default=20, help="parts for each rank in the table (20)")
    parser.add_argument("--most", type=int, default=4096, help="ranks (4096)")
    args = parser.parse_args()
    if args.check_formulas:
        return check_formulas()
    if not args.times:
        parser.error("the times are missing")
    parts, run = read_times(args.times)
    if args.per_word is None:
        args.per_word = run["cpu"] / max(1, run["words"])
    if args.per_byte is None:
        args.per_byte = (run["cpu_pictures"] - args.per_picture_message * run["pictures"]) / max(1, run["bytes"])
    if args.lanes is None:
        args.lanes = int(run["lanes"])
    costs = Costs(args.per_word, args.per_picture_message, args.per_byte, args.latency)
    looking = looking_of(parts, run)
    if args.check:
        check(parts, run, args, costs, looking)
    else:
        looking.begin = 0.0
        table(parts, args, costs, looking)
    return 0


if __name__ == "__main__":
    sys.exit(main())
