"""Replaces diffusers.utils.export_to_video: same arguments, same result.

    from export_to_video import export_to_video
    frames = pipe(prompt).frames[0]                     # arrays of 0..1, or PIL images
    export_to_video(frames, "out.mp4", fps=16)

With output_type="pt" the pipeline leaves its frames on the GPU, [T, 3, H, W]: they are encoded
there, and only the video comes to the host."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import tempfile
from typing import Any, Optional

import motus


def export_to_video(video_frames: Any, output_video_path: Optional[str] = None, fps: int = 10,
                    quality: float = 5.0, bitrate: Optional[int] = None,
                    macro_block_size: Optional[int] = 16) -> str:
    """Encodes frames of even size; returns the path. quality: 0 (worst) .. 10, a CRF of 35..15.
    bitrate: bits a second instead of a quality. macro_block_size is ignored."""
    del macro_block_size
    if output_video_path is None:
        with tempfile.NamedTemporaryFile(suffix=".mp4", delete=False) as file:
            output_video_path = file.name
    rate = {"bitrate": bitrate} if bitrate else {"crf": 35 - 2 * quality}
    motus.encode(video_frames, output_video_path, fps=fps, **rate)
    return output_video_path
