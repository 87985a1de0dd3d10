"""The planners that were trained."""

from __future__ import annotations

import dataclasses

from agora.registry import available, load


def learned() -> set[str]:
    """Names of the planners that drive with a file of weights."""
    return {name for name in available("planners") if "file" in {one.name for one in dataclasses.fields(load("planners", name))}}
