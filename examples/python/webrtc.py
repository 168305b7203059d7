"""motus as aiortc's H.264 encoder: Constrained Baseline, which every WebRTC browser decodes, without look-ahead, at the bitrate that the receiver asks for.

    import webrtc
    webrtc.install()                       # before the first connection; then use aiortc as ever, and prefer H.264:
    transceiver.setCodecPreferences([c for c in RTCRtpSender.getCapabilities("video").codecs if c.mimeType == "video/H264"])"""
# SPDX-License-Identifier: BSD-2-Clause
from typing import Iterator, Optional

import aiortc.rtcrtpsender
from aiortc.codecs.h264 import H264Encoder
from av import VideoFrame

import motus
from motus.mp4 import nal_units


class MotusEncoder(H264Encoder):
    """aiortc's own splits NAL units into RTP packets; what makes them is ours."""

    def __init__(self) -> None:
        super().__init__()
        self._encoder: Optional[motus.Encoder] = None
        self._bitrate = 0

    def _encode_frame(self, frame: VideoFrame, force_keyframe: bool) -> Iterator[bytes]:
        wanted = self.target_bitrate
        if self._encoder is None or (frame.width, frame.height) != (self._encoder.width, self._encoder.height):
            self._encoder, self._bitrate = motus.Encoder(frame.width, frame.height, 30, bitrate=wanted, vbv_maxrate=wanted, vbv_bufsize=wanted // 2, lookahead=0, keyint=0,
                                                         preset="faster", colour=None, layout="I420"), wanted
        if wanted != self._bitrate:
            self._encoder.reconfigure(bitrate=wanted, vbv_maxrate=wanted, vbv_bufsize=wanted // 2)
            self._bitrate = wanted
        self._encoder.send(frame.to_ndarray(format="yuv420p"), keyframe=force_keyframe)
        for packet in self._encoder.packets(None):
            yield from nal_units(packet.data)


def install() -> None:
    """From now on senders of H.264 use motus."""
    before = aiortc.rtcrtpsender.get_encoder

    def get_encoder(codec):
        return MotusEncoder() if codec.mimeType.lower() == "video/h264" else before(codec)

    aiortc.rtcrtpsender.get_encoder = get_encoder
