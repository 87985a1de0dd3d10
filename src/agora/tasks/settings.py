"""Reads Arena 3.0's ``task_generator.yaml`` unchanged, and gives access to the values by their ROS parameter names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from agora.config import build, plain
from agora.draft.scenario import Pose
from agora.errors import UnknownNameError
from agora.ranges import LARGEST_WHOLE, Checked, Duration, Number, Within
from agora.tasks.obstacles.random import Amount
from agora.world.start import WIDEST_GOAL

__all__ = ["Settings"]


@dataclass(frozen=True)
class ScenarioSettings:
    """Settings of the ``scenario`` modes.

    Attributes:
        file: name of a file in the world's ``scenarios`` folder, with or without ``.json``, or a path, which must contain a slash.
    """

    file: str = "default.json"


@dataclass(frozen=True)
class ParametrizedSettings:
    """Settings of the ``parametrized`` obstacles mode.

    Attributes:
        file: name of a file in ``configs/parametrized``, or a path, which must contain a slash.
    """

    file: str = "default.xml"


@dataclass(frozen=True)
class StagedSettings:
    """Settings of the ``staged`` module.

    Attributes:
        curriculum: name of a file in ``configs/training/curriculums``, or a path, which must contain a slash.
        index: number of the first stage.
    """

    curriculum: str = "default.yaml"
    index: int = 0


@dataclass(frozen=True)
class RandomSettings(Checked):
    """Settings of the ``random`` obstacles mode and of every random stream.

    Attributes:
        seed: seed of every random stream; -1 to use the seed that is passed to the generator.
        static: number and models of static obstacles.
        interactive: number and models of obstacles that pedestrians use.
        dynamic: number and models of pedestrians.
    """

    seed: Annotated[int, Within(-1, LARGEST_WHOLE)] = -1
    static: Amount = field(default_factory=Amount)
    interactive: Amount = field(default_factory=Amount)
    dynamic: Amount = field(default_factory=lambda: Amount(5, 10, ("actor1",)))


@dataclass(frozen=True)
class ZonesSettings:
    """Settings of the ``zones`` modes.

    Attributes:
        file: Arena's key, which must have its default value; a world's zones are always read from the world's ``map/zones.yaml``.
        scenario: name of a file in the world's ``zones`` folder, with or without ``.yaml``.
    """

    file: Literal["zones.yaml"] = "zones.yaml"
    scenario: str = "default.yaml"


@dataclass(frozen=True)
class GuidedSettings:
    """Settings of the ``guided`` robots mode. These keys are not in Arena's file, because Arena takes waypoints only from RViz.

    Attributes:
        waypoints: poses x, y, heading, or points x, y.
        file: path of a file with a list of waypoints, used instead of ``waypoints``.
    """

    waypoints: tuple[Pose, ...] = ()
    file: str = ""


@dataclass(frozen=True)
class Settings(Checked):
    """The keys of the file.

    Attributes:
        timeout: time limit of an episode, s; a negative value for no limit, auto for a limit derived from the robots' paths
            (`agora.tasks.budget`).
        episodes: number of episodes; a negative value for no limit.
        goal_radius: distance at which a goal counts as reached, m.
        goal_tolerance_angle: maximum deviation from the goal's heading at which a goal counts as reached, degrees; 180 allows any
            heading.
        scenario: settings of the ``scenario`` modes; the key is in upper case in the file.
        parametrized: settings of the ``parametrized`` obstacles mode; the key is in upper case in the file.
        staged: settings of the ``staged`` module; the key is in upper case in the file.
        random: settings of the ``random`` obstacles mode; the key is in upper case in the file.
        zones: settings of the ``zones`` modes; the key is in upper case in the file.
        guided: settings of the ``guided`` robots mode; the key is in upper case in the file.
        dynamicmap: keys of Arena's ``map_generator.yaml`` for the ``dynamic_map`` module, which override
            ``configs/map_generator/default.yaml``; may be empty, as in Arena's file.
        autoreset: Arena's key, which must have its default value, because the next episode always starts automatically.
        auto_reset: same meaning as ``autoreset``.
        timeout_wait_for_service: Arena's key, which must have its default value; the node's ``patience`` parameter sets how long
            the node waits.
        max_reset_fail_times: number of failed resets in ROS after which an episode is given up.
    """

    timeout: float | Literal["auto"] = "auto"
    episodes: int = -1
    goal_radius: Annotated[float, Within(0.0, WIDEST_GOAL, above=True)] = 1.0
    goal_tolerance_angle: Annotated[float, Within(0.0, 180.0, above=True)] = 30.0
    scenario: ScenarioSettings = field(default_factory=ScenarioSettings, metadata={"key": "SCENARIO"})
    parametrized: ParametrizedSettings = field(default_factory=ParametrizedSettings, metadata={"key": "PARAMETRIZED"})
    staged: StagedSettings = field(default_factory=StagedSettings, metadata={"key": "STAGED"})
    random: RandomSettings = field(default_factory=RandomSettings, metadata={"key": "RANDOM"})
    zones: ZonesSettings = field(default_factory=ZonesSettings, metadata={"key": "ZONES"})
    guided: GuidedSettings = field(default_factory=GuidedSettings, metadata={"key": "GUIDED"})
    dynamicmap: dict[str, Any] = field(default_factory=dict, metadata={"key": "DYNAMICMAP"})
    autoreset: bool = True
    auto_reset: bool = True
    timeout_wait_for_service: Duration = 60.0
    max_reset_fail_times: Number = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in {"autoreset": True, "auto_reset": True, "timeout_wait_for_service": 60.0}.items():
            if getattr(self, name) != value:
                raise ValueError(f"{name} has no effect: expected Arena's default {str(value).lower()}, or leave it out")
        if self.timeout != "auto" and (self.timeout == 0 or self.timeout > 36_000):
            raise ValueError(f"timeout must be in (0, 36000] s, auto, or negative for no limit, got {self.timeout}")

    def overridden(self, tree: Mapping[str, Any], where: str = "settings") -> Settings:
        """Return the settings with values replaced by the values in a tree, which contains some of the file's keys; ``where`` names
        the tree in messages.

        Raises:
            InputError: a key is unknown, or a value is rejected.
        """
        return build(_merged(plain(self), tree), Settings, where)

    def parameters(self) -> dict[str, Any]:
        """Return the values by their ROS parameter names in Arena; a list of strings becomes one string, joined by ``;``.

        Other lists are omitted.
        """
        found = {name: value for name, (_, value) in _paths(plain(self))}
        texts = {name: ";".join(v) if _is_texts(name, v) else v for name, v in found.items()}
        return {name: value for name, value in texts.items() if not isinstance(value, list)}

    def with_parameters(self, parameters: Mapping[str, Any]) -> Settings:
        """Return the settings with changed parameters, which are given by their ROS names in Arena, such as "RANDOM_dynamic_max" or
        "timeout".

        A list may also be given as a string with ``;`` between its elements, as Arena does for ``RANDOM_static_models``.

        Raises:
            UnknownNameError: a parameter is unknown.
            InputError: a value is rejected.
        """
        known = dict(_paths(plain(self)))
        tree: dict[str, Any] = {}
        for name, value in parameters.items():
            if name not in known:
                raise UnknownNameError("parameter", name, known)
            keys, present = known[name]
            if isinstance(present, list) and isinstance(value, str):
                value = [part for part in value.split(";") if part]
            inner = tree
            for key in keys[:-1]:
                inner = inner.setdefault(key, {})
            inner[keys[-1]] = value
        return self.overridden(tree, "parameters")


def _is_texts(name: str, value: Any) -> bool:
    return isinstance(value, list) and (name.endswith("_models") or (bool(value) and all(isinstance(v, str) for v in value)))


def _merged(base: dict[str, Any], tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested values after overriding them with the values in a tree."""
    merged = dict(base)
    for key, value in tree.items():
        inner = merged.get(key)
        merged[key] = _merged(inner, value) if isinstance(inner, dict) and isinstance(value, Mapping) else value
    return merged


def _paths(values: dict[str, Any], keys: tuple[str, ...] = ()) -> list[tuple[str, tuple[tuple[str, ...], Any]]]:
    """Return the names, keys and values of all leaves of nested mappings."""
    found: list[tuple[str, tuple[tuple[str, ...], Any]]] = []
    for key, value in values.items():
        path = (*keys, key)
        found += _paths(value, path) if isinstance(value, dict) else [("_".join(path), (path, value))]
    return found
