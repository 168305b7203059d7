"""Arrays of other libraries: their views (everywhere) and their encoding (on a GPU)."""
# SPDX-License-Identifier: BSD-2-Clause
import ctypes
import os

import numpy as np
import pytest
from conftest import H, T, W, clip

import motus
from motus._arrays import _DLTensor, _pointer_of, parse_dlpack, view_of


class OnDevice:
    """Claims to be in device memory."""

    def __init__(self, array, **more):
        self.array = array
        self.__cuda_array_interface__ = {
            "version": 3, "shape": array.shape, "typestr": array.dtype.str,
            "data": (array.ctypes.data, False), **more}


class ByDlpack:
    """NumPy's DLPack with another device."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device, self.streams = array, device, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        capsule = self.array.__dlpack__()
        address = _pointer_of(capsule, b"dltensor")
        tensor = ctypes.cast(address, ctypes.POINTER(_DLTensor)).contents
        tensor.device_type, tensor.device_id = self.device
        return capsule


def same(view, array):
    want = array.ctypes.data, array.shape, array.strides, array.dtype
    return (view.address, view.shape, view.strides, view.dtype) == want


def test_numpy(rgb):
    for array in (rgb, rgb[1:, ::-1, 3:], rgb.transpose(0, 3, 1, 2)):
        assert same(view_of(array), array) and view_of(array).device is None
    assert view_of(rgb)[3].address == rgb[3].ctypes.data


def test_cuda_array_interface(rgb):
    view = view_of(OnDevice(rgb))
    assert same(view, rgb) and view.device == -1 and view.stream == 1 and not view.hold
    part = rgb[:, 2:, 4:]
    view = view_of(OnDevice(part, strides=part.strides, stream=4711))
    assert same(view, part) and view.stream == 4711 and same(view[2], part[2])
    assert view_of(OnDevice(rgb, stream=None)).stream == 1
    assert view_of(OnDevice(rgb, strides=None)).strides == rgb.strides
    with pytest.raises(TypeError, match="masked"):
        view_of(OnDevice(rgb, mask=OnDevice(rgb)))


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int16, np.float64])
def test_dlpack(dtype):
    array = np.arange(2 * 3 * 4).astype(dtype).reshape(2, 3, 4)
    for each in (array, array[:, 1:, ::2]):
        view = parse_dlpack(each.__dlpack__(), 1)
        assert same(view, each) and view.device is None and view.hold


def test_dlpack_on_a_device(rgb):
    """The producer gets the stream, and is kept until the picture is coded."""
    array = ByDlpack(rgb, (2, 3))
    view = view_of(array)
    assert array.streams == [1] and (view.stream, view.device) == (1, 3)
    assert view.hold and view.owner[1] is array


def test_other_things_in_host_memory(rgb):

    class Image:
        __array_interface__ = rgb[0].__array_interface__

    class Told:

        def __array__(self, dtype=None, copy=None):
            return rgb[0]

    for thing in (Image(), Told(), memoryview(rgb[0])):
        assert same(view_of(thing), rgb[0])
    assert view_of(rgb[0].tolist()).shape == rgb[0].shape


def test_device_memory_needs_a_device(rgb):
    """Arrays that claim to be in device memory are refused, and not read."""
    for array in (OnDevice(rgb), ByDlpack(rgb, (2, 0))):
        with pytest.raises(motus.UnsupportedError, match="device memory"):
            motus.encode(array, qp=28, backend="cpu")
    if not has_gpu():
        with pytest.raises(motus.Error):
            motus.search(OnDevice(rgb[0, :, :, 0].copy()), OnDevice(rgb[1, :, :, 0].copy()))


def test_mixed_memory(rgb):
    y, half = rgb[0, :, :, 0].copy(), rgb[0, ::2, ::2, 0].copy()
    with motus.Encoder(W, H, qp=28, backend="cpu") as encoder:
        with pytest.raises(motus.ArgumentError, match="different memory"):
            encoder.send((y, OnDevice(half), half))


# ---- On a GPU ----------------------------------------------------------------------------------


def has_gpu():
    try:
        with motus.Encoder(W, H, qp=28, backend="cuda"):
            return True
    except motus.Error:
        return False


def need_gpu():
    if not has_gpu():
        required = os.environ.get("MOTUS_REQUIRE_GPU") == "1"
        (pytest.fail if required else pytest.skip)("no usable CUDA device")


def torch_arrays(array):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch has no GPU")
    return torch.from_numpy(array).cuda()


def cupy_arrays(array):
    return pytest.importorskip("cupy").asarray(array)


def jax_arrays(array):
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX has no GPU")
    return jax.numpy.asarray(array)


@pytest.mark.parametrize("library", [torch_arrays, cupy_arrays, jax_arrays])
@pytest.mark.parametrize("settings", [{"qp": 28}, {"crf": 25, "keyint": 4}])
def test_gpu_arrays(library, settings):
    need_gpu()
    video = clip()
    want = motus.encode(video, container="h264", backend="cpu", **settings)
    units = video.astype(np.float32) / 255
    for array in (video, units, np.ascontiguousarray(units.transpose(0, 3, 1, 2))):
        there = library(array)
        assert motus.encode(there, container="h264", backend="cuda", **settings) == want
        frames = (there[t] for t in range(T))
        assert motus.encode(frames, container="h264", backend="auto", **settings) == want


@pytest.mark.parametrize("library", [torch_arrays, cupy_arrays])
def test_gpu_search(library):
    need_gpu()
    video = clip(2)
    for a, b in ((video[1], video[0]), (video[1, ..., 1].copy(), video[0, ..., 1].copy())):
        want, got = motus.search(a, b, backend="cpu"), motus.search(library(a), library(b))
        for name in ("mv", "sad", "cost"):
            assert np.array_equal(getattr(got, name), getattr(want, name)), name


def test_gpu_search_results_stay():
    cupy = pytest.importorskip("cupy")
    need_gpu()
    video = clip(2)[..., 1].copy()
    shape = (41, H // 16, W // 16)
    out = (cupy.zeros(shape + (2,), cupy.int16), cupy.zeros(shape, cupy.uint16),
           cupy.zeros(shape, cupy.uint32))
    motus.search(cupy.asarray(video[1]), cupy.asarray(video[0]), out=out)
    want = motus.search(video[1], video[0], backend="cpu")
    assert np.array_equal(out[0].get(), want.mv) and np.array_equal(out[2].get(), want.cost)


def test_torch_on_the_host():
    torch = pytest.importorskip("torch")
    video = clip()
    want = motus.encode(video, qp=28, backend="cpu")
    assert motus.encode(torch.from_numpy(video), qp=28, backend="cpu") == want
    units = (torch.from_numpy(video).permute(0, 3, 1, 2).float() / 255).requires_grad_()
    assert motus.encode(units, qp=28, backend="cpu") == want
