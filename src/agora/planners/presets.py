"""Planners by name: a registered one, or a preset of one in ``configs/planners``, each with parameters changed."""

from __future__ import annotations

from typing import Any

from agora.config import build_component, load, parse_parameters
from agora.errors import UnknownNameError
from agora.registry import Named, available
from agora.share import folder


def preset_names() -> list[str]:
    """Names of the presets that come with Agora."""
    return sorted(path.stem for path in (folder("configs") / "planners").glob("*.yaml"))


def named_planner(text: str) -> tuple[str, Named]:
    """Return label and planner of ``NAME`` or ``NAME:key=value,key=value`` (values as in YAML).

    The label is the text, with ``|`` for ``/``, which separates the parts of an episode's key.

    Raises:
        UnknownNameError: neither a planner nor a preset.
        InputError: a parameter that the planner does not have or refuses.
    """
    name, _, rest = text.partition(":")
    where = f"planner {text!r}"
    values: dict[str, Any] = {"name": name}
    if name not in available("planners"):
        if name not in preset_names():
            raise UnknownNameError("planner", name, [*available("planners"), *preset_names()])
        values = load(folder("configs") / "planners" / f"{name}.yaml", dict)
    return text.replace("/", "|"), build_component("planners", values | parse_parameters(rest, where), where)
