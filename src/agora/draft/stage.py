"""Stages: episodes of one kind, and how they are made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from agora.draft.pedestrian_types import types_file
from agora.draft.people import People, Person
from agora.draft.periods import Periods
from agora.draft.sidestep import Sidestep
from agora.draft.steps import Steps
from agora.draft.unsteady import Unsteady
from agora.errors import UnknownNameError
from agora.perception.perception import Level, Perception
from agora.ranges import Checked, Distance, Duration, Positive, Whole, Within, meant_degrees
from agora.registry import Named, Plug
from agora.robots.model import load_robot, robot_file
from agora.seeds import Stream
from agora.world.start import GOAL_TOLERANCE, WIDEST_GOAL

__all__ = ["CrowdSettings", "NavigationSettings", "Stage"]

_MOST_EPISODES = 1_000_000
LONGEST = 36_000.0
"""Time limit of an episode, s."""
_HALF_A_TURN = 3.1416
"""The largest tolerance of a heading, rad: pi, which may be rounded."""
Minding = Literal["early", "late", "never"]
Ending = Literal["pedestrian", "wall", "robot", "out_of_map"]


@dataclass(frozen=True)
class Share(Checked):
    """A crowd model for a part of the pedestrians.

    Attributes:
        model: crowd model.
        share: share of the walking groups and of single pedestrians; in the sum of all shares.
        minds_robots: time at which they react to a robot that they see: early, as in the crowd model; late, only in the last step,
            so that they do not step into it; or never.
    """

    model: Annotated[Named, Plug("crowd_models")]
    share: Positive = 1.0
    minds_robots: Minding = "early"


@dataclass(frozen=True)
class CrowdSettings:
    """The crowd models, behaviours and traits of pedestrians.

    Attributes:
        model: crowd model of all pedestrians; anticipation if neither is given.
        models: several crowd models, and the share of pedestrians that each moves; drawn once per episode, and a walking group has
            one. Each model computes everybody, so the computing time is that of all models together.
        sees_pedestrians: whether pedestrians react to each other.
        sees_robots: whether pedestrians react to robots.
        people: speeds and sizes.
        behaviours: behaviours that decide where pedestrians want to go and how fast, in this order.
        routes: whether pedestrians find their way around walls and furniture; False if they walk straight at their waypoints.
        faithful: whether crowd models move people exactly as published; otherwise nobody steps into a wall, a robot or a pedestrian
            whom they see.
        yields: whether pedestrians who are not faithful walk in steps, yield to people ahead and turn their shoulders in a crowd;
            False for the older last step of suites whose numbers were published with it.
        sidestep: how recorded pedestrians step aside for robots that they see; not at all if not given.
        unsteady: fluctuation of the pace and the direction of simulated pedestrians; none if not given.
        steps: limits on the turning of simulated pedestrians; no effect with ``faithful: true`` or ``yields: false``.
    """

    model: Annotated[Named, Plug("crowd_models")] | None = None
    models: tuple[Share, ...] = ()
    sees_pedestrians: bool = True
    sees_robots: bool = True
    people: People = field(default_factory=People)
    behaviours: tuple[Annotated[Named, Plug("behaviours")], ...] = ()
    routes: bool = True
    faithful: bool = False
    yields: bool = True
    sidestep: Sidestep | None = None
    unsteady: Unsteady | None = None
    steps: Steps = field(default_factory=Steps)

    def __post_init__(self) -> None:
        if self.model is not None and self.models:
            raise ValueError("models cannot be combined with model, which sets the model of all pedestrians")
        if self.model is None and not self.models:
            object.__setattr__(self, "model", Named.of("crowd_models", "anticipation"))
        if not self.sees_robots and any(share.minds_robots != "early" for share in self.models):
            raise ValueError(
                "models: minds_robots has no effect with sees_robots: false, with which no pedestrian reacts to robots"
            )

    def unread(self) -> dict[str, str]:
        """The keys that the others leave without effect, and why."""
        found = {key: "with faithful: true" for key in ("yields", "steps")} if self.faithful else {}
        found |= {} if self.yields or self.faithful else {"steps": "with yields: false"}
        return found if self.sees_robots else found | {"sidestep": "with sees_robots: false"}

    @property
    def parts(self) -> tuple[Named, ...]:
        """The crowd models; `Person.model` is the number of one of them."""
        return tuple(share.model for share in self.models) if self.model is None else (self.model,)

    @property
    def minding(self) -> tuple[Minding, ...]:
        """The time at which the pedestrians of each crowd model mind a robot."""
        return tuple(share.minds_robots for share in self.models) or ("early",)

    def with_needed(self, behaviours: Sequence[str]) -> CrowdSettings:
        """The crowd with those of some behaviours, by name, that it does not have yet, after its own."""
        missing = [name for name in behaviours if not any(name == own.name for own in self.behaviours)]
        more = tuple(Named.of("behaviours", name) for name in missing)
        return replace(self, behaviours=(*self.behaviours, *more)) if more else self

    def share_out(self, people: list[Person], stream: Stream) -> list[Person]:
        """Give a crowd model to everybody who has none yet: one draw for each walking group and each single pedestrian."""
        if len(self.models) < 2:
            return people
        bounds = np.cumsum([share.share for share in self.models])
        drawn: dict[int, int] = {}
        shared = []
        for place, person in enumerate(people):
            walkers = person.group if person.group >= 0 else -1 - place
            if walkers not in drawn:
                drawn[walkers] = int(np.searchsorted(bounds, stream.uniform(0.0, bounds[-1]), side="right"))
            shared.append(person if person.model is not None else replace(person, model=drawn[walkers]))
        return shared


@dataclass(frozen=True)
class NavigationSettings:
    """The settings of global paths, the same for every planner.

    Attributes:
        global_planner: global planner of the paths.
        layers: layers that add costs near pedestrians to the global planner's map and to local costmaps, in this order.
        replan: time between two paths, s, a multiple of the control period; 0 for one path per goal.
    """

    global_planner: Annotated[Named, Plug("global_planners")] = field(default_factory=lambda: Named.of("global_planners", "a_star"))
    layers: tuple[Annotated[Named, Plug("costmap_layers")], ...] = ()
    replan: Duration = 0.0


@dataclass(frozen=True)
class Stage(Checked):
    """The settings of episodes of one kind.

    Attributes:
        name: unique name in the suite.
        episodes: number of episodes; 0 for one of each world.
        world: source of the surroundings.
        robots: robots mode.
        obstacles: obstacles mode.
        crowd: crowd of simulated pedestrians.
        robot: model of the robots, one name for all or one for each.
        timeout: time limit, s; auto for the time that the world sets, else for the time that the robots' paths need
            (`agora.tasks.budget`). A number is rejected in a world that sets its own.
        goal_tolerance: distance at which a goal counts as reached, m.
        heading_tolerance: tolerance of the goal's heading, rad, in (0, pi]; None for any heading.
        safety: clearance beyond the radius that robots get at random places, m.
        ends: contacts that end a robot's episode; the others are counted.
        after_end: whether robots that have ended stay in the world.
        periods: periods of physics, control, crowd and sensors.
        modules: modules that change the stage before each episode, or the task after; one after another.
        forbidden: categories of zones in which nothing is placed at random.
        seed: seed of every random stream, instead of the suite's.
        drawn_as: ``suite/stage`` whose random draws it uses, by episode number and seed, so that episodes of both differ only in
            the settings of the stages; empty for its own draws.
        navigation: settings of global paths.
        pedestrians: level of perception: the true state of all people except those behind walls (truth), the state of people in a
            cone ahead and extrapolated states of people who have left it (view), the state of people that the robot's lidar reaches
            (visible), or tracks computed from the robot's scans (tracked) or camera images (camera). One of these words, or a
            mapping with the word as ``source`` and parameters of ``view``, ``detector``, ``camera``, ``tracker`` and ``walls``,
            which apply at their levels.
        simulator: simulator that moves the robots.
        counterfactual: whether every episode is run once more without robots, for the metrics of the effect of robots on people.
    """

    name: str
    world: Annotated[Named, Plug("worlds")]
    robots: Annotated[Named, Plug("robots_modes")] = field(default_factory=lambda: Named.of("robots_modes", "random"))
    obstacles: Annotated[Named, Plug("obstacles_modes")] = field(default_factory=lambda: Named.of("obstacles_modes", "none"))
    crowd: CrowdSettings = field(default_factory=CrowdSettings)
    episodes: Annotated[int, Within(0, _MOST_EPISODES)] = 0
    robot: str | tuple[str, ...] = "jackal"
    timeout: Annotated[float, Within(0.0, LONGEST, above=True)] | Literal["auto"] = "auto"
    goal_tolerance: Annotated[float, Within(0.0, WIDEST_GOAL, above=True)] = GOAL_TOLERANCE
    heading_tolerance: float | None = None
    safety: Distance = 0.25
    ends: tuple[Ending, ...] = ("pedestrian", "wall", "robot", "out_of_map")
    after_end: Literal["stay", "remove"] = "stay"
    periods: Periods = field(default_factory=Periods)
    modules: tuple[Annotated[Named, Plug("modules")], ...] = ()
    forbidden: tuple[str, ...] = ("forbidden",)
    seed: Whole | None = None
    drawn_as: str = ""
    navigation: NavigationSettings = field(default_factory=NavigationSettings)
    pedestrians: Level | Perception = "truth"
    simulator: Annotated[Named, Plug("simulators")] = field(default_factory=lambda: Named.of("simulators", "native"))
    counterfactual: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name(self.name)
        needs = getattr(self.obstacles.part, "needs", ())
        object.__setattr__(self, "crowd", self.crowd.with_needed(needs(self.world.part) if callable(needs) else needs))
        for name in self.models:
            try:
                load_robot(name)
            except UnknownNameError as error:
                raise ValueError(f"robot: {error}") from error
        if self.heading_tolerance is not None and not 0 < self.heading_tolerance <= _HALF_A_TURN:
            raise ValueError(
                f"heading_tolerance: expected an angle in (0, pi] rad, or null for any heading, got {self.heading_tolerance:g}"
                f"{meant_degrees(self.heading_tolerance, math.pi)}"
            )
        if self.drawn_as:
            _check_drawn_as(self.drawn_as)
        often, replan = self.navigation.replan / self.periods.control, self.navigation.replan
        if often < 0 or abs(often - round(often)) > 1e-6:
            raise ValueError(f"navigation.replan must be a multiple of periods.control = {self.periods.control} s, got {replan}")

    def unread(self) -> dict[str, str]:
        """The keys that modes and modules leave without effect, and why; modes that do not say what they use read every key."""
        found = {key: f"with modules: {module.name}" for module in self.modules for key in getattr(module.part, "sets", ())}
        modes = {"robots": self.robots, "obstacles": self.obstacles}
        if self.modules or any(not hasattr(mode.part, "uses") for mode in modes.values()):
            return found
        used = {use for mode in modes.values() for use in mode.part.uses}
        why = "with " + " and ".join(f"{key}: {mode.name}" for key, mode in modes.items())
        return {key: why for key, uses in _USES.items() if not used & uses}

    @property
    def perception(self) -> Perception:
        """The robots' way to know of pedestrians."""
        return self.pedestrians if isinstance(self.pedestrians, Perception) else Perception(self.pedestrians)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the robots' models: one for all robots, or one for each."""
        return (self.robot,) if isinstance(self.robot, str) else self.robot

    @property
    def count(self) -> int:
        """Number of episodes."""
        return self.episodes or len(self.world.part.names())

    def files(self) -> list[Path]:
        """The files of its robots, of the types of pedestrians, and of the detector in images."""
        return [*(robot_file(name) for name in self.models), types_file(), *self.perception.files()]

    def conditions(self) -> Stage:
        """Return the stage without the parts that a `Start` has resolved: an open world, no modes and no modules."""
        robots, obstacles = Named.of("robots_modes", "random"), Named.of("obstacles_modes", "none")
        return replace(self, world=Named.of("worlds", "open"), robots=robots, obstacles=obstacles, modules=())


_USES = {
    "safety": {"random places"},
    "forbidden": {"random places"},
    "world.scenarios": {"scenario"},
    **{f"crowd.{each.name}": {"people"} for each in fields(CrowdSettings)},
    "crowd.sees_robots": {"people", "recordings"},
    "crowd.sidestep": {"recordings"},
}
"""Keys of a stage, and what a mode must use to read them (`agora.interfaces.ObstaclesMode`)."""


def _check_drawn_as(other: str) -> None:
    suite, _, stage = other.partition("/")
    try:
        check_name(suite)
        check_name(stage)
    except ValueError as error:
        raise ValueError(f"drawn_as must be suite/stage, got {other!r}") from error


def check_name(name: str) -> None:
    """A name is part of the keys of episodes, and a suite's the folder of its results."""
    if not name or "/" in name or name.startswith(".") or not name.isprintable():
        raise ValueError(f"name must be a printable text without '/' that does not begin with '.', got {name!r}")
