"""Arena 3.0's ``task_generator.yaml``, accepted unchanged, and its parameters by the names that ROS gives them."""

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
    """For the modes ``scenario``.

    Attributes:
        file: name of a file in the world's folder ``scenarios``, with or without ``.json``; or a path, which has a slash.
    """

    file: str = "default.json"


@dataclass(frozen=True)
class ParametrizedSettings:
    """For the obstacles mode ``parametrized``.

    Attributes:
        file: a name in ``configs/parametrized``, or a path, which has a slash.
    """

    file: str = "default.xml"


@dataclass(frozen=True)
class StagedSettings:
    """For the module ``staged``.

    Attributes:
        curriculum: a name in ``configs/training/curriculums``, or a path, which has a slash.
        index: number of the first stage.
    """

    curriculum: str = "default.yaml"
    index: int = 0


@dataclass(frozen=True)
class RandomSettings(Checked):
    """Settings of the obstacles mode ``random`` and of every random stream.

    Attributes:
        seed: seed of every random stream; -1 for the one that the generator is given.
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
    """For the modes ``zones``.

    Attributes:
        file: key of Arena's with this value: the zones of a world are those of its ``map/zones.yaml``.
        scenario: name of a file in the world's folder ``zones``, with or without ``.yaml``.
    """

    file: Literal["zones.yaml"] = "zones.yaml"
    scenario: str = "default.yaml"


@dataclass(frozen=True)
class GuidedSettings:
    """Settings of the robots mode ``guided``; not in Arena's file, where waypoints come from RViz alone.

    Attributes:
        waypoints: poses x, y, heading, or points x, y.
        file: path of a file with such a list, instead.
    """

    waypoints: tuple[Pose, ...] = ()
    file: str = ""


@dataclass(frozen=True)
class Settings(Checked):
    """The keys of the file.

    Attributes:
        timeout: time limit of an episode, s; below 0 for none, auto for the time that the robots' paths need
            (`agora.tasks.budget`).
        episodes: number of episodes; below 0 for no end.
        goal_radius: distance at which a goal counts as reached, m.
        goal_tolerance_angle: deviation from the goal's heading at which a goal counts as reached, degrees; 180 for any heading.
        scenario: settings of the modes ``scenario``; upper case in the file.
        parametrized: settings of the obstacles mode ``parametrized``; upper case in the file.
        staged: settings of the module ``staged``; upper case in the file.
        random: settings of the obstacles mode ``random``; upper case in the file.
        zones: settings of the modes ``zones``; upper case in the file.
        guided: settings of the robots mode ``guided``; upper case in the file.
        dynamicmap: keys of Arena's ``map_generator.yaml`` for the module ``dynamic_map``, over those of
            ``configs/map_generator/default.yaml``; Arena leaves it empty, and so can you.
        autoreset: key of Arena's with this value: episodes always follow each other.
        auto_reset: the same.
        timeout_wait_for_service: key of Arena's with this value: the node's ``patience`` says how long it waits.
        max_reset_fail_times: failures of an episode in ROS after which it is given up.
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
            raise ValueError(f"timeout must be above 0 and at most 36000 s, auto, or negative for none, got {self.timeout}")

    def overridden(self, tree: Mapping[str, Any], where: str = "settings") -> Settings:
        """The settings with the values of a tree that has some of the file's keys; ``where`` names it in messages.

        Raises:
            InputError: an unknown key, or a value that is refused.
        """
        return build(_merged(plain(self), tree), Settings, where)

    def parameters(self) -> dict[str, Any]:
        """The values by the names that Arena gives them in ROS; a list of texts is a text with ``;`` between them.

        Lists of anything else have no such name.
        """
        found = {name: value for name, (_, value) in _paths(plain(self))}
        texts = {name: ";".join(v) if _is_texts(name, v) else v for name, v in found.items()}
        return {name: value for name, value in texts.items() if not isinstance(value, list)}

    def with_parameters(self, parameters: Mapping[str, Any]) -> Settings:
        """The settings with parameters changed by the names that Arena gives them in ROS: "RANDOM_dynamic_max", "timeout".

        A list is also taken as a text with ``;`` between its parts, as Arena writes ``RANDOM_static_models``.

        Raises:
            UnknownNameError: no such parameter.
            InputError: a value that is refused.
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
    """Nested values with those of a tree over them."""
    merged = dict(base)
    for key, value in tree.items():
        inner = merged.get(key)
        merged[key] = _merged(inner, value) if isinstance(inner, dict) and isinstance(value, Mapping) else value
    return merged


def _paths(values: dict[str, Any], keys: tuple[str, ...] = ()) -> list[tuple[str, tuple[tuple[str, ...], Any]]]:
    """Names, keys and values of everything in nested mappings."""
    found: list[tuple[str, tuple[tuple[str, ...], Any]]] = []
    for key, value in values.items():
        path = (*keys, key)
        found += _paths(value, path) if isinstance(value, dict) else [("_".join(path), (path, value))]
    return found
