"""Settings by name into the library's configuration."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import ctypes
from fractions import Fraction
from typing import Any, Sequence, TypedDict, Union

from . import _lib
from ._errors import ArgumentError

Rate = Union[int, float, str, Fraction, "tuple[int, int]"]


class Settings(TypedDict, total=False):
    """What motus.encode, motus.stream and motus.Encoder take beside size and rate: the members of MotusEncoderConfig (motus/encoder.h has every range)."""
    crf: float  # 0..51, lower is better; 23 unless qp or bitrate is given
    qp: int  # the same quantizer for all P pictures, 0..51
    bitrate: int  # bits a second
    vbv_maxrate: int  # bits a second that arrive at the decoder's buffer
    vbv_bufsize: int  # its size, bits
    preset: str  # "slow", "medium", "fast", "faster"
    keyint: int  # a key picture every keyint; 0: only the first
    lookahead: int  # pictures known beyond the one that is coded; 0: each packet comes before the next frame
    backend: str  # "auto", "cpu", "cuda"
    device: int  # CUDA's number; that of the frames, where they are on a device
    devices: Union[Sequence[int], str]  # CUDA's numbers, or "all": GOPs are spread over them
    threads: int  # 0: all
    gop_coders: int  # GOPs coded at the same time; 0: as memory allows
    colour: Union[str, None]  # "bt709", "bt601", or None: nothing is said of it, and RGB is refused
    full_range: bool  # samples of 0..255; else 16..235
    slices: int  # of a picture, whole rows of macroblocks
    slice_max_size: int  # bytes of a NAL unit
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
_COLOURS = {"bt709": (1, 1, 1), "bt601": (6, 6, 6)}  # primaries, transfer, matrix: H.264 tables E-3 to E-5
_FLOATS = ("crf", "ip_ratio", "aq_strength")


def rational(value: Rate, what: str = "fps") -> Fraction:
    """A rate as a fraction: 29.97 and the like are what they stand for, 30000/1001."""
    try:
        if isinstance(value, tuple):
            fraction = Fraction(*value)
        elif isinstance(value, float):
            ntsc = Fraction(round(value * 1.001) * 1000, 1001)
            fraction = ntsc if ntsc and abs(value - ntsc) < 0.005 and value != round(value) else Fraction(value).limit_denominator(1000)
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
    if not -(1 << 63) <= number < 1 << 63 or name not in ("bitrate", "vbv_maxrate", "vbv_bufsize") and not -(1 << 31) <= number < 1 << 31:
        raise ArgumentError(f"{name} {value!r} is out of range")
    return number


def _rate_control(settings: dict[str, Any]) -> int:
    given = [name for name in ("qp", "crf", "bitrate") if settings.get(name) is not None]
    if len(given) > 1:
        raise ArgumentError(f"{' and '.join(given)}: only one of them decides about quality")
    return {"qp": _RATE_QP, "bitrate": _RATE_BITRATE}.get(given[0] if given else "crf", _RATE_CRF)


def _spread(config: _lib.EncoderConfig, devices: Any) -> None:
    if devices == "all":
        config.n_devices = _ALL_DEVICES
        return
    numbers = [_whole("devices", device) for device in devices]
    config.n_devices, config.devices = len(numbers), (ctypes.c_int * max(len(numbers), 1))(*numbers)  # which ctypes keeps alive with the configuration


def config_of(width: int, height: int, fps: Fraction, settings: dict[str, Any]) -> _lib.EncoderConfig:
    """The library checks ranges; here is checked what it could not see: unknown names, and numbers that a C int does not hold."""
    config: _lib.EncoderConfig = _lib.lib.motus_encoder_config_default(width, height, _lib.Rational(fps.numerator, fps.denominator)).config
    config.size = ctypes.sizeof(_lib.EncoderConfig)
    config.rate = _rate_control(settings)
    config.stream_only = 1
    colour = settings.get("colour", "bt709")
    if colour is not None and colour not in _COLOURS:
        raise ArgumentError(f"colour {colour!r} is none of {', '.join(_COLOURS)}, None")
    if colour is not None:
        c = config.colour
        c.primaries, c.transfer, c.matrix = _COLOURS[colour]
        c.sar, c.full_range, c.chroma_location = _lib.Rational(1, 1), bool(settings.get("full_range")), 1
    for name, value in settings.items():
        if name not in Settings.__annotations__:
            raise TypeError(f"there is no setting {name!r}")
        if value is None or name in ("colour", "full_range"):
            continue
        if name == "devices":
            _spread(config, value)
            continue
        setattr(config, name, number_of(name, value) if name in _NAMES else float(value) if name in _FLOATS else _whole(name, value))
    return config
