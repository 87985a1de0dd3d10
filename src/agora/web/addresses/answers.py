"""Parts of requests and answers that several addresses have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi.responses import Response

from agora.errors import InputError


def download(data: bytes, name: str, media: str = "application/octet-stream") -> Response:
    """Return a file for the disk of whoever asks."""
    return Response(data, media_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def text_in(fields: Mapping[str, Any], key: str) -> str:
    """Return a text of a request; empty where it is left out.

    Raises:
        InputError: it is no text.
    """
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise InputError(f"{key}: expected a text, got {value!r}")
    return value
