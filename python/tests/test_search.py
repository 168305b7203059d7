"""motus.search against the program, known motion, and sums of differences by NumPy."""
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
    assert motus.BLOCKS[0] == (0, 0, 16, 16) and motus.BLOCKS[40] == (12, 12, 4, 4)
    sizes = [b.width * b.height for b in motus.BLOCKS]
    assert sizes == [256] + 4 * [128] + 4 * [64] + 16 * [32] + 16 * [16]


def test_known_motion():
    ref = noise()
    found = motus.search(np.roll(ref, (3, -5), (0, 1)), ref, range=8, subpel="full", **CPU)
    shape, inside = (41, H // 16, W // 16), np.s_[:, 1:-1, 1:-1]
    assert found.mv.shape == (*shape, 2) and found.sad.shape == found.cost.shape == shape
    assert (found.mv.dtype, found.sad.dtype, found.cost.dtype) == (np.int16, np.uint16, np.uint32)
    assert (found.mv[inside] == (20, -12)).all()
    assert not found.sad[inside].any() and not found.cost[inside].any()


def test_sums_are_those_at_the_vectors():
    cur, ref = noise(seed=5), np.pad(noise(seed=6), 8, "edge")
    found = motus.search(cur, ref[8:-8, 8:-8], range=4, subpel="full", **CPU)
    for b, block in enumerate(motus.BLOCKS):
        for my in range(H // 16):
            for mx in range(W // 16):
                y, x = 16 * my + block.y, 16 * mx + block.x
                dx, dy = found.mv[b, my, mx] // 4
                w, h, top, left = block.width, block.height, 8 + y + dy, 8 + x + dx
                match = ref[top:top + h, left:left + w]
                sad = abs(cur[y:y + h, x:x + w].astype(int) - match).sum()
                assert found.sad[b, my, mx] == found.cost[b, my, mx] == sad


@pytest.mark.parametrize("subpel", ["full", "half", "quarter", "best"])
def test_same_field_as_the_program(program, tmp_path, subpel):
    y = clip(2)[..., 1]
    with open(tmp_path / "in.yuv", "wb") as file:
        for frame in y:
            file.write(frame.tobytes() + bytes([128]) * (H * W // 2))
    options = f"--size {W}x{H} --range 9 --subpel {subpel} --backend cpu --quiet"
    subprocess.run([program, "search", str(tmp_path / "in.yuv"), "-o", str(tmp_path / "f.npy"),
                    *options.split()], check=True)
    table = np.load(tmp_path / "f.npy")
    found = motus.search(y[1], y[0], range=9, subpel=subpel, **CPU)
    of = table["block"], table["mb"]
    assert table.size == found.sad.size
    mvs = np.stack([table["mv_x"], table["mv_y"]], 1)
    assert np.array_equal(found.mv.reshape(41, -1, 2)[of], mvs)
    for name in ("sad", "cost"):
        assert np.array_equal(getattr(found, name).reshape(41, -1)[of], table[name])


def test_rgb_and_other_forms():
    video = clip(2)
    found = motus.search(video[1], video[0], **CPU)
    units = video[1].transpose(2, 0, 1).astype(np.float32) / 255
    again = motus.search(units, np.asfortranarray(video[0]), **CPU)
    assert np.array_equal(found.mv, again.mv) and np.array_equal(found.cost, again.cost)
    wide, ref = np.repeat(noise(), 2, 1), noise(seed=9)
    want, got = motus.search(noise(), ref, **CPU), motus.search(wide[:, ::2], ref, **CPU)
    assert np.array_equal(want.sad, got.sad)


def test_odd_sizes():
    found = motus.search(noise(33, 17), noise(33, 17, 7), range=3, **CPU)
    assert found.sad.shape == (41, 3, 2)


def test_vectors_cost():
    cur, ref = noise(seed=5), noise(seed=6)
    free, costly = (motus.search(cur, ref, lambda_q8=n, **CPU) for n in (0, 65535))
    assert abs(costly.mv).sum() < abs(free.mv).sum()


@pytest.mark.parametrize("arguments", [
    {"range": 0}, {"range": 129}, {"subpel": "third"}, {"ref": noise(48, 80)},
    {"ref": noise().astype(np.int32)}, {"ref": noise()[0]}, {"lambda_q8": 70000},
    {"out": (noise(), noise(), noise())},
])
def test_errors(arguments):
    is_wrong_type = getattr(arguments.get("ref"), "dtype", None) == np.int32
    with pytest.raises(TypeError if is_wrong_type else motus.ArgumentError):
        motus.search(**{"cur": noise(), "ref": noise(seed=2), **CPU, **arguments})
