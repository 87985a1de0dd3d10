"""Arena's parameters of the task generator, which can be set through dynamic_reconfigure, ``rosparam set`` or a watched file.

Values are read from the private parameters. dynamic_reconfigure and ``rosparam set`` write to them, and a changed file is copied to
them, so the latest change applies, whatever its source.
"""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import rospy
from dynamic_reconfigure.encoding import Config
from dynamic_reconfigure.server import Server

from agora.config import load
from agora.errors import InputError
from agora.share import folder
from agora.tasks.settings import Settings

_KINDS = {
    bool: ("bool", False, True),
    int: ("int", -(2**31), 2**31 - 1),
    float: ("double", -math.inf, math.inf),
    str: ("str", "", ""),
}
_EITHER = ("timeout",)
"""Parameters that can be a number or a word. A dynamic_reconfigure parameter has a single type, so these are shown as strings."""


def description(values: dict[str, Any]) -> Any:
    """Return the description of parameters and their defaults, as dynamic_reconfigure generates it from a .cfg file."""
    rows = []
    for name, value in values.items():
        kind, low, high = _KINDS[type(value)]
        rows.append(
            {"name": name, "type": kind, "level": 0, "description": "", "edit_method": ""}
            | {"default": value, "min": low, "max": high, "ctype": "", "cconsttype": "", "srcline": 0, "srcfile": ""}
        )
    group = {"name": "Default", "type": "", "state": True, "cstate": "true", "id": 0, "parent": 0, "parentname": "Default"}
    places = {"groups": [], "srcline": 0, "srcfile": "", "class": "", "parentclass": "", "field": "", "upper": "", "lower": ""}
    return SimpleNamespace(
        config_description=group | places | {"parameters": rows},
        defaults=Config(values),
        min=Config({row["name"]: row["min"] for row in rows}),
        max=Config({row["name"]: row["max"] for row in rows}),
        level=Config({row["name"]: 0 for row in rows}),
        type=Config({row["name"]: row["type"] for row in rows}),
        all_level=0,
    )


def _shown(values: dict[str, Any]) -> dict[str, Any]:
    """Return values in the form in which dynamic_reconfigure shows them."""
    return {name: str(value) if name in _EITHER else value for name, value in values.items()}


def _read(name: str, value: Any) -> Any:
    """Return the value of a private parameter, which dynamic_reconfigure may have written as a string."""
    try:
        return float(value) if name in _EITHER and isinstance(value, str) else value
    except ValueError:
        return value


class _Server(Server):
    """A dynamic_reconfigure server that writes only parameters that change, so that it never undoes a ``rosparam set`` that arrives
    between reading and writing.

    Args:
        values: values in use, which become the defaults.
        stored: values that are on the parameter server.
    """

    def __init__(self, values: dict[str, Any], stored: dict[str, Any]) -> None:
        self.stored = stored
        super().__init__(description(values), lambda config, _: config)

    def _copy_from_parameter_server(self) -> None:
        """Do nothing, because the values in use have already been read."""

    def _copy_to_parameter_server(self) -> None:
        for name in self.type.defaults:
            if name in self.stored and self.stored[name] == self.config[name]:
                continue
            if name in self.stored or not rospy.has_param(self.ns + name):
                rospy.set_param(self.ns + name, self.config[name])
            self.stored[name] = self.config[name]


class Reconfigure:
    """The settings in use, and the sources of changes to these settings.

    Args:
        file: path of Arena's ``task_generator.yaml``; if empty, the file that comes with Agora.
        given: values that override the values in the file, keyed by Arena's names.

    Attributes:
        settings: settings in use.

    Raises:
        InputError: the file or a value is invalid.
    """

    def __init__(self, file: str, given: dict[str, Any]) -> None:
        self._path = Path(file) if file else folder("configs") / "task_generator.yaml"
        base = load(self._path, Settings)
        self._changed, self._base = self._path.stat().st_mtime_ns, base
        private = rospy.get_param("~", {})
        early = {name: _read(name, private[name]) for name in base.parameters() if name in private}
        self.settings = base.with_parameters(given | early)
        self._given, self._seen = given, self.settings.parameters()
        self._server = _Server(_shown(self._seen), self._stored(private))

    def look(self, private: dict[str, Any], given: dict[str, Any]) -> None:
        """Apply changes in the file, the launch arguments and the private parameters; if a change is invalid, log the reason."""
        fresh = self._file()
        fresh |= {name: value for name, value in given.items() if self._given.get(name) != value}
        self._given = given
        self._server.stored = self._stored(private)
        now = {name: _read(name, private[name]) if name in private else value for name, value in self._seen.items()} | fresh
        if now == self._seen:
            return
        changed = {name: value for name, value in now.items() if value != self._seen[name]}
        self._seen = now
        try:
            self.settings = self.settings.with_parameters(changed)
            rospy.loginfo("settings: " + ", ".join(f"{name} = {value}" for name, value in changed.items()))
        except InputError as error:
            rospy.logerr(f"the settings are unchanged: {error}")
        self.show(self.settings)

    def show(self, settings: Settings) -> None:
        """Use these settings, and show them in dynamic_reconfigure."""
        self.settings, self._seen = settings, settings.parameters()
        self._server.update_configuration(_shown(self._seen))

    def _stored(self, private: dict[str, Any]) -> dict[str, Any]:
        """Return the private parameters for these settings in the form in which dynamic_reconfigure shows them."""
        return _shown({name: _read(name, private[name]) for name in self._seen if name in private})

    def _file(self) -> dict[str, Any]:
        """Return the changes in the file since the last check."""
        try:
            changed = self._path.stat().st_mtime_ns
            if changed == self._changed:
                return {}
            self._changed = changed
            read = load(self._path, Settings)
        except (InputError, OSError) as error:
            if self._changed != 0:
                rospy.logerr(f"the settings are unchanged: {error}")
            self._changed = 0 if isinstance(error, OSError) else self._changed
            return {}
        before, now = self._base.parameters(), read.parameters()
        self._base = read
        return {name: value for name, value in now.items() if before.get(name) != value}
