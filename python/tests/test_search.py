"""motus.search: against the program, known motion, sums of differences computed here."""
# SPDX-License-Identifier: BSD-2-Clause
import subprocess

import numpy as np
import pytest
from conftest import H, W, clip

import motus

CPU = {"backend": "cpu"}


def noise(height=H, width=W, seed=4):
    return np.random.default_rng(seed).integers(0, 256, (height, width), dtype=np.uint8)


def test_blocks():
    assert len(motus.BLOCKS) == 41 and motus.BLOCKS[0] == (0, 0, 16, 16) and motus.BLOCKS[40] == (12, 12, 4, 4)
    assert [b.width * b.height for b in motus.BLOCKS] == [256] + 4 * [128] + 4 * [64] + 16 * [32] + 16 * [16]


def test_known_motion():
    ref = noise()
    found = motus.search(np.roll(ref, (3, -5), (0, 1)), ref, range=8, subpel="full", **CPU)
    assert found.mv.shape == (41, H // 16, W // 16, 2) and found.sad.shape == found.cost.shape == (41, H // 16, W // 16)
    assert (found.mv.dtype, found.sad.dtype, found.cost.dtype) == (np.int16, np.uint16, np.uint32)
    inside = np.s_[:, 1:-1, 1:-1]
    assert (found.mv[inside] == (20, -12)).all() and not found.sad[inside].any() and not found.cost[inside].any()


def test_sums_are_those_at_the_vectors():
    cur, ref = noise(seed=5), np.pad(noise(seed=6), 8, "edge")
    found = motus.search(cur, ref[8:-8, 8:-8], range=4, subpel="full", **CPU)
    for b, block in enumerate(motus.BLOCKS):
        for my in range(H // 16):
            for mx in range(W // 16):
                y, x = 16 * my + block.y, 16 * mx + block.x
                dx, dy = found.mv[b, my, mx] // 4
                want = cur[y:y + block.height, x:x + block.width].astype(int) - ref[8 + y + dy:8 + y + dy + block.height, 8 + x + dx:8 + x + dx + block.width]
                assert found.sad[b, my, mx] == found.cost[b, my, mx] == abs(want).sum()


@pytest.mark.parametrize("subpel", ["full", "half", "quarter"])
def test_same_field_as_the_program(program, tmp_path, subpel):
    y = clip(2)[..., 1]
    with open(tmp_path / "in.yuv", "wb") as file:
        for frame in y:
            file.write(frame.tobytes() + bytes([128]) * (H * W // 2))
    subprocess.run([program, "search", str(tmp_path / "in.yuv"), "--size", f"{W}x{H}", "-o", str(tmp_path / "f.npy"), "--range", "9", "--subpel", subpel, "--backend", "cpu", "--quiet"], check=True)
    table = np.load(tmp_path / "f.npy")
    found = motus.search(y[1], y[0], range=9, subpel=subpel, **CPU)
    of = table["block"], table["mb"]
    assert table.size == found.sad.size
    assert np.array_equal(found.mv.reshape(41, -1, 2)[of], np.stack([table["mv_x"], table["mv_y"]], 1))
    assert np.array_equal(found.sad.reshape(41, -1)[of], table["sad"]) and np.array_equal(found.cost.reshape(41, -1)[of], table["cost"])


def test_rgb_and_other_forms():
    video = clip(2)
    found = motus.search(video[1], video[0], **CPU)
    again = motus.search(video[1].transpose(2, 0, 1).astype(np.float32) / 255, np.asfortranarray(video[0]), **CPU)
    assert np.array_equal(found.mv, again.mv) and np.array_equal(found.cost, again.cost)
    wide = np.repeat(noise(), 2, 1)
    assert np.array_equal(motus.search(wide[:, ::2], noise(seed=9), **CPU).sad, motus.search(noise(), noise(seed=9), **CPU).sad)


def test_odd_sizes():
    found = motus.search(noise(33, 17), noise(33, 17, 7), range=3, **CPU)
    assert found.sad.shape == (41, 3, 2)


def test_vectors_cost():
    cur, ref = noise(seed=5), noise(seed=6)
    plain, dear = motus.search(cur, ref, **CPU), motus.search(cur, ref, lambda_q8=65535, **CPU)
    assert abs(dear.mv).sum() < abs(plain.mv).sum()


@pytest.mark.parametrize("arguments, error", [
    ({"range": 0}, motus.ArgumentError), ({"range": 129}, motus.ArgumentError), ({"subpel": "third"}, motus.ArgumentError), ({"ref": noise(48, 80)}, motus.ArgumentError),
    ({"ref": noise().astype(np.int32)}, TypeError), ({"ref": noise()[0]}, motus.ArgumentError), ({"lambda_q8": 70000}, motus.ArgumentError),
    ({"out": (noise(), noise(), noise())}, motus.ArgumentError),
])  # yapf: disable
def test_what_is_refused(arguments, error):
    with pytest.raises(error):
        motus.search(**{"cur": noise(), "ref": noise(seed=2), **CPU, **arguments})
