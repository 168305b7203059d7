"""Values and sizes of frames: ranges of floats, odd sizes."""
# SPDX-License-Identifier: BSD-2-Clause
import warnings

import numpy as np
import pytest
from conftest import H, T, W, clip

import motus
from motus._encode import each_frame
from motus._frames import Frames, picture_of


def h264(frames, **settings):
    return motus.encode(frames, container="h264", **{"qp": 28, "backend": "cpu", **settings})


def told(frames, **settings):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        h264(frames, **settings)
    return [(str(w.message), w.filename) for w in caught]


@pytest.fixture(scope="module")
def units():
    return clip().astype(np.float32) / 255


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("change, words", [
    (lambda x: x * 255, "value_range=(0, 255)?"), (lambda x: x * 2 - 1, "value_range=(-1, 1)?"),
    (lambda x: np.where(x > 0.9, np.nan, x), "NaN in frame 0"),
    (lambda x: np.where(x > 0.9, -np.inf, x), "floats of -inf"),
])
def test_floats_outside(units, dtype, change, words):
    (text, file), = told(change(units).astype(dtype))  # one warning for nine frames
    assert words in text and file == __file__


def test_one_sample_of_a_late_frame(units):
    for value, words in ((1.001, "of 0 to 1.001 in frame 7"), (-1e-3, "of -0.001 to")):
        video = units.copy()
        video[7, 20, 30, 1] = value
        video[8] = 5
        (text, _), = told(video)
        assert words in text
        assert len(told(iter(video))) == len(told(video.transpose(0, 3, 1, 2))) == 1


def test_floats_inside(units):
    assert told(units) == told(np.clip(units, 0, 1)[:, ::-1]) == told(-0.0 * units) == []
    alpha = np.concatenate([units, np.full((T, H, W, 1), 9, np.float32)], 3)
    assert told(alpha) == []  # the fourth is not read
    assert told(np.ascontiguousarray(alpha.transpose(0, 3, 1, 2))) == []
    with motus.Encoder(W, H, qp=28, backend="cpu") as encoder, warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.send(clip(1)[0])
        with pytest.raises(UserWarning, match="in frame 1"):
            encoder.send(units[0] + 1)


def test_floats_at_any_address(units):
    data = np.frombuffer(b"\0" + units.tobytes(), np.uint8)[1:]
    assert h264(data.view(np.float32).reshape(units.shape)) == h264(units)


