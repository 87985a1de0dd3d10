"""The planners that were trained, and the others that read walls."""

from __future__ import annotations

import dataclasses
from typing import Any

from agora.registry import available, load, make, ready


def learned() -> set[str]:
    """Names of the planners that drive with a file of weights, and come with one."""
    return {name for name in available("planners") if any(map(_weights, dataclasses.fields(load("planners", name))))}


def wall_readers() -> set[str]:
    """Names of the planners that read walls and were not trained."""
    return {name for name in {*ready("planners")} - learned() if "costmap" in make("planners", name).declares.channels}


def _weights(field: dataclasses.Field[Any]) -> bool:
    return field.name == "file" and field.default is not dataclasses.MISSING
