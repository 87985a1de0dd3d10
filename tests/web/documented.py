"""The models by which the routes of a server document their responses."""

from __future__ import annotations

from typing import Any, get_args

from agora.web._schemas.base import Documented


def model_of(field: Any) -> Any:
    """The model of a response's field; None where it has none."""
    if field is None:
        return None
    info = field.field_info
    marks = [*info.metadata, *get_args(info.annotation)]
    return next((mark.model for mark in marks if isinstance(mark, Documented)), None)
