"""Arrays of any library as addresses, shapes and strides: NumPy and what it can wrap, PyTorch, and
arrays with __cuda_array_interface__ or DLPack (CuPy, JAX). Copies nothing; imports only NumPy."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

LEGACY_STREAM = 1  # CUDA's default stream, as both protocols and CUDA itself number it
_CPU, _CUDA, _CUDA_HOST, _MANAGED = 1, 2, 3, 13  # DLPack's devices


@dataclass(frozen=True)
class View:
    """Samples in memory, kept alive by `owner`. Device memory is valid once the work on `stream` (a
    cudaStream_t) is done."""
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # bytes
    dtype: np.dtype[Any]
    owner: Any
    device: int | None = None  # CUDA's number, -1: unknown; None: host memory
    stream: int = 0
    hold: bool = False  # keep it until the picture is coded: its library ignores the stream

    def __getitem__(self, i: int) -> View:
        return View(self.address + i * self.strides[0], self.shape[1:], self.strides[1:],
                    self.dtype, self.owner, self.device, self.stream, self.hold)


def _host(array: np.ndarray[Any, Any]) -> View:
    address = array.__array_interface__["data"][0]
    return View(address, array.shape, array.strides, array.dtype, array)


def _packed(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    strides = [size]
    for n in shape[:0:-1]:
        strides.insert(0, strides[0] * n)
    return tuple(strides[-len(shape):]) if shape else ()


def _torch(tensor: Any) -> View:
    torch = sys.modules["torch"]
    tensor = tensor.detach()
    if tensor.dtype in (torch.bfloat16, torch.float16, torch.float64):
        tensor = tensor.float()  # on its device
    if not tensor.is_cuda:
        return _host(tensor.numpy())
    if tensor.dtype not in (torch.uint8, torch.float32, torch.int16, torch.int32):
        raise TypeError(f"a tensor of {tensor.dtype}; uint8 or floats are needed")
    size = tensor.element_size()
    stream = torch.cuda.current_stream(tensor.device).cuda_stream
    strides = tuple(s * size for s in tensor.stride())
    dtype = np.dtype(str(tensor.dtype).split(".")[1])
    return View(tensor.data_ptr(), tuple(tensor.shape), strides, dtype, tensor,
                tensor.device.index, stream or LEGACY_STREAM)


def _cuda_array(array: Any) -> View:
    info = array.__cuda_array_interface__
    dtype = np.dtype(info["typestr"])
    if dtype.kind == "f" and dtype != np.float32 and hasattr(array, "astype"):
        return _cuda_array(array.astype(np.float32))  # on its device
    if info.get("mask") is not None:
        raise TypeError("a masked array")
    shape = tuple(info["shape"])
    strides = tuple(info.get("strides") or _packed(shape, dtype.itemsize))
    device = getattr(array, "device", None)
    numbers = (getattr(device, name, None) for name in ("id", "index"))
    number = next((n for n in numbers if isinstance(n, int)), -1)
    # Without a stream (None, or before version 3) the default stream waits for all work.
    stream = info.get("stream") or LEGACY_STREAM
    return View(info["data"][0], shape, strides, dtype, array, number, stream)


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_KINDS = {0: "i", 1: "u", 2: "f"}


def parse_dlpack(capsule: Any, stream: int) -> View:
    """Returns the view of an unversioned capsule, which is not consumed: it owns the memory."""
    address = _pointer_of(capsule, b"dltensor")
    tensor = ctypes.cast(address, ctypes.POINTER(_DLTensor)).contents
    if tensor.lanes != 1 or tensor.code not in _KINDS:
        raise TypeError("a DLPack array of a type that is none of uint8 and float32")
    dtype = np.dtype(f"{_KINDS[tensor.code]}{tensor.bits // 8}")
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = _packed(shape, dtype.itemsize)
    if tensor.strides:
        strides = tuple(tensor.strides[i] * dtype.itemsize for i in range(tensor.ndim))
    device = None if tensor.device_type in (_CPU, _CUDA_HOST) else tensor.device_id
    return View((tensor.data or 0) + tensor.byte_offset, shape, strides, dtype, capsule, device,
                stream if device is not None else 0, hold=True)


def _dlpack(array: Any) -> View:
    if hasattr(array, "block_until_ready"):
        array.block_until_ready()  # JAX computes on streams of its own
    view = parse_dlpack(array.__dlpack__(stream=LEGACY_STREAM), LEGACY_STREAM)
    return replace(view, owner=(view.owner, array))


def _is_torch(array: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def _is_on_device(array: Any) -> bool:
    return (hasattr(array, "__dlpack_device__")
            and array.__dlpack_device__()[0] in (_CUDA, _MANAGED))


def view_of(array: Any) -> View:
    """Returns the view of an array. TypeError: it is none."""
    if isinstance(array, (View, np.ndarray)):
        return array if isinstance(array, View) else _host(array)
    if _is_torch(array):
        return _torch(array)
    if hasattr(array, "block_until_ready") and _is_on_device(array):
        return _dlpack(array)
    if hasattr(array, "__cuda_array_interface__"):
        return _cuda_array(array)
    if _is_on_device(array):
        return _dlpack(array)
    host = np.asarray(array)
    if host.dtype == object:
        raise TypeError(f"{type(array).__name__} is no array")
    return _host(host)


def is_array(thing: Any) -> bool:
    """True for one array, False for another iterable."""
    protocols = ("__cuda_array_interface__", "__dlpack__", "__array_interface__")
    return (isinstance(thing, (View, np.ndarray)) or _is_torch(thing)
            or any(hasattr(thing, name) for name in protocols))


# ---- Arithmetic of the array's own library -------------------------------------------------------


def _as_float(array: Any) -> Any:
    if _is_torch(array):
        return array.detach().float()
    return array.astype(np.float32) if hasattr(array, "astype") else np.asarray(array, np.float32)


def scale(array: Any, low: float, high: float) -> Any:
    """Returns floats of low..high as floats of 0..1."""
    return (_as_float(array) - low) / (high - low)


def extremes(array: Any) -> tuple[float, float] | None:
    """Returns the least and greatest value of a device array; None: its library does not tell."""
    if not hasattr(array, "min") or not hasattr(array, "max"):
        return None
    array = array.detach() if _is_torch(array) else array
    return float(array.min()), float(array.max())


_LIBRARIES = {"cupy": "cupy", "jax": "jax.numpy", "jaxlib": "jax.numpy"}


def pad_edge(array: Any, axis: int) -> Any:
    """Repeats the last row or column."""
    last = (slice(None),) * axis + (slice(-1, None),)
    if isinstance(array, np.ndarray):
        return np.concatenate([array, array[last]], axis)
    if _is_torch(array):
        return sys.modules["torch"].cat([array, array[last]], axis)
    name = type(array).__module__.split(".", maxsplit=1)[0]
    library = sys.modules.get(_LIBRARIES.get(name, ""))
    if library is None:
        raise TypeError(f"pad=True for {type(array).__name__} in device memory; crop=True copies "
                        "nothing")
    return library.concatenate([array, array[last]], axis)
