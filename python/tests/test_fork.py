"""Children of fork(): their own encoders work, inherited ones are refused."""
# SPDX-License-Identifier: BSD-2-Clause
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

HEAD = f"""
import sys, os, threading
sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1])]!r}
import numpy as np, multiprocessing as mp, warnings
import conftest, motus
warnings.simplefilter("ignore", DeprecationWarning)
video = conftest.clip(6, 256, 320)
CPU = dict(backend="cpu", threads=4)

def encode(_=0):
    return motus.encode(video, fps=24, keyint=2, **CPU)

def in_child(call):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            call()
            code = 0
        except BaseException as error:
            print(repr(error), flush=True)
        os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
"""

OWN = """
want = encode()
with mp.get_context("fork").Pool(2) as pool:
    assert pool.map(encode, range(4)) == [want] * 4
assert encode() == want
"""

GRANDCHILD = """
want = encode()
def child():
    assert encode() == want
    in_child(lambda: exec("assert encode() == want"))
in_child(child)
"""

INHERITED = """
def packets(forks):
    encoder = motus.Encoder(320, 256, bitrate=500_000, lookahead=3, **CPU)
    made = []
    for t, frame in enumerate(video):
        encoder.send(frame)
        if forks and t in (1, 4):
            in_child(lambda: refused(encoder))
        made += encoder.packets()
    made += encoder.finish()
    encoder.close()
    return [packet.data for packet in made]

def refused(encoder):
    calls = [lambda: encoder.send(video[0]), encoder.end, encoder.receive,
             lambda: encoder.receive(None), lambda: encoder.reconfigure(bitrate=1000),
             lambda: encoder.reference_lost(0), lambda: list(encoder.finish())]
    for call in calls:
        try:
            call()
        except motus.StateError as error:
            assert "belongs to the parent process: open one after the fork" in str(error), error
        else:
            raise AssertionError("not refused")
    encoder.close()
    encoder.close()
    assert len(encode()) > 1000

assert packets(True) == packets(False)
"""

HELD = """
encoder = motus.Encoder(320, 256, qp=30, **CPU)
waiting = threading.Thread(target=encoder.receive, args=(None,))  # holds the receiver's lock
waiting.start()
in_child(encoder.close)
encoder.send(video[0])
encoder.end()
waiting.join()
encoder.close()
"""


@pytest.mark.parametrize("script", [OWN, GRANDCHILD, INHERITED, HELD],
                         ids=["own", "grandchild", "inherited", "held"])
def test_fork(script):
    process = subprocess.Popen([sys.executable, "-c", HEAD + script], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        told, _ = process.communicate(timeout=60)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # children that hang
    assert process.returncode == 0, told
