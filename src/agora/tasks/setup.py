"""The setup of a task generator: settings, modes, modules, world, robots and crowd, by name or as components."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any

from agora.config import component_values, parse_component
from agora.draft.periods import Periods
from agora.draft.stage import CrowdSettings, NavigationSettings, Stage
from agora.errors import InputError
from agora.registry import Named, available
from agora.tasks.modules.dynamic_map import DynamicMap
from agora.tasks.modules.staged import Staged
from agora.tasks.obstacles.groups import Groups
from agora.tasks.obstacles.parametrized import Parametrized
from agora.tasks.obstacles.random import Random
from agora.tasks.obstacles.zones import Zones as ZonesOfPedestrians
from agora.tasks.robots.guided import Guided
from agora.tasks.robots.zones import Zones as ZonesOfRobots
from agora.tasks.settings import Settings
from agora.tasks.worlds.folder import Folder

__all__ = ["Setup"]

_NEVER = 36_000.0  # time limit that replaces a negative one, s


@dataclass(frozen=True)
class Setup:
    """The setup of a task generator.

    Attributes:
        settings: settings of modes and modules.
        robots: robots mode, by name or as a component.
        obstacles: obstacles mode, by name or as a component.
        modules: modules, by name or as components.
        world: name or path (with a slash) of a world folder, name of a world source, "dynamic_map", or a component.
        robot: robot model: one name for all robots, or one name per robot; the number of robots is the number of models, unless
            ``robots`` gives a ``count``.
        crowd: crowd model, behaviours and types of pedestrians.
        periods: periods of physics, control, crowd and sensors.
        navigation: settings of global paths.
    """

    settings: Settings = field(default_factory=Settings)
    robots: Any = "random"
    obstacles: Any = "random"
    modules: tuple[Any, ...] = ()
    world: Any = "hall"
    robot: str | tuple[str, ...] = "jackal"
    crowd: CrowdSettings = field(default_factory=CrowdSettings)
    periods: Periods = field(default_factory=Periods)
    navigation: NavigationSettings = field(default_factory=NavigationSettings)

    def stage(self) -> Stage:
        """Return the stage that describes an episode.

        Raises:
            InputError: a name is unknown, or a mode rejects a value.
        """
        settings = self.settings
        modules = tuple(self._module(module) for module in self.modules)
        if self.world == "dynamic_map" and not any(isinstance(m.part, DynamicMap) for m in modules):
            modules = (*modules, self._module("dynamic_map"))
        try:
            return Stage(
                name="task",
                world=self._world(),
                robots=self._robots(),
                obstacles=self._obstacles(),
                crowd=self.crowd,
                robot=self.robot,
                timeout=_NEVER if settings.timeout != "auto" and settings.timeout < 0 else settings.timeout,
                goal_tolerance=settings.goal_radius,
                heading_tolerance=None if settings.goal_tolerance_angle >= 180 else math.radians(settings.goal_tolerance_angle),
                modules=modules,
                periods=self.periods,
                navigation=self.navigation,
            )
        except ValueError as error:
            raise InputError(str(error)) from error

    def _robots(self) -> Named:
        settings, count = self.settings, 1 if isinstance(self.robot, str) else len(self.robot)
        made = {
            "guided": lambda: Guided(settings.guided.waypoints, settings.guided.file),
            "zones": lambda: ZonesOfRobots(settings.zones.scenario),
        }
        named = _named("robots_modes", self.robots, made)
        given = component_values(self.robots, "robots_modes") if isinstance(self.robots, str) else {"count": None}
        if "count" in given or not any(each.name == "count" for each in fields(named.part)):
            return named
        return Named(named.name, replace(named.part, count=count))

    def _obstacles(self) -> Named:
        settings, drawn = self.settings, self.settings.random
        made = {
            "random": lambda: Random(dynamic=drawn.dynamic, static=drawn.static, interactive=drawn.interactive),
            "groups": lambda: Groups(dynamic=drawn.dynamic, static=drawn.static, interactive=drawn.interactive),
            "parametrized": lambda: Parametrized(settings.parametrized.file),
            "zones": lambda: ZonesOfPedestrians(settings.zones.scenario),
        }
        return _named("obstacles_modes", self.obstacles, made)

    def _module(self, module: Any) -> Named:
        staged = self.settings.staged
        made = {
            "staged": lambda: Staged(staged.curriculum, staged.index),
            "dynamic_map": lambda: DynamicMap.of(self.settings.dynamicmap) if self.settings.dynamicmap else DynamicMap(),
        }
        return _named("modules", module, made)

    def _world(self) -> Named:
        if not isinstance(self.world, str):
            return _named("worlds", self.world, {})
        if self.world == "dynamic_map":
            return Named.of("worlds", "open")
        if self.world in available("worlds"):
            return Named.of("worlds", self.world)
        file = self.settings.scenario.file
        name = file if "/" in file else file.removesuffix(".json")
        return Named("folder", Folder(self.world, (name,) if "scenario" in (self.robots, self.obstacles) else ()))


def _named(kind: str, given: Any, made: dict[str, Any]) -> Named:
    """Return the named component, built from the settings if they contain its parameters; if a component is given, return it
    unchanged.
    """
    if isinstance(given, Named):
        return given
    if not isinstance(given, str):
        return Named(type(given).__name__, given)
    if given not in made:
        return Named.of(kind, given) if given.isidentifier() else parse_component(kind, given, kind)
    try:
        return Named(given, made[given]())
    except ValueError as error:
        raise InputError(f"{given}: {error}") from error
