"""Serves a video that plays while it is made: fragmented MP4 from a FastAPI endpoint.

    uvicorn serve:app          and http://127.0.0.1:8000/ in a browser"""
# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
from fastapi import FastAPI
from fastapi.responses import HTMLResponse, StreamingResponse

import motus

app = FastAPI()


def draw(seconds: float, fps: int):
    """Yields RGB frames, in place of a model. Arrays on a GPU would be encoded there."""
    y, x = np.mgrid[0:360, 0:640][..., None]
    for t in range(int(seconds * fps)):
        phase = 0.02 * (x + np.array([0, 40, 80])) + 0.03 * y + 0.15 * t
        yield (0.5 + 0.5 * np.sin(phase)).astype(np.float32)


@app.get("/video.mp4")
def video(seconds: float = 10, fps: int = 30) -> StreamingResponse:
    # Each picture is sent as soon as it is coded. Starlette runs a plain generator in a thread and
    # closes it when the viewer leaves, which closes the encoder.
    pieces = motus.stream(draw(seconds, fps), fps, fragment=0, lookahead=0, crf=25)
    return StreamingResponse(pieces, media_type="video/mp4")


@app.get("/", response_class=HTMLResponse)
def page() -> str:
    return ("<!doctype html><title>motus</title>"
            "<video src='/video.mp4' autoplay muted controls></video>")
