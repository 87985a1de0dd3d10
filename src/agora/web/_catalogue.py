"""A catalogue of everything that has a name, in the format used by the front end: components with their fields, suites, planners,
robots, policies.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from agora.config import plain
from agora.draft.stage import Stage
from agora.errors import InputError, UnknownNameError, in_words
from agora.field_docs import introduction, meanings
from agora.learning.card import card_names, load_policy_card
from agora.planners.presets import named_planner, preset_names, runnable_planners
from agora.policies.weights import policy_names
from agora.ranges import range_of, type_name
from agora.registry import KINDS, Named, available, load, plug_of, summary
from agora.robots.model import load_robot, robot_names
from agora.share import folder
from agora.tasks.suite import load_suite, suite_names
from agora.web._form_controls import choices_of, control_of, nested_dataclasses, structure_of


def kinds() -> dict[str, Any]:
    """Return the names of the components of every kind, with a description of the kind."""
    return {kind: {"words": words, "names": sorted(available(kind))} for kind, words in KINDS.items()}


@cache
def component(kind: str, name: str) -> dict[str, Any]:
    """Return a component with its fields.

    Raises:
        UnknownNameError: the kind or component is unknown. InputError: it cannot be imported.
    """
    found = load(kind, name)
    return {
        "kind": kind,
        "name": name,
        "summary": summary(kind, name),
        "text": introduction(found) if isinstance(found, type) else summary(kind, name),
        "fields": list(fields_of(found)) if isinstance(found, type) else [],
        "records": records_of(found) if isinstance(found, type) else {},
    }


def records_of(record: type) -> dict[str, Any]:
    """Return the fields of a dataclass and of the dataclasses nested in it, keyed by the name of the dataclass."""
    found, left = dict[str, Any](), [record]
    while left:
        one = left.pop()
        if one.__name__ not in found:
            found[one.__name__] = {"text": introduction(one), "fields": list(fields_of(one))}
            left += [inner for hint in _hints(one).values() for inner in nested_dataclasses(hint)]
    return found


def _hints(record: type) -> dict[str, Any]:
    """Return the types of a dataclass's fields; empty if one of the types exists only for type checkers."""
    try:
        return typing.get_type_hints(record, include_extras=True)
    except NameError:
        return {}


def fields_of(record: type) -> Iterator[dict[str, Any]]:
    """Yield the fields of a dataclass that a form shows: all fields except those with the metadata ``form: False``."""
    shown = [one for one in dataclasses.fields(record) if one.init and one.metadata.get("form", True)]
    hints = _hints(record)
    said = meanings(record, [one.name for one in shown])
    for one in shown:
        hint = hints.get(one.name, Any)
        span, plug = range_of(hint), plug_of(hint)
        default = one.default if one.default_factory is dataclasses.MISSING else one.default_factory()
        yield {
            "name": one.name,
            "type": control_of(hint),
            "words": type_name(hint),
            "default": None if default is dataclasses.MISSING else _plain(default),
            "required": default is dataclasses.MISSING,
            "least": None if span is None else span.least,
            "most": None if span is None else span.most,
            "above": span is not None and span.above,
            "choices": list(map(str, choices_of(hint))),
            "kind": "" if plug is None else plug.kind,
            "shape": structure_of(hint),
            "help": said.get(one.name, ""),
        }


def fields_with_values(record: type, values: Mapping[str, Any], inside: str = "") -> Iterator[dict[str, Any]]:
    """Yield the fields of a dataclass with the given values in place of the defaults; each has the ``fields`` of the component that
    is its value.

    Args:
        record: the dataclass.
        values: values by key, in the format written by `agora.config.plain`.
        inside: prefix for the names of the fields.
    """
    hints = typing.get_type_hints(record, include_extras=True)
    for one in fields_of(record):
        name, value = f"{inside}{one['name']}", values.get(one["name"], one["default"])
        part = _record_of(hints[one["name"]], value)
        below = [] if part is None else list(fields_with_values(part, value, f"{name}."))
        yield {**one, "name": name, "default": value, "required": False, "fields": below}


def _record_of(hint: Any, value: Any) -> type | None:
    """Return the dataclass of a value that is written as a mapping; None if there is no such dataclass."""
    if not isinstance(value, Mapping):
        return None
    if (plug := plug_of(hint)) is not None:
        found = load(plug.kind, value["name"])
        return found if isinstance(found, type) and dataclasses.is_dataclass(found) else None
    return next(nested_dataclasses(hint), None)


def _plain(value: Any) -> Any:
    """Return a default value as written in a file; empty if a file cannot represent it."""
    try:
        found = plain(value)
    except (InputError, TypeError, ValueError):
        return None
    return found if isinstance(found, str | int | float | bool | list | dict) else None


def fill_caches() -> None:
    """Fill the caches for the lists of names before the first visitor needs them; this takes seconds."""
    for read in (suites, planners, robots, policies):
        read()


