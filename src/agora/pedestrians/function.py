"""Crowd models made from a single function that operates on arrays."""

from __future__ import annotations

import dataclasses
import inspect
import math
import typing
from collections.abc import Callable
from typing import Any, Literal

from agora.core.state import Floats
from agora.errors import InputError
from agora.interfaces import CrowdDeclaration, CrowdScene

__all__ = ["crowd_model"]


def crowd_model(
    output: Literal["acceleration", "velocity"], *, max_speed_factor: float = 1.0, max_step: float = math.inf
) -> Callable[[Callable[..., Floats]], type]:
    """Return a decorator that turns a function of the scene into a crowd model, whose parameters are the function's other
    arguments.

    The model is a frozen dataclass with the function's name, so an entry point can refer to it, and suites can set its parameters.

    Args:
        output: kind of the function's result (W, P, 2): accelerations, m/s2, or velocities, m/s.
        max_speed_factor: speed cap, as a multiple of the preferred speed.
        max_step: maximum time between calls, s.

    Raises:
        InputError: an argument after the scene has no default.
    """

    def make(function: Callable[..., Floats]) -> type:
        name, hints = function.__name__, typing.get_type_hints(function)
        _, *parameters = inspect.signature(function).parameters.values()
        for parameter in parameters:
            if parameter.default is inspect.Parameter.empty:
                raise InputError(f"crowd model {name}: the parameter {parameter.name} needs a default")
        names = [parameter.name for parameter in parameters]

        def compute(self: Any, scene: CrowdScene) -> Floats:
            return function(scene, **{key: getattr(self, key) for key in names})

        def finite(self: Any) -> None:
            for key in names:
                if isinstance(getattr(self, key), float) and not math.isfinite(getattr(self, key)):
                    raise InputError(f"{name}.{key} is {getattr(self, key)!r}; expected a finite number")

        namespace: dict[str, Any] = {
            "declares": CrowdDeclaration(output, max_speed_factor, max_step),
            "compute": compute,
            "__post_init__": finite,
            "__doc__": function.__doc__,
            "__module__": function.__module__,
        }
        fields = [(p.name, hints.get(p.name, type(p.default)), p.default) for p in parameters]
        return dataclasses.make_dataclass(name, fields, namespace=namespace, frozen=True)

    return make
