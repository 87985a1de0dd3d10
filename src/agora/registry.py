"""The registry of components, which finds them by name through entry points and imports them only on request.

Components are registered through entry points in the group ``agora.<kind>``, in the same way for Agora's own components as for
those from other packages.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
import types
import typing
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from agora import ranges
from agora.errors import AgoraError, FieldError, InputError, UnknownNameError, nearest, placed

__all__ = ["Named", "available", "load", "make", "name_of"]

KINDS = {
    "planners": "local planner",
    "global_planners": "global planner",
    "interplanners": "interplanner",
    "predictors": "predictor",
    "crowd_models": "crowd model",
    "behaviours": "behaviour",
    "map_generators": "map generator",
    "costmap_layers": "costmap layer",
    "metrics": "metric",
    "robots_modes": "robots mode",
    "obstacles_modes": "obstacles mode",
    "modules": "module",
    "worlds": "world source",
    "cards": "scenario card",
    "simulators": "simulator",
    "channels": "channel",
    "executors": "executor",
    "trainers": "trainer",
    "encodings": "encoding",
    "networks": "network",
    "rewards": "reward",
}


@dataclasses.dataclass(frozen=True)
class Named:
    """A component with its registered name.

    Attributes:
        name: name of the component in the registry.
        part: the component.
    """

    name: str
    part: Any

    @staticmethod
    def of(kind: str, name: str, **parameters: Any) -> Named:
        """Build the component ``name`` of the given kind."""
        return Named(name, make(kind, name, **parameters))


@dataclasses.dataclass(frozen=True)
class Plug:
    """Marks a field of a file's dataclass as a component: ``Annotated[Named, Plug("planners")]``.

    A field whose type is not `Named` holds the component itself; its name is looked up when it is written (`name_of`). In a file,
    the value is either just the name or a mapping with ``name`` and the component's parameters.

    Attributes:
        kind: kind of the component.
        usual: name of the component to use for a mapping without a ``name``; if empty, ``name`` is required.
    """

    kind: str
    usual: str = ""


def plug_of(kind: Any) -> Plug | None:
    """Return the `Plug` that annotates a type or a member of a union; None if there is none."""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return next((plug for member in typing.get_args(kind) if (plug := plug_of(member)) is not None), None)
    return next((part for part in getattr(kind, "__metadata__", ()) if isinstance(part, Plug)), None)


_ALONE: list[bool] = []
"""Non-empty while components from other packages must not be imported."""


@contextmanager
def own_alone(alone: bool = True) -> Iterator[None]:
    """Make `load` reject components from other packages in this context, unless ``alone`` is False."""
    _ALONE.extend([True] * alone)
    try:
        yield
    finally:
        del _ALONE[len(_ALONE) - alone :]


@functools.cache
def _points() -> Any:
    """Return the entry points of all packages, which are read only once, because reading takes 20 ms."""
    return entry_points()


@functools.cache
def available(kind: str) -> dict[str, EntryPoint]:
    """Return the entry points of a kind, keyed by name, without importing them.

    Raises:
        UnknownNameError: the kind is unknown.
        InputError: two distributions have registered the same name.
    """
    if kind not in KINDS:
        raise UnknownNameError("kind of component", kind, KINDS)
    found: dict[str, EntryPoint] = {}
    for point in sorted(_points().select(group=f"agora.{kind}"), key=lambda p: p.name):
        if point.name in found and found[point.name].value != point.value:
            raise InputError(f"two {kind} are called {point.name!r}: {found[point.name].value} and {point.value}")
        found[point.name] = point
    return found


def load(kind: str, name: str) -> Any:
    """Import and return the component ``name`` of the given kind.

    Raises:
        UnknownNameError: the component is unknown; the message gives the nearest name.
        InputError: the component's module cannot be imported or lacks this name (the message gives file and line), or the component
            belongs to another package and the call is within `own_alone`.
    """
    points = available(kind)
    if name not in points:
        raise UnknownNameError(KINDS[kind], name, points)
    point = points[name]
    if _ALONE and not is_own(kind, name):
        package = point.module.partition(".")[0]
        raise InputError(f"{KINDS[kind]} {name!r} belongs to the package {package}, whose code may not run in this process")
    try:
        return point.load()
    except AgoraError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{KINDS[kind]} {name!r}, {point.value}, cannot be imported: {placed(error, __file__)}") from error


def is_own(kind: str, name: str) -> bool:
    """Return whether the component ``name`` of the given kind is Agora's own, without importing it."""
    point = available(kind).get(name)
    return point is not None and point.module.partition(".")[0] == "agora"


def summary(kind: str, name: str) -> str:
    """Return a summary of the component ``name`` of the given kind: its formula, its title, or the first paragraph of its
    docstring.

    Raises:
        InputError: the component cannot be imported.
    """
    component = load(kind, name)
    text = getattr(component, "formula", None) or getattr(component, "title", None) or inspect.getdoc(component) or ""
    return " ".join(str(text).partition("\n\n")[0].split())


def required(kind: str, name: str) -> list[str]:
    """Return the names of those parameters of the component ``name`` of the given kind that have no default."""
    fields = [field for field in dataclasses.fields(load(kind, name)) if field.init]
    return [f.name for f in fields if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING]


def ready(kind: str) -> list[str]:
    """Return the sorted names of the components of a kind that can be built without parameters; imports all components of the
    kind.
    """
    return [name for name in available(kind) if not required(kind, name)]


def name_of(kind: str, component: Any) -> str:
    """Return the name under which the class of a component is registered.

    Raises:
        InputError: the class is not registered.
    """
    made = type(component)
    for name, point in available(kind).items():
        defined = (point.module, point.attr) == (made.__module__, made.__qualname__)
        if defined or getattr(sys.modules.get(point.module), point.attr, None) is made:  # or exported from that module
            return name
    group = f'[project.entry-points."agora.{kind}"]'
    raise InputError(
        f"{KINDS[kind]} {made.__name__} is not registered; register it in the pyproject.toml of its package, under {group}"
    )


def make(kind: str, name: str, **parameters: Any) -> Any:
    """Build the component ``name`` of the given kind with the given parameters.

    Raises:
        UnknownNameError: the component is unknown.
        InputError: the component does not have a parameter, or rejects a value.
    """
    component = load(kind, name)
    known = {field.name for field in dataclasses.fields(component) if field.init}
    for key in parameters:
        if key not in known:
            raise InputError(f"{KINDS[kind]} {name!r} has no parameter {key!r}; {nearest(key, known)}")
    try:
        ranges.check(component, parameters)
        return component(**parameters)
    except FieldError as error:
        raise InputError(f"{KINDS[kind]} {name!r}: {error}") from error
    except AgoraError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"{KINDS[kind]} {name!r}: {error}") from error
    except Exception as error:
        raise InputError(f"{KINDS[kind]} {name!r}: {placed(error, __file__)}") from error