def suites() -> list[dict[str, Any]]:
    """Return all suites, with their stages."""
    return [_suite(name) for name in suite_names()]


def suite(name: str) -> dict[str, Any]:
    """Return a suite, including the text of its file.

    Raises:
        UnknownNameError: there is no suite with this name.
    """
    if name not in suite_names():
        raise UnknownNameError("suite", name, suite_names())
    text = (folder("configs") / "benchmark" / f"{name}.yaml").read_text(encoding="utf-8")
    return {**_suite(name), "text": text}


@cache
def _suite(name: str) -> dict[str, Any]:
    try:
        found = load_suite(name)
        stages = [{"name": stage.name, "count": stage.count, "about": _about(stage)} for stage in found.stages]
    except InputError as error:  # its data may not be on this machine
        return {"name": name, "kind": "library", "description": "", "stages": [], "missing": in_words(error)}
    return {"name": name, "kind": "library", "description": found.description, "stages": stages, "missing": ""}


def _about(stage: Stage) -> str:
    """Describe the place of a stage: the names of its world and scenarios, and the generator or card that creates it."""
    place = stage.world.part
    makers = _generator_names(place)
    said = [summary(kind, name) for kind in ("map_generators", "cards") for name in makers if name in available(kind)]
    names = [stage.world.name, *makers, *getattr(place, "scenarios", ())]
    if isinstance(path := getattr(place, "path", None), str | Path):
        names.append(Path(path).name)
    return ". ".join(filter(None, [", ".join(dict.fromkeys(names)), *(one.rstrip(".") for one in said)]))


def _generator_names(place: Any) -> list[str]:
    """Return the names of the generators or situation cards that create a place; empty for other places."""
    generator, card = getattr(place, "generator", None), getattr(place, "card", None)
    return [generator.name] if isinstance(generator, Named) else [card] if isinstance(card, str) else []


@cache
def planners() -> list[dict[str, Any]]:
    """Return all planners and presets, each with the reason, if any, why it cannot run on this machine."""
    _, reasons = runnable_planners()
    return [_planner(name, "planner", reasons.get(name, "")) for name in sorted(available("planners"))] + [
        _planner(name, "preset", "") for name in preset_names()
    ]


def _planner(name: str, kind: str, missing: str) -> dict[str, Any]:
    said, label, needs, changes = "", "", list[str](), dict[str, Any]()
    try:
        own = named_planner(name)[1] if not missing else None
        parent = name if own is None else own.name
        said = (_description_of_preset(name) if kind == "preset" else "") or summary("planners", parent)
        if own is not None:
            label, needs = own.part.declares.label, sorted(own.part.declares.channels)
            changes = dict(_changes(plain(own), plain(named_planner(parent)[1]))) if kind == "preset" else {}
    except InputError as error:
        missing = in_words(error)
        parent = name
    return {
        "name": name,
        "kind": kind,
        "planner": parent,
        "summary": said,
        "label": label,
        "needs": needs,
        "changes": changes,
        "learned": ".learned." in available("planners")[parent].value if parent in available("planners") else False,
        "missing": missing,
    }


def _description_of_preset(preset: str) -> str:
    """Return the first sentence of the comment at the top of a preset's file; empty if there is no comment."""
    text = (folder("configs") / "planners" / f"{preset}.yaml").read_text(encoding="utf-8")
    head = itertools.takewhile(lambda line: line.startswith("#"), text.splitlines())
    return re.split(r"(?<=\.) +(?=[A-Z])", " ".join(line.removeprefix("#").strip() for line in head))[0]


def _changes(values: Mapping[str, Any], usual: Mapping[str, Any], inside: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the parameters of a preset that differ from the planner's defaults; parameters of nested components are prefixed with
    the component's name.
    """
    for name, value in values.items():
        before = usual.get(name)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            yield from _changes(value, before, f"{inside}{name}.")
        elif value != before:
            yield f"{inside}{name}", value


@cache
def robots() -> list[dict[str, Any]]:
    """Return all robots."""
    return [_robot(name) for name in robot_names()]


def _robot(name: str) -> dict[str, Any]:
    model = load_robot(name)
    return {
        "name": name,
        "radius": model.radius,
        "outline": [list(corner) for corner in model.footprint],
        "kinematics": model.kinematics,
        "top_speed": model.top_speed,
        "lidar": None if model.lidar is None else {"beams": model.lidar.beams, "range": model.lidar.range_max},
        "sensors": [sensor.name for sensor in model.sensors],
    }


@cache
def policies() -> list[dict[str, Any]]:
    """Return all policies whose weights are on this machine, with their cards."""
    cards = set(card_names())
    return [_policy(name, name in cards) for name in policy_names()]


def _policy(name: str, has_card: bool) -> dict[str, Any]:
    card = load_policy_card(name) if has_card else None
    said = None if card is None else plain(card)
    return {"name": name, "card": said, "run": "", "planner": "" if said is None else said["training"]["planner"], "path": name}
