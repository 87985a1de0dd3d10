"""Answers that several addresses give."""

from __future__ import annotations

from fastapi.responses import Response


def download(data: bytes, name: str, media: str = "application/octet-stream") -> Response:
    """Return a file for the disk of whoever asks."""
    return Response(data, media_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'})