class There:
    """An array that claims to be on a device, and computes as CuPy's do."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        self.asked = 0
        self.__cuda_array_interface__ = {
            "version": 3, "shape": array.shape, "typestr": array.dtype.str,
            "strides": array.strides, "data": (array.ctypes.data, False)}

    def __getitem__(self, i):
        return There(self.array[i])

    def min(self):
        self.asked += 1
        return self.array.min()

    def max(self):
        return self.array.max()

    def astype(self, dtype):
        return There(self.array.astype(dtype))

    def __sub__(self, low):
        return There(self.array - np.float32(low))

    def __truediv__(self, width):
        return There(self.array / np.float32(width))


def test_on_a_device_the_first_frame_is_looked_at(units):
    frames = Frames()
    each = list(each_frame(There(units * 2 - 1), frames))
    assert len(each) == T and isinstance(each[0], There)
    with pytest.warns(UserWarning, match=r"of -1 to 1 in frame 0.*value_range=\(-1, 1\)"):
        for t, frame in enumerate(each):
            picture = picture_of(frame, frames)
            assert (picture.device, picture.size) == (-1, (W, H))
            assert picture.views[0].address == each[1].address + (t - 1) * units[0].nbytes
    assert each[0].asked == 1
    later = Frames()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for frame in (units, units * 2 - 1):  # not looked at again
            picture_of(There(frame[0]), later)


def test_a_range_on_a_device(units):
    frames = Frames(value_range=(-1, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pictures = [picture_of(frame, frames) for frame in
                    each_frame(There(units * 2 - 1), frames)]
    for t, picture in enumerate(pictures):
        array = picture.views[0].owner.array
        assert picture.device == -1 and np.allclose(array, units[t], atol=1e-6)
    with pytest.raises(TypeError, match="crop=True copies nothing"):
        picture_of(There(units[0, :33]), Frames(odd="pad"))
    cropped = picture_of(There(units[0, :33]), Frames(odd="crop"))
    assert cropped.size == (W, 32)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_value_range(rgb, units, dtype):
    want = h264(rgb)
    # Exact in all types: 0..255 and halves of powers of two.
    assert h264(rgb.astype(dtype), value_range=(0, 255)) == want
    assert h264(255 - rgb.astype(dtype), value_range=(255, 0)) == want
    if dtype != np.float16:
        assert h264((units.astype(dtype) * 2 - 1), value_range=(-1, 1)) == want
        assert h264(list(units.astype(dtype) * 2 - 1), value_range=(-1, 1)) == want
    (text, _), = told(rgb.astype(dtype), value_range=(0, 254))
    assert "to 255 in frame 0: outside 0 to 254" in text


@pytest.mark.parametrize("value_range", [(1, 1), (0,), "01x", None, (0, float("nan")), 3])
def test_wrong_value_ranges(units, value_range):
    with pytest.raises(motus.ArgumentError, match="value_range"):
        h264(units, value_range=value_range)


def test_value_range_is_for_floats(rgb):
    with pytest.raises(motus.ArgumentError, match="for floats"):
        h264(rgb, value_range=(-1, 1))


@pytest.mark.parametrize("height, width", [(33, 48), (32, 47), (33, 47), (32, 48)])
@pytest.mark.parametrize("kind", ["HWC", "CHW", "float", "grey", "planes", "NV12"])
def test_odd_sizes(height, width, kind):
    video = clip(3, height, width)
    up, down = (height + 1) // 2 * 2, (width + 1) // 2 * 2
    padded = np.pad(video, ((0, 0), (0, up - height), (0, down - width), (0, 0)), "edge")
    cropped = video[:, :height // 2 * 2, :width // 2 * 2]

    def form(frames):
        if kind == "planes":
            half = [frames[:, ::2, ::2, k] for k in (1, 2)]
            return zip(frames[..., 0], *half)
        if kind == "NV12":
            pairs = np.ascontiguousarray(frames[:, ::2, ::2, 1:])
            return zip(frames[..., 0], pairs.reshape(*pairs.shape[:2], -1))
        return {"HWC": frames, "CHW": frames.transpose(0, 3, 1, 2), "grey": list(frames[..., 1]),
                "float": frames.astype(np.float32) / 255}[kind]

    assert h264(form(video), pad=True) == h264(form(padded))
    assert h264(form(video), crop=True) == h264(form(cropped))
    if (height | width) & 1:
        with pytest.raises(motus.ArgumentError, match="is odd: pad=True repeats"):
            h264(form(video))


def test_odd_sizes_of_an_encoder(rgb):
    for settings, size in (({"pad": True}, (32, 26)), ({"crop": True}, (30, 24))):
        with motus.Encoder(31, 25, qp=28, backend="cpu", **settings) as encoder:
            assert (encoder.width, encoder.height) == size
            encoder.send(rgb[0, :25, :31])
            assert len(list(encoder.finish())) == 1
    with pytest.raises(motus.ArgumentError, match="set only one"):
        h264(rgb, pad=True, crop=True)


def test_odd_sizes_by_torch():
    torch = pytest.importorskip("torch")
    from motus._arrays import pad_edge, scale
    video = clip(1, 33, 47)[0]
    for axis in (0, 1):
        padded = pad_edge(torch.from_numpy(video), axis).numpy()
        assert np.array_equal(padded, np.pad(video, [(0, int(k == axis)) for k in range(3)],
                                             "edge"))
    half = torch.from_numpy(video).to(torch.bfloat16)
    assert scale(half, 0, 255).dtype == torch.float32
    want = h264(clip(2, 33, 47), pad=True)
    assert h264(torch.from_numpy(clip(2, 33, 47)), pad=True) == want
