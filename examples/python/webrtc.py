"""motus as aiortc's H.264 encoder: Constrained Baseline, which every WebRTC browser decodes,
without lookahead, at the bitrate that the receiver asks for.

    import webrtc
    webrtc.install()                       # before the first connection; prefer H.264:
    codecs = RTCRtpSender.getCapabilities("video").codecs
    transceiver.setCodecPreferences([c for c in codecs if c.mimeType == "video/H264"])"""
# SPDX-License-Identifier: BSD-2-Clause
from typing import Iterator, Optional

import aiortc.rtcrtpsender
from aiortc.codecs.h264 import H264Encoder
from av import VideoFrame

import motus
from motus.mp4 import nal_units


class MotusEncoder(H264Encoder):
    """Encodes with motus; aiortc's encoder splits the NAL units into RTP packets."""

    def __init__(self) -> None:
        super().__init__()
        self._encoder: Optional[motus.Encoder] = None
        self._bitrate = 0

    def _encode_frame(self, frame: VideoFrame, force_keyframe: bool) -> Iterator[bytes]:
        wanted = self.target_bitrate
        rate = {"bitrate": wanted, "vbv_maxrate": wanted, "vbv_bufsize": wanted // 2}
        size = frame.width, frame.height
        if self._encoder is None or size != (self._encoder.width, self._encoder.height):
            self._encoder = motus.Encoder(*size, 30, lookahead=0, keyint=0, preset="faster",
                                          colour=None, layout="I420", **rate)
        elif wanted != self._bitrate:
            self._encoder.reconfigure(**rate)
        self._bitrate = wanted
        self._encoder.send(frame.to_ndarray(format="yuv420p"), keyframe=force_keyframe)
        for packet in self._encoder.packets(None):
            yield from nal_units(packet.data)


def install() -> None:
    """Makes senders of H.264 use motus."""
    before = aiortc.rtcrtpsender.get_encoder

    def get_encoder(codec):
        return MotusEncoder() if codec.mimeType.lower() == "video/h264" else before(codec)

    aiortc.rtcrtpsender.get_encoder = get_encoder
