"""Settings by name, converted to the library's configuration."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import ctypes
import numbers
from decimal import Decimal
from fractions import Fraction
from typing import Any, Sequence, TypedDict, Union

from . import _lib
from ._errors import ArgumentError
from ._frames import Frames

Rate = Union[int, float, str, Fraction, Decimal, "tuple[int, int]"]  # and NumPy's scalars


class Settings(TypedDict, total=False):
    """Settings of motus.encode, motus.stream and motus.Encoder: range, default, meaning.
    include/motus/encoder_config.h has more about MotusEncoderConfig's members.

    Frames
    layout: "auto", "HWC", "CHW", "I420", "NV12"; default "auto": from the shape
    value_range: floats for black and white; default (0, 1)
    pad: default False; odd sizes: repeats the last column or row
    crop: default False; odd sizes: leaves the last column or row out
    colour: "bt709", "bt601"; None: not said, no RGB; default: bt709 for RGB
    full_range: default False: samples of 16..235; True: 0..255

    Rate: one of crf, qp, bitrate
    crf: 0..51, default 23; lower is better
    qp: 0..51; constant QP of P pictures
    bitrate: 1..10**12; bits a second, on average
    vbv_maxrate: 0..10**12, default 0 (no VBV); bits a second into the decoder's buffer
    vbv_bufsize: 0..10**12, default 0; bits in that buffer
    hrd: "none", "vbr", "cbr"; default "none"; buffer parameters in the stream
    qp_i_offset: -51..51, default -3; added to qp for I pictures
    qp_min: 0..51, default 0; of macroblocks, with crf and bitrate
    qp_max: 0..51, default 51
    qp_step: 1..51, default 4; largest change between P pictures, with bitrate
    ip_ratio: 0.1..10, default 1.26; quantizer step of P pictures over that of I pictures
    pb_ratio: 0.1..10, default 1.3; of B pictures over that of P pictures, without mb_tree
    aq_mode: "off", "variance", "auto"; default "off"; QP by a macroblock's variance
    aq_strength: 0..4, default 1
    mb_tree: default True; lower QP for what later pictures predict from

    Pictures
    profile: "baseline", "main", "high"; default "baseline"
    cabac: default True; False: CAVLC also above baseline
    transform_8x8: default True; False: only 4x4 transforms in profile high, too
    bframes: 0..16, default 0; most B pictures in a row; not baseline
    b_adapt: 0..2, default 1; 0: always bframes, else fewer where that is better
    b_pyramid: "none", "normal"; default "normal"; middle B pictures are references
    direct: "none", "spatial", "temporal", "auto"; default "auto" (the preset's); MVs of B skips
    references: 0..16, default 0 (the preset's); pictures that P pictures predict from
    keep_references: 0..16, default 0; pictures that decoders keep at least: reference_lost
    intra_refresh: default False; rows of intra blocks wander once in keyint pictures
    weightp: 0..2, default 2; P pictures weight references in fades, 2: of parts; not baseline
    weightb: default False; B pictures weight references by their distance
    preset: "placebo" to "faster", which takes the most bits; default "medium"
    keyint: 0..2**31 - 1, default 250; most pictures of a GOP; 0: one GOP; 2: half are keys
    min_keyint: 0..keyint, default 0; fewest pictures before a scene cut's key picture
    scenecut: 0..100, default 40; sensitivity, 0: off
    lookahead: 0..250, default 40; frames a packet waits for, with crf and bitrate
    range: 0..128, default 0 (the preset's); of the whole-sample search
    subpel: "full", "half", "quarter"; default "quarter"
    deblock: default True
    slices: 0..2**31 - 1, default 1; slices of whole macroblock rows a picture
    slice_max_size: 0 or 128..2**31 - 1, default 0 (no limit); bytes, CPU only
    aud: default False; access unit delimiters

    Machine
    backend: "auto", "cpu", "cuda"; default "auto"
    device: -1..2**31 - 1, default: the frames', or -1: the current one
    devices: CUDA's numbers, or "all"; default: `device` alone
    threads: 0..2**31 - 1, default 0 (all); of the CPU
    gop_coders: 0..64, default 0 (by keyint and memory); GOPs coded in parallel"""
    layout: str
    value_range: tuple[float, float]
    pad: bool
    crop: bool
    colour: Union[str, None]
    full_range: bool
    crf: float
    qp: int
    bitrate: int
    vbv_maxrate: int
    vbv_bufsize: int
    hrd: str
    qp_i_offset: int
    qp_min: int
    qp_max: int
    qp_step: int
    ip_ratio: float
    pb_ratio: float
    aq_mode: str
    aq_strength: float
    mb_tree: bool
    profile: str
    cabac: bool
    transform_8x8: bool
    bframes: int
    b_adapt: int
    b_pyramid: str
    direct: str
    references: int
    keep_references: int
    intra_refresh: bool
    weightp: int
    weightb: bool
    preset: str
    keyint: int
    min_keyint: int
    scenecut: int
    lookahead: int
    range: int
    subpel: str
    deblock: bool
    slices: int
    slice_max_size: int
    aud: bool
    backend: str
    device: int
    devices: Union[Sequence[int], str]
    threads: int
    gop_coders: int


def _preset_names() -> tuple[str, ...]:
    """Returns the library's presets in their order."""
    names: list[str] = []
    while (name := _lib.lib.motus_preset_name(len(names)).decode()) != "unknown":
        names.append(name)
    return tuple(names)


_NAMES = {
    "preset": _preset_names(),
    "profile": ("baseline", "main", "high"),
    "backend": ("auto", "cpu", "cuda"),
    "subpel": ("full", "half", "quarter"),
    "hrd": ("none", "vbr", "cbr"),
    "b_pyramid": ("none", "normal"),
    "direct": ("none", "spatial", "temporal", "auto"),
    "aq_mode": ("off", "variance", "auto"),
}
_ALL_DEVICES = -1
_RATE_QP, _RATE_CRF, _RATE_BITRATE = 0, 1, 2
# primaries, transfer, matrix: H.264 tables E-3 to E-5
_COLOURS = {"bt709": (1, 1, 1), "bt601": (6, 6, 6)}
_NTSC = (15, 24, 30, 48, 60, 72, 90, 96, 120, 144, 240)  # n * 1000 / 1001 pictures a second
_WIDE = ("bitrate", "vbv_maxrate", "vbv_bufsize")
_FLOATS = ("crf", "ip_ratio", "pb_ratio", "aq_strength")


def _decimal(value: Any) -> Fraction | None:
    """Returns the NTSC rate that a decimal number stands for, as the programs' --fps does."""
    number = float(value)
    near = (Fraction(n * 1000, 1001) for n in _NTSC)
    return next((ntsc for ntsc in near if abs(number - ntsc) < 0.005), None)


def rational(value: Rate, what: str = "fps") -> Fraction:
    """Returns a rate as a fraction. A decimal number or word near n * 1000 / 1001 becomes that:
    29.97 is 30000/1001. Fractions, tuples and words with a slash are exact."""
    try:
        if getattr(value, "shape", None) == () and hasattr(value, "item"):
            value = value.item()  # NumPy's scalars, arrays and tensors of no dimension
        if isinstance(value, tuple):
            fraction = Fraction(*map(int, value))
        elif isinstance(value, (str, Decimal)):
            is_decimal = isinstance(value, Decimal) or "." in value
            fraction = is_decimal and _decimal(value) or Fraction(value)
        elif isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational):
            fraction = _decimal(value) or Fraction(float(value)).limit_denominator(1000)
        else:
            fraction = Fraction(value)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
        raise ArgumentError(f"{what} {value!r} is no rate") from error
    if fraction <= 0 or max(fraction.numerator, fraction.denominator) >= 1 << 31:
        raise ArgumentError(f"{what} {value!r} is out of range")
    return fraction


def name_of(kind: str, number: int) -> str:
    return _NAMES[kind][number]


def number_in(kind: str, value: Any, names: Sequence[str]) -> int:
    if value in names:
        return names.index(value)
    raise ArgumentError(f"{kind} {value!r} is none of {', '.join(names)}")


def number_of(kind: str, value: Any) -> int:
    return number_in(kind, value, _NAMES[kind])


def whole(name: str, value: Any, bits: int = 32) -> int:
    """Returns a whole number that fits a C integer: ctypes would take its lowest bits."""
    try:
        number: int = value.__index__()
    except AttributeError:
        raise TypeError(f"{name} {value!r} is no whole number") from None
    if not -1 << bits - 1 <= number < 1 << bits - 1:
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
    numbers = [whole("devices", device) for device in devices]
    config.n_devices = len(numbers)
    config.devices = (ctypes.c_int * max(len(numbers), 1))(*numbers)  # ctypes keeps it alive


def frames_of(settings: dict[str, Any]) -> Frames:
    """Takes what describes frames out of the settings."""
    layout, value_range, pad, crop = (settings.pop(name, default) for name, default in (
        ("layout", "auto"), ("value_range", (0, 1)), ("pad", False), ("crop", False)))
    if pad and crop:
        raise ArgumentError("pad and crop: set only one of them")
    return Frames(layout, value_range, "pad" if pad else "crop" if crop else None)


def config_of(width: int, height: int, fps: Fraction,
              settings: dict[str, Any]) -> _lib.EncoderConfig:
    """Returns the configuration. Checks names and that numbers fit a C int; the library checks
    ranges."""
    rate = _lib.Rational(fps.numerator, fps.denominator)
    config: _lib.EncoderConfig = _lib.lib.motus_encoder_config_default(
        whole("width", width), whole("height", height), rate).config
    if (width | height) & 1:
        raise ArgumentError(f"the size {width}x{height} is odd: pad=True repeats the last column "
                            "or row, crop=True leaves it out", -1)
    config.size = ctypes.sizeof(_lib.EncoderConfig)
    config.rate = _rate_control(settings)
    config.stream_only = config.no_ssd = 1
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
            bits = 64 if name in _WIDE else 32
            setattr(config, name, float(value) if name in _FLOATS else whole(name, value, bits))
    return config
