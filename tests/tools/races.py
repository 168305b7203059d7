#!/usr/bin/env python3
"""Tests from outside that outputs are safe: races.py MOTUS [races|fragments|order|threads ...]

  races     2, 3 and 10 jobs for one output, some killed at a random moment: the file is one job's
            whole output, only that job exits with 0, inputs are unchanged, nothing is left behind
  fragments kill -9 of a fragmented .mp4 at random moments: the rest plays, and at most one fragment
            is missing
  order     write, fsync, rename, fsync of the folder, as strace sees it
  threads   a process that may have no more threads still encodes

MOTUS_RACES=N: N rounds of the first two (12). The seed is printed; MOTUS_SEED=N sets it. Exit
status 77: nothing could be run."""
# SPDX-License-Identifier: BSD-2-Clause
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROUNDS = int(os.environ.get("MOTUS_RACES", "12"))
SEED = int(os.environ.get("MOTUS_SEED", "1"))
dice = random.Random(SEED)
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED:", what)


def digest(name):
    with open(name, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def begin(motus, *words, **more):
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([motus, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            **more)


# ---- Races ---------------------------------------------------------------------------------------


class Job:
    """A job that reads a pipe: it opens its output when the first half is there and ends when the
    rest is."""

    def __init__(self, motus, qp, output, data):
        self.qp, self.killed, self.rest = qp, None, data[len(data) // 2:]
        self.process = begin(motus, "encode", "-", "-o", output, "--qp", str(qp), "--quiet",
                             "--threads", "1", "--backend", "cpu", stdin=subprocess.PIPE)
        self.feed(data[:len(data) // 2])

    def feed(self, data):
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def kill(self, number):
        self.killed = number
        self.process.send_signal(number)

    def end(self):
        self.feed(self.rest)
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.said = self.process.stderr.read().decode()
        return self.process.wait()


def race(motus, data, wholes, n, number):
    """One round in a folder of its own."""
    folder = tempfile.mkdtemp(dir=".")
    output = os.path.join(folder, "out.264")
    old = number % 2 == 0
    if old:
        with open(output, "wb") as file:
            file.write(b"old")
    jobs = [Job(motus, 20 + i, output, data) for i in range(n)]
    victims = dice.sample(jobs, dice.randrange(0, n + 1)) if number % 3 else []
    time.sleep(dice.random() * 0.1)
    for job in victims:
        time.sleep(dice.random() * 0.02)
        job.kill(dice.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)))
        if job.killed in (signal.SIGTERM, signal.SIGINT) and dice.random() < 0.5:
            job.process.send_signal(signal.SIGTERM)  # the second one is for good
    codes = [job.end() for job in jobs]
    what = f"round {number}, {n} jobs, exit statuses {codes}, killed {[job.killed for job in jobs]}"
    won = [job for job, code in zip(jobs, codes) if code == 0]
    # Ctrl-C before the end leaves what was coded so far; such a job says so by its status.
    stopped = [job for job, code in zip(jobs, codes)
               if code in (128 + signal.SIGTERM, 128 + signal.SIGINT)]
    check(len(won) <= 1, f"{what}: {len(won)} jobs claim the file")
    wrote = [j.said for j in stopped if "another job" not in j.said and "interrupted" not in j.said]
    check(not (won and wrote), f"{what}: two wrote: {[j.said for j in stopped]}")
    if won:
        check(os.path.exists(output) and digest(output) == wholes[won[0].qp],
              f"{what}: the file is not the winner's")
    elif os.path.exists(output):
        kept = old and open(output, "rb").read() == b"old"
        check(kept or stopped or digest(output) in wholes.values(), f"{what}: the file is nobody's")
    for job, code in zip(jobs, codes):
        if code == 1:
            check("another job is writing it" in job.said, f"{what}: fails with '{job.said}'")
    if not victims:
        check(len(won) == 1, f"{what}: nobody killed, {len(won)} done")
    if not any(job.killed == signal.SIGKILL for job in jobs):
        check(set(os.listdir(folder)) <= {"out.264"}, f"{what}: left {os.listdir(folder)}")
    shutil.rmtree(folder)


def races(motus):
    subprocess.run([motus, "synth", "in.y4m", "--size", "96x64", "--frames", "16"], check=True,
                   stderr=subprocess.DEVNULL)
    data = open("in.y4m", "rb").read()
    before, wholes = digest("in.y4m"), {}
    for qp in range(20, 30):
        subprocess.run([motus, "encode", "in.y4m", "-o", f"whole{qp}.264", "--qp", str(qp),
                        "--quiet", "--backend", "cpu"], check=True)
        wholes[qp] = digest(f"whole{qp}.264")
    for number in range(ROUNDS):
        race(motus, data, wholes, (2, 3, 10)[number % 3], number)
    check(digest("in.y4m") == before, "the input changed")
    return f"{ROUNDS} races"


# ---- Fragments -----------------------------------------------------------------------------------


def pictures_in(name):
    """Decodable pictures, and whether the decoder was content."""
    done = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-count_frames",
                           "-show_entries", "stream=nb_read_frames", "-of", "json", name],
                          capture_output=True, text=True)
    streams = json.loads(done.stdout or "{}").get("streams", [])
    return int(streams[0].get("nb_read_frames", 0)) if streams else 0, done.stderr.strip()


def fragments(motus):
    if not shutil.which("ffprobe"):
        return "fragments: skipped, no ffprobe"
    rate, total = 25, 200
    subprocess.run([motus, "synth", "long.y4m", "--size", "96x64", "--frames", str(total)],
                   check=True, stderr=subprocess.DEVNULL)
    data = open("long.y4m", "rb").read()
    size = (len(data) - 60) // total
    for number in range(ROUNDS):
        given, idle = dice.randrange(1, total), number % 2 == 0
        # held: pictures in the lookahead
        tune, held = (["--tune", "zerolatency"], 0) if number % 4 < 3 else ([], 41)
        # An older file of that name stays as it was; the new one is built beside it.
        if number % 3 == 0:
            with open("frag.mp4", "wb") as file:
                file.write(b"old")
        process = begin(motus, "encode", "-", "-o", "frag.mp4", "--fragment", "--quiet",
                        "--threads", "1", "--backend", "cpu", *tune, stdin=subprocess.PIPE,
                        bufsize=0)
        process.stdin.write(data[:60 + given * size])
        part = wait_for("frag.mp4.motus-" if number % 3 == 0 else "frag.mp4")
        if idle:  # until it has encoded all that it was given, and waits for more
            wait_until_idle(process.pid)
        else:
            time.sleep(dice.random() * 0.2)
        process.kill()
        process.wait()
        if not part:
            check(False, f"killed after {given} pictures: no part")
            continue
        got, said = pictures_in(part)
        with open(part, "rb") as file:
            whole = file.read().count(b"moof") - 1  # the last one may have been under way
        check(got >= rate * whole, f"killed after {given} pictures: {whole} whole fragments, "
              f"{got} pictures play: {said}")
        # A fragment is written when the next one begins: one more second is in memory at most.
        check(not idle or got >= given - rate - 1 - held,
              f"killed after {given} pictures had been encoded: {got} play: {said}")
        check(got > 0 or not idle or given <= rate + 1 + held,
              f"killed after {given} pictures: does not play: {said}")
        if number % 3 == 0:
            check(open("frag.mp4", "rb").read() == b"old", "the older file is not what it was")
            os.remove("frag.mp4")
        os.remove(part)
        check(not [n for n in os.listdir(".") if n.startswith("frag")],
              f"there is more: {os.listdir('.')}")
    return f"{ROUNDS} fragmented files killed"


def wait_for(start):
    """Returns the file whose name begins with `start`, or None after a minute."""
    for _ in range(6000):
        if names := [n for n in os.listdir(".") if n.startswith(start)]:
            return names[0]
        time.sleep(0.01)
    return None


def is_asleep(pid):
    """True if every thread sleeps; on a busy machine one may be ready and not run."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/stat", encoding="ascii") as file:
            if file.read().rsplit(")", 1)[1].split()[0] != "S":
                return False
    return True


def wait_until_idle(pid):
    """Returns once all threads have slept for a quarter of a second, or after a minute."""
    asleep = 0
    for _ in range(3000):
        asleep = asleep + 1 if is_asleep(pid) else 0
        if asleep == 12:
            return
        time.sleep(0.02)


# ---- Order ---------------------------------------------------------------------------------------


def order(motus):
    if not shutil.which("strace"):
        return "order: skipped, no strace"
    subprocess.run([motus, "synth", "in.y4m", "--size", "96x64", "--frames", "4"], check=True,
                   stderr=subprocess.DEVNULL)
    for name in ("order.264", "order.mp4"):
        command = [motus, "encode", "in.y4m", "-o", name, "--quiet"]
        if name.endswith("mp4") and subprocess.run(command, stderr=subprocess.DEVNULL).returncode:
            continue
        calls = "trace=openat,write,pwrite64,fsync,rename,renameat,renameat2"
        done = subprocess.run(["strace", "-f", "-y", "-e", calls, "-o", "trace", *command,
                               "--backend", "cpu"], capture_output=True, text=True)
        if done.returncode and "ptrace" in done.stderr:
            return "order: skipped, no ptrace"
        steps = []
        for line in open("trace", errors="replace"):
            if m := re.search(r"\b(openat|write|pwrite64|fsync|rename\w*)\((.*)", line):
                call, rest = m.groups()
                if call == "openat" and "O_CREAT" in rest and ".motus-" in rest:
                    check("O_EXCL" in rest, f"{name}: made without O_EXCL: {rest}")
                    steps.append("make")
                elif call.startswith("rename"):
                    steps.append("rename")
                elif call == "fsync":
                    steps.append("fsync file" if ".motus-" in rest else "fsync folder")
                elif ".motus-" in rest:
                    steps.append("write")
        short = [s for i, s in enumerate(steps) if i == 0 or s != steps[i - 1]]
        check(short == ["make", "write", "fsync file", "rename", "fsync folder"],
              f"{name}: the order is {short}")
    return "order of calls"


# ---- Threads -------------------------------------------------------------------------------------


def threads(motus):
    """Address space for two or three stacks of threads, 64 asked for."""
    subprocess.run([motus, "synth", "in.y4m", "--size", "96x64", "--frames", "4"], check=True,
                   stderr=subprocess.DEVNULL)
    jobs = {"few.264": ["encode", "in.y4m", "--backend", "cpu"],
            "few.y4m": ["filter", "in.y4m", "--backend", "cpu", "--equalize", "--denoise", "4",
                        "--key", "green", "--background", "in.y4m"]}
    for output, words in jobs.items():
        subprocess.run([motus, *words, "-o", output], check=True, stderr=subprocess.DEVNULL)
        reference, outcomes = digest(output), []
        for megabytes in (400, 480, 600, 900):
            outcomes.append(limited(motus, words, output, megabytes << 20, reference))
        check(0 in outcomes, f"{words[0]}: no limit let it through: {outcomes}")
    return "few threads"


def limited(motus, words, output, limit, reference):
    def limits():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_STACK, (32 << 20, 32 << 20))

    done = subprocess.run([motus, *words, "-o", output, "--threads", "64"], capture_output=True,
                          text=True, preexec_fn=limits)
    good = (done.returncode == 0 and digest(output) == reference or done.returncode in (1, 127)
            and "libgomp" not in done.stderr)
    check(good, f"{words[0]}, {limit >> 20} MB of address space: exit status {done.returncode}: "
          f"{done.stderr.strip()}")
    check(not [n for n in os.listdir(".") if ".motus-" in n],
          f"{words[0]}, {limit >> 20} MB: a part is left")
    return done.returncode


def main():
    motus = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2:] or ["races", "fragments", "order", "threads"]
    print(f"MOTUS_SEED={SEED}")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        about = subprocess.run([motus, "info"], capture_output=True, text=True).stdout
        for name in wanted:
            if name == "fragments" and "libavformat" in about.replace("libavformat   not", ""):
                print(fragments(motus))
            elif name != "fragments":
                print({"races": races, "order": order, "threads": threads}[name](motus))
        os.chdir("/")
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
