"""Planners by name: a registered planner or a preset in ``configs/planners``, optionally with changed parameters and an
interplanner.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from agora.config import build, build_component, load, parse_parameters, split
from agora.errors import InputError, UnknownNameError, in_words, nearest
from agora.extras import lacking
from agora.planners.adapters import declaration_of
from agora.planners.guided import GuidedPlanner
from agora.registry import Named, available, required
from agora.registry import load as load_component
from agora.share import folder, names_in

__all__ = [
    "sort_parameters",
    "named_interplanner",
    "named_planner",
    "names_interplanner",
    "runnable_planners",
    "expand_sweep",
    "takes_policy",
    "with_policy",
]

_PLUS = re.compile(r"\+(?=[A-Za-z_])")
"""Separates a planner and its interplanner; the plus in 1e+3 is not followed by a letter."""

GUIDED = "guided"
"""The name of a planner with an interplanner; it is not registered."""

_CALLED = re.compile(r"(\w+)\((.*)\)")


def preset_names() -> list[str]:
    """Return the names of the presets that come with Agora."""
    return names_in("planners")


def named_planner(text: str, interplanner: str = "", agent: str = "") -> tuple[str, Named]:
    """Return the label and the planner for ``PLANNER`` or ``PLANNER+INTERPLANNER``.

    Both are ``NAME``, ``NAME:key=value,key=value`` or ``NAME(key=value,key=value)`` (values as in YAML). With `bypass` the planner
    is the same as without an interplanner. The label is the text with each ``/`` replaced by ``|``, because ``/`` separates the
    parts of an episode's key.

    Args:
        text: planner string, as described above.
        interplanner: interplanner to use if the text names none.
        agent: policy to use if the planner needs a weights file and the text names none; other planners ignore it.

    Raises:
        UnknownNameError: no planner, preset or interplanner has this name.
        InputError: a parameter is unknown or invalid, or a required extra is not installed.
    """
    if interplanner not in ("", "bypass") and _PLUS.search(text) is None:
        text = f"{text}+{interplanner}"
    own, *front = _PLUS.split(text, maxsplit=1)
    label, planner = text.replace("/", "|"), _local(own, agent)
    guide = named_interplanner(front[0]) if front else None
    if guide is not None and guide.name != "bypass":
        planner = Named(GUIDED, GuidedPlanner(planner, guide))
    if absent := lacking(planner.part.declares.requires):
        raise InputError(f"planner {text!r}: {absent}")
    return label, planner


def names_interplanner(text: str) -> bool:
    """Return whether a planner string names an interplanner: ``PLANNER+INTERPLANNER``."""
    return _PLUS.search(text) is not None


def takes_policy(text: str) -> bool:
    """Return whether a planner needs a weights file that its planner string does not name.

    Raises:
        InputError: no planner has this name.
    """
    values = _values(_PLUS.split(text, maxsplit=1)[0])
    return "file" not in values and "file" in {field.name for field in fields(load_component("planners", values["name"]))}


def with_policy(text: str, policy: str) -> str:
    """Return a planner string for which `takes_policy` is true, with a policy (a name or a file) added."""
    own, *front = _PLUS.split(text, maxsplit=1)
    name, rest = _split(own)
    return "+".join([f"{name}:{','.join(filter(None, (f'file={json.dumps(policy)}', rest)))}", *front])


def expand_sweep(text: str) -> list[str]:
    """Expand a planner string with several values for one parameter, such as ``NAME:key=1,2,key=3``, into one string per value.

    A string with one value for each parameter is returned unchanged.

    Raises:
        InputError: more than one parameter has several values.
    """
    parts = _PLUS.split(text, maxsplit=1)
    each = [_expand_component(part) for part in parts]
    if sum(len(some) > 1 for some in each) > 1:
        raise InputError(f"planner {text!r}: at most one parameter may have several values, but two have")
    return ["+".join(chosen) for chosen in itertools.product(*each)]


def sort_parameters(text: str) -> str:
    """Return a planner string with its parameters in alphabetical order, so that equivalent strings become equal."""
    parts = [(name, sorted(part.strip() for part in split(rest))) for name, rest in map(_split, _PLUS.split(text, maxsplit=1))]
    return "+".join(f"{name.strip()}:{','.join(rest)}" for name, rest in parts)


def _expand_component(text: str) -> list[str]:
    """Return the strings for one component, one for each value of the parameter that has several values."""
    name, rest = _split(text)
    texts: list[list[str]] = []
    for part in split(rest):
        if "=" in part or not texts:
            texts.append([part.strip()])
        else:
            texts[-1].append(f"{texts[-1][0].partition('=')[0]}={part.strip()}")
    several = [some for some in texts if len(some) > 1]
    if len(several) > 1:
        names = " and ".join(some[0].partition("=")[0] for some in several)
        raise InputError(f"planner {text!r}: at most one parameter may have several values, but {names} have")
    return [text] if not several else [f"{name}:{','.join(chosen)}" for chosen in itertools.product(*texts)]


def planner_of(values: Mapping[str, Any], where: str) -> Named:
    """Return the planner described by data from `agora.config.plain`, with its interplanner, if any.

    Args:
        values: name and parameters, as plain data.
        where: description of the data, used in messages.

    Raises:
        InputError: the planner is unknown, or does not have these parameters.
    """
    if values.get("name") != GUIDED:
        return build_component("planners", values, where)
    return Named(GUIDED, build({key: value for key, value in values.items() if key != "name"}, GuidedPlanner, where))


def runnable_planners() -> tuple[list[str], dict[str, str]]:
    """Return the names of the registered planners that can run in this installation, and for each other planner the reason why it
    cannot.
    """
    here, reasons = [], {}
    for name in available("planners"):
        try:
            reason = _missing_parts(name)
        except InputError as error:
            reason = in_words(error)
        if reason:
            reasons[name] = reason
        else:
            here.append(name)
    return here, reasons


def _missing_parts(name: str) -> str:
    """Return what a registered planner still needs: required parameters, or an extra that is not installed; empty if nothing is
    missing.
    """
    if needed := required("planners", name):
        return f"it has no default for {' and '.join(needed)}; name it with --planner {name}:{needed[0]}=..."
    return lacking(_local(name, "").part.declares.requires)


def named_interplanner(text: str) -> Named:
    """Return the interplanner for ``NAME``, ``NAME:key=value,key=value`` or ``NAME(key=value,key=value)``.

    Raises:
        UnknownNameError: no interplanner has this name.
        InputError: a parameter is unknown or invalid.
    """
    name, rest = _split(text)
    where = f"interplanner {text!r}"
    if name not in available("interplanners"):
        raise UnknownNameError("interplanner", name, available("interplanners"))
    built = build_component("interplanners", {"name": name} | parse_parameters(rest, where), where)
    declaration_of(built.part)
    return built


def _local(text: str, agent: str) -> Named:
    values = _values(text)
    if agent and "file" in {field.name for field in fields(load_component("planners", values["name"]))}:
        values = {"file": agent} | values
    built = build_component("planners", values, f"planner {text!r}")
    for name, own in declaration_of(built.part).channels.items():
        if own is None and name not in (known := available("channels")):
            raise InputError(f"planner {text!r}: no sensor called {name!r}; {nearest(name, known)}")
    return built


def _values(text: str) -> dict[str, Any]:
    """Return the name and parameters of a planner; a parameter that is itself a planner string is replaced with the name and
    parameters of that planner.
    """
    name, rest = _split(text)
    values: dict[str, Any] = {"name": name}
    if name not in available("planners"):
        if name not in preset_names():
            raise UnknownNameError("planner", name, [*available("planners"), *preset_names()])
        values = load(folder("configs") / "planners" / f"{name}.yaml", dict)
    values |= parse_parameters(rest, f"planner {text!r}")
    return values | ({"planner": _values(values["planner"])} if isinstance(values.get("planner"), str) else {})


def _split(text: str) -> tuple[str, str]:
    """Return the name and parameters of one component."""
    if match := _CALLED.fullmatch(text):
        return match[1], match[2]
    name, _, rest = text.partition(":")
    return name, rest
