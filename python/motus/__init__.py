"""H.264 encoding and motion estimation of arrays, on CPUs and on CUDA devices.

    motus.encode(frames, "out.mp4", fps=24, crf=23)         a whole video
    motus.stream(frames, fps=24)                            the same, in pieces as they come
    motus.Encoder(width, height, fps=24)                    frames in, packets out
    motus.search(cur, ref, range=16)                        motion vectors"""
# SPDX-License-Identifier: BSD-2-Clause
from ._encode import encode, stream
from ._errors import (ArgumentError, DeviceError, Error, OutOfMemoryError, StateError,
                      UnsupportedError)
from ._lib import lib as _library
from ._packet import Packet
from ._search import BLOCKS, SearchResult, search
from ._settings import Settings
from .encoder import Encoder
from .mp4 import Mp4Writer
from .video_encoder import VideoEncoder

__version__ = "0.2.0"
library_version: str = _library.motus_version().decode()

__all__ = ["BLOCKS", "ArgumentError", "DeviceError", "Encoder", "Error", "Mp4Writer",
           "OutOfMemoryError", "Packet", "SearchResult", "Settings", "StateError",
           "UnsupportedError", "VideoEncoder", "encode", "library_version", "search", "stream"]
