"""motus in aiortc: Constrained Baseline, which every WebRTC browser decodes, without lookahead, at
the bitrate that the receiver asks for. Prefer H.264 in both ways:

    codecs = RTCRtpSender.getCapabilities("video").codecs
    transceiver.setCodecPreferences([c for c in codecs if c.mimeType == "video/H264"])

1. A track of packets, whose rate the program may set:

    track = PacketTrack(camera, bitrate=1_000_000)
    sender = connection.addTrack(track)
    track.follow(sender)                   # key pictures and rates that the receiver asks for
    track.bitrate = 300_000                # or the program's own

2. In place of aiortc's encoder, for all tracks of frames:

    install()                              # before the first connection"""
# SPDX-License-Identifier: BSD-2-Clause
import asyncio
from typing import Iterator, Optional

import aiortc.rtcrtpsender
import av
from aiortc import MediaStreamTrack
from aiortc.codecs.h264 import H264Encoder
from aiortc.rtp import RTCP_PSFB_APP, RtcpPsfbPacket, unpack_remb_fci

import motus.pyav
from motus.mp4 import nal_units


class PacketTrack(MediaStreamTrack):
    """Encodes the frames of another track. aiortc sends packets as they are."""
    kind = "video"

    def __init__(self, frames: MediaStreamTrack, frame_rate: int = 30, bitrate: int = 1_000_000,
                 **settings) -> None:
        super().__init__()
        self._frames, self._wants_key = frames, False
        self.bitrate = bitrate
        self._encoder = motus.pyav.PacketEncoder(frame_rate, bitrate=bitrate, **settings)

    def request_keyframe(self) -> None:
        self._wants_key = True

    def _encode(self, frame: av.VideoFrame) -> av.Packet:
        if self._encoder.bitrate != self.bitrate:
            self._encoder.bitrate = self.bitrate
        key, self._wants_key = self._wants_key, False
        packet, = self._encoder.encode(frame, keyframe=key)
        return packet

    async def recv(self) -> av.Packet:
        frame = await self._frames.recv()
        return await asyncio.get_event_loop().run_in_executor(None, self._encode, frame)

    def follow(self, sender: aiortc.RTCRtpSender, least: int = 100_000,
               most: int = 3_000_000) -> None:
        """Obeys the receiver. aiortc tells a track of packets nothing: this looks into its
        sender."""
        handle = sender._handle_rtcp_packet

        async def listen(packet) -> None:
            if isinstance(packet, RtcpPsfbPacket) and packet.fmt == RTCP_PSFB_APP:
                wanted, _ = unpack_remb_fci(packet.fci)
                self.bitrate = min(max(wanted, least), most)
            await handle(packet)

        sender._handle_rtcp_packet, sender._send_keyframe = listen, self.request_keyframe


class MotusEncoder(H264Encoder):
    """Encodes with motus; aiortc's encoder splits the NAL units into RTP packets."""

    def __init__(self) -> None:
        super().__init__()
        self._encoder: Optional[motus.pyav.PacketEncoder] = None

    def _encode_frame(self, frame: av.VideoFrame, force_keyframe: bool) -> Iterator[bytes]:
        if self._encoder is None:
            self._encoder = motus.pyav.PacketEncoder(30, bitrate=self.target_bitrate, keyint=0)
        elif self._encoder.bitrate != self.target_bitrate:
            self._encoder.bitrate = self.target_bitrate
        for packet in self._encoder.encode(frame, keyframe=force_keyframe):
            yield from nal_units(bytes(packet))


def install() -> None:
    """Makes senders of H.264 use motus."""
    before = aiortc.rtcrtpsender.get_encoder

    def get_encoder(codec):
        return MotusEncoder() if codec.mimeType.lower() == "video/h264" else before(codec)

    aiortc.rtcrtpsender.get_encoder = get_encoder
