"""Helpers for requests and responses, shared by several routes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from agora.errors import InputError


def download(data: bytes, name: str, media: str = "application/octet-stream") -> Response:
    """Return a file as a download."""
    return Response(data, media_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'})


async def read_body(request: Request) -> dict[str, Any]:
    """Return the fields of a request, which must include ``content``.

    Raises:
        InputError: the request is not JSON, or does not have this field.
    """
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise InputError("expected JSON, an object with the key content") from error
    if not isinstance(found, dict) or "content" not in found:
        raise InputError("expected an object with the key content")
    return found


def get_text(fields: Mapping[str, Any], key: str) -> str:
    """Return a string field of a request; empty if the field is omitted.

    Raises:
        InputError: the value is not a string.
    """
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise InputError(f"{key}: expected a string, got {value!r}")
    return value
