"""Sound for MP4: AAC copied from a file, or made of samples. By PyAV, where it is installed."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import os
import warnings
from fractions import Fraction
from typing import Any, Iterator

import numpy as np

from ._errors import ArgumentError, UnsupportedError, callers_level
from ._settings import whole

Sample = tuple[bytes, int, int]  # data, time and duration in samples of sound
_MOST_CHANNELS = 8
_LAYOUTS = {1: "mono", 2: "stereo", 3: "2.1", 4: "4.0", 5: "5.0", 6: "5.1", 8: "7.1"}
_BLOCK = 1024  # samples of an AAC frame
_RATES = (96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350)


def _av() -> Any:
    try:
        import av
    except ImportError as error:
        raise UnsupportedError("audio= needs PyAV (pip install av)") from error
    return av


class Audio:
    """AAC, read or encoded as it is needed. `delay`: samples before time 0."""

    def __init__(self, rate: int, channels: int, config: bytes, packets: Iterator[Any]) -> None:
        self.rate, self.channels, self.config = rate, channels, config
        self._packets: Iterator[Sample] = self._numbered(packets)
        self.delay = 0
        self._next: Sample | None = next(self._packets, None)

    def _numbered(self, packets: Iterator[Any]) -> Iterator[Sample]:
        """Yields packets without gaps from time 0 on; the delay is what lay before 0."""
        time = 0
        for packet in packets:
            if packet.pts is None or not packet.size:
                continue
            start = round(packet.pts * packet.time_base * self.rate)
            if time == 0:
                self.delay = max(-start, 0)
            yield bytes(packet), time, _BLOCK
            time += _BLOCK

    def close(self) -> None:
        """Closes the file and the encoder."""
        self._packets, self._next = iter(()), None

    def until(self, time: Fraction) -> list[Sample]:
        """Returns the next samples, those that begin before `time` (seconds)."""
        found = []
        while self._next is not None and self._next[1] - self.delay < time * self.rate:
            found.append(self._next)
            self._next = next(self._packets, None)
        return found


def _encoded(av: Any, rate: int, layout: str, frames: Iterator[Any]) -> Audio:
    """Encodes frames of sound as AAC."""
    rate = min(_RATES, key=lambda known: abs(known - rate))  # of a file; samples have one of them
    codec = av.CodecContext.create("aac", "w")
    codec.sample_rate, codec.layout, codec.format = rate, layout, "fltp"
    codec.time_base = Fraction(1, rate)
    codec.open()
    resampler = av.AudioResampler("fltp", layout, rate, _BLOCK)

    def packets() -> Iterator[Any]:
        try:
            for frame in frames:
                for part in resampler.resample(frame):
                    yield from codec.encode(part)
            for part in resampler.resample(None):
                yield from codec.encode(part)
        except GeneratorExit:
            codec.encode(None)  # it complains of frames that are left
            raise
        yield from codec.encode(None)

    return Audio(rate, len(codec.layout.channels), bytes(codec.extradata), packets())


def _of_file(path: str) -> Audio:
    av = _av()
    container = av.open(path)  # closed with its last reference
    if not container.streams.audio:
        raise ArgumentError(f"{path} has no audio")
    stream = container.streams.audio[0]
    codec = stream.codec_context
    if codec.name == "aac" and codec.extradata:
        return Audio(codec.sample_rate, len(codec.layout.channels), bytes(codec.extradata),
                     container.demux(stream))
    layout = _LAYOUTS.get(len(codec.layout.channels), "stereo")
    return _encoded(av, codec.sample_rate, layout, container.decode(stream))


def _of_samples(samples: Any, rate: int) -> Audio:
    av, array = _av(), np.asarray(samples)
    if array.ndim == 1:
        array = array[None]
    elif array.ndim == 2 and array.shape[1] <= _MOST_CHANNELS:
        array = array.T
    if array.ndim != 2 or array.shape[0] not in _LAYOUTS or not array.shape[1]:
        raise ArgumentError(f"audio of shape {np.shape(samples)} is not [samples], "
                            "[samples, channels] or [channels, samples]")
    if array.dtype == np.int16:
        array = array / np.float32(32768)
    elif array.dtype.kind != "f":
        raise TypeError(f"audio of {array.dtype}; int16 or floats of -1..1 are needed")
    if rate not in _RATES:
        known = ", ".join(map(str, _RATES))
        raise ArgumentError(f"audio of {rate} samples a second; AAC has {known}")
    peak = np.abs(array).max()
    if not np.isfinite(peak):
        raise ArgumentError("audio holds NaN or infinity")
    if peak > 1:
        warnings.warn(f"audio of up to {peak:.4g}: outside -1 to 1 it is clipped",
                      stacklevel=callers_level())
        array = array.clip(-1, 1)
    layout = _LAYOUTS[array.shape[0]]

    def frames() -> Iterator[Any]:
        for start in range(0, array.shape[1], _BLOCK):
            # Interleaved: PyAV 10 reads past the end of eight planes.
            block = np.ascontiguousarray(array[:, start:start + _BLOCK].T, np.float32)
            frame = av.AudioFrame.from_ndarray(block.reshape(1, -1), format="flt", layout=layout)
            frame.sample_rate, frame.pts, frame.time_base = rate, start, Fraction(1, rate)
            yield frame

    return _encoded(av, rate, layout, frames())


def audio_of(audio: Any) -> Audio | None:
    """Opens the sound: a path, (samples, rate), or None."""
    if audio is None or isinstance(audio, Audio):
        return audio
    if isinstance(audio, (str, os.PathLike)):
        return _of_file(os.fspath(audio))
    if isinstance(audio, (tuple, list)) and len(audio) == 2 and np.ndim(audio[1]) == 0:
        return _of_samples(audio[0], whole("audio's rate", audio[1]))
    raise ArgumentError("audio is a path or (samples, rate)")
