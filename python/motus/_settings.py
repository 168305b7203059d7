"""Settings by name, converted to the library's configuration."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import ctypes
from fractions import Fraction
from typing import Any, Sequence, TypedDict, Union

from . import _lib
from ._errors import ArgumentError

Rate = Union[int, float, str, Fraction, "tuple[int, int]"]


class Settings(TypedDict, total=False):
    """Settings of motus.encode, motus.stream and motus.Encoder: members of MotusEncoderConfig.
    motus/encoder.h documents their ranges."""
    crf: float  # 0..51, lower is better; 23 unless qp or bitrate is set
    qp: int  # constant QP of P pictures, 0..51
    bitrate: int  # bits a second
    vbv_maxrate: int  # bits a second that arrive at the decoder's buffer
    vbv_bufsize: int  # size of that buffer, bits
    preset: str  # "slow", "medium", "fast", "faster"
    keyint: int  # pictures from one key picture to the next; 0: only the first is one
    lookahead: int  # pictures known in advance; 0: each packet comes before the next frame
    backend: str  # "auto", "cpu", "cuda"
    device: int  # CUDA's number; by default the frames' device
    devices: Union[Sequence[int], str]  # CUDA's numbers, or "all": GOPs are spread over them
    threads: int  # 0: all
    gop_coders: int  # GOPs coded in parallel; 0: as memory allows
    colour: Union[str, None]  # "bt709", "bt601", or None: unknown, and RGB is refused
    full_range: bool  # samples of 0..255 instead of 16..235
    slices: int  # slices of a picture, each of whole macroblock rows
    slice_max_size: int  # largest NAL unit in bytes
    qp_i_offset: int
    range: int
    subpel: str  # "full", "half", "quarter"
    deblock: bool
    aud: bool
    qp_min: int
    qp_max: int
    qp_step: int
    ip_ratio: float
    hrd: str  # "none", "vbr", "cbr"
    min_keyint: int
    scenecut: int
    aq_mode: str  # "off", "variance", "auto"
    aq_strength: float
    mb_tree: bool


_NAMES = {
    "preset": ("slow", "medium", "fast", "faster"),
    "backend": ("auto", "cpu", "cuda"),
    "subpel": ("full", "half", "quarter"),
    "hrd": ("none", "vbr", "cbr"),
    "aq_mode": ("off", "variance", "auto"),
}
_ALL_DEVICES = -1
_RATE_QP, _RATE_CRF, _RATE_BITRATE = 0, 1, 2
# primaries, transfer, matrix: H.264 tables E-3 to E-5
_COLOURS = {"bt709": (1, 1, 1), "bt601": (6, 6, 6)}
_FLOATS = ("crf", "ip_ratio", "aq_strength")


def rational(value: Rate, what: str = "fps") -> Fraction:
    """Returns a rate as a fraction; 29.97 and the like become 30000/1001."""
    try:
        if isinstance(value, tuple):
            fraction = Fraction(*value)
        elif isinstance(value, float):
            ntsc = Fraction(round(value * 1.001) * 1000, 1001)
            is_ntsc = ntsc and abs(value - ntsc) < 0.005 and value != round(value)
            fraction = ntsc if is_ntsc else Fraction(value).limit_denominator(1000)
        else:
            fraction = Fraction(value)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
        raise ArgumentError(f"{what} {value!r} is no rate") from error
    if fraction <= 0 or max(fraction.numerator, fraction.denominator) >= 1 << 31:
        raise ArgumentError(f"{what} {value!r} is out of range")
    return fraction


def name_of(kind: str, number: int) -> str:
    return _NAMES[kind][number]


def number_of(kind: str, value: Any) -> int:
    if value in _NAMES[kind]:
        return _NAMES[kind].index(value)
    raise ArgumentError(f"{kind} {value!r} is none of {', '.join(_NAMES[kind])}")


def _whole(name: str, value: Any) -> int:
    try:
        number: int = value.__index__()
    except AttributeError:
        raise TypeError(f"{name} {value!r} is no whole number") from None
    most = 1 << 63 if name in ("bitrate", "vbv_maxrate", "vbv_bufsize") else 1 << 31
    if not -most <= number < most:
        raise ArgumentError(f"{name} {value!r} is out of range")
    return number


def _rate_control(settings: dict[str, Any]) -> int:
    names = [name for name in ("qp", "crf", "bitrate") if settings.get(name) is not None]
    if len(names) > 1:
        raise ArgumentError(f"{' and '.join(names)}: set only one of them")
    return {"qp": _RATE_QP, "bitrate": _RATE_BITRATE}.get(names[0] if names else "crf", _RATE_CRF)


def _set_devices(config: _lib.EncoderConfig, devices: Any) -> None:
    if devices == "all":
        config.n_devices = _ALL_DEVICES
        return
    numbers = [_whole("devices", device) for device in devices]
    config.n_devices = len(numbers)
    config.devices = (ctypes.c_int * max(len(numbers), 1))(*numbers)  # ctypes keeps it alive


def config_of(width: int, height: int, fps: Fraction,
              settings: dict[str, Any]) -> _lib.EncoderConfig:
    """Returns the configuration. Checks names and that numbers fit a C int; the library checks
    ranges."""
    rate = _lib.Rational(fps.numerator, fps.denominator)
    config: _lib.EncoderConfig = _lib.lib.motus_encoder_config_default(width, height, rate).config
    config.size = ctypes.sizeof(_lib.EncoderConfig)
    config.rate = _rate_control(settings)
    config.stream_only = 1
    colour = settings.get("colour", "bt709")
    if colour is not None and colour not in _COLOURS:
        raise ArgumentError(f"colour {colour!r} is none of {', '.join(_COLOURS)}, None")
    if colour is not None:
        c = config.colour
        c.primaries, c.transfer, c.matrix = _COLOURS[colour]
        c.sar, c.full_range = _lib.Rational(1, 1), bool(settings.get("full_range"))
        c.chroma_location = 1
    for name, value in settings.items():
        if name not in Settings.__annotations__:
            raise TypeError(f"there is no setting {name!r}")
        if value is None or name in ("colour", "full_range"):
            continue
        if name == "devices":
            _set_devices(config, value)
        elif name in _NAMES:
            setattr(config, name, number_of(name, value))
        else:
            setattr(config, name, float(value) if name in _FLOATS else _whole(name, value))
    return config
