"""Stages: the settings from which episodes of one kind are created."""

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
"""Maximum time limit of an episode, s."""
_HALF_A_TURN = 3.1416
"""The maximum heading tolerance, rad: pi, with a margin for rounding."""
Minding = Literal["early", "late", "never"]
Ending = Literal["pedestrian", "wall", "robot", "out_of_map"]


@dataclass(frozen=True)
class Share(Checked):
    """A crowd model for a fraction of the pedestrians.

    Attributes:
        model: crowd model.
        share: fraction of the walking groups and single pedestrians, relative to the sum of all shares.
        minds_robots: when pedestrians react to a robot that they see: early, as in the crowd model; late, only in the last step, so
            that they do not step into the robot; or never.
    """

    model: Annotated[Named, Plug("crowd_models")]
    share: Positive = 1.0
    minds_robots: Minding = "early"


@dataclass(frozen=True)
class CrowdSettings:
    """The crowd models, behaviours and traits of pedestrians.

    Attributes:
        model: crowd model for all pedestrians; anticipation if neither ``model`` nor ``models`` is given.
        models: several crowd models, each with the fraction of pedestrians that it moves. Pedestrians are assigned once per
            episode; a walking group has the same model. Each model computes all pedestrians, so computing times add up.
        sees_pedestrians: whether pedestrians react to each other.
        sees_robots: whether pedestrians react to robots.
        people: speeds and sizes of the pedestrians.
        behaviours: behaviours that decide where pedestrians want to go and how fast, run in this order.
        routes: whether pedestrians find their way around walls and furniture; False if they walk straight towards their waypoints.
        faithful: whether crowd models move people exactly as published; otherwise pedestrians never step into a wall, robot or
            pedestrian that they see.
        yields: whether pedestrians, unless ``faithful``, walk in steps, yield to people ahead and turn their shoulders in a crowd.
            False selects the older version of the last step, for suites whose results were published with that version.
        sidestep: how recorded pedestrians step aside for robots that they see; by default they do not.
        unsteady: fluctuation of the walking speed and direction of simulated pedestrians; by default, they do not fluctuate.
        steps: limits on how fast simulated pedestrians turn; no effect with ``faithful: true`` or ``yields: false``.
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
        """The keys that have no effect with the other values, each with the reason."""
        found = {key: "with faithful: true" for key in ("yields", "steps")} if self.faithful else {}
        found |= {} if self.yields or self.faithful else {"steps": "with yields: false"}
        return found if self.sees_robots else found | {"sidestep": "with sees_robots: false"}

    @property
    def parts(self) -> tuple[Named, ...]:
        """The crowd models; `Person.model` is an index into them."""
        return tuple(share.model for share in self.models) if self.model is None else (self.model,)

    @property
    def minding(self) -> tuple[Minding, ...]:
        """Time at which the pedestrians of each crowd model react to a robot: early, late or never."""
        return tuple(share.minds_robots for share in self.models) or ("early",)

    def with_needed(self, behaviours: Sequence[str]) -> CrowdSettings:
        """Return the crowd settings with the named behaviours appended, except for those that are already present."""
        missing = [name for name in behaviours if not any(name == own.name for own in self.behaviours)]
        more = tuple(Named.of("behaviours", name) for name in missing)
        return replace(self, behaviours=(*self.behaviours, *more)) if more else self

    def share_out(self, people: list[Person], stream: Stream) -> list[Person]:
        """Assign a crowd model to every pedestrian that has none yet, with one draw per walking group or single pedestrian."""
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
    """The settings for global paths, the same for every planner.

    Attributes:
        global_planner: global planner that plans the paths.
        layers: layers that add costs near pedestrians to the global planner's map and to local costmaps, applied in this order.
        replan: replanning interval, s, a multiple of the control period; 0 to plan once per goal.
    """

    global_planner: Annotated[Named, Plug("global_planners")] = field(default_factory=lambda: Named.of("global_planners", "a_star"))
    layers: tuple[Annotated[Named, Plug("costmap_layers")], ...] = ()
    replan: Duration = 0.0


@dataclass(frozen=True)
class Stage(Checked):
    """The settings for episodes of one kind.

    Attributes:
        name: unique name in the suite.
        episodes: number of episodes; 0 for one episode per world.
        world: source of the surroundings.
        robots: robots mode.
        obstacles: obstacles mode.
        crowd: crowd of simulated pedestrians.
        robot: robot model: one name for all robots, or one name per robot.
        timeout: time limit, s. With "auto" it is the time limit that the world sets or, if there is none, the time that the robots'
            paths need (`agora.tasks.budget`). A number is rejected if the world sets its own limit.
        goal_tolerance: distance at which a goal counts as reached, m.
        heading_tolerance: tolerance of the goal heading, rad, in (0, pi]; None to accept any heading.
        safety: extra clearance beyond the radius when robots are placed at random, m.
        ends: kinds of contact that end a robot's episode; other contacts are only counted.
        after_end: whether robots stay in the world after their episode has ended.
        periods: periods of the physics, control, crowd and sensor updates.
        modules: modules that change the stage before each episode is created, or the task afterwards; they are applied in this
            order.
        forbidden: categories of zones in which nothing is placed at random.
        seed: seed of all random streams, instead of the suite's seed.
        drawn_as: ``suite/stage`` whose random streams this stage uses for the same episode number and seed, so that corresponding
            episodes differ only in the stages' settings; empty to use its own streams.
        navigation: settings for global paths.
        pedestrians: level of perception: the true state of all people except those behind walls (truth), the state of people in a
            cone ahead and extrapolated states of people who have left the cone (view), the state of people that the robot's lidar
            can see (visible), or tracks computed from the robot's scans (tracked) or camera images (camera). The value is one of
            these words, or a mapping with the word as ``source`` and the parameters ``view``, ``detector``, ``camera``, ``tracker``
            and ``walls``, each of which applies only to the corresponding levels.
        simulator: simulator that moves the robots.
        counterfactual: whether every episode is run a second time without robots, for metrics of the robots' effect on people.
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
        """The keys that have no effect with these modes and modules, each with the reason. Modes that do not declare what they use
        are assumed to read every key.
        """
        found = {key: f"with modules: {module.name}" for module in self.modules for key in getattr(module.part, "sets", ())}
        modes = {"robots": self.robots, "obstacles": self.obstacles}
        if self.modules or any(not hasattr(mode.part, "uses") for mode in modes.values()):
            return found
        used = {use for mode in modes.values() for use in mode.part.uses}
        why = "with " + " and ".join(f"{key}: {mode.name}" for key, mode in modes.items())
        return {key: why for key, uses in _USES.items() if not used & uses}

    @property
    def perception(self) -> Perception:
        """The settings that determine how the robots perceive pedestrians."""
        return self.pedestrians if isinstance(self.pedestrians, Perception) else Perception(self.pedestrians)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the robot models: one for all robots, or one per robot."""
        return (self.robot,) if isinstance(self.robot, str) else self.robot

    @property
    def count(self) -> int:
        """Number of episodes."""
        return self.episodes or len(self.world.part.names())

    def files(self) -> list[Path]:
        """The files of the stage's robots, of the pedestrian types, and of the image detector."""
        return [*(robot_file(name) for name in self.models), types_file(), *self.perception.files()]

    def conditions(self) -> Stage:
        """Return the stage without the settings that a `Start` has already resolved: with an open world, neutral task modes and no
        modules.
        """
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
"""For each key of a stage, the inputs of which a mode must use at least one to read the key (`agora.interfaces.ObstaclesMode`)."""


def _check_drawn_as(other: str) -> None:
    suite, _, stage = other.partition("/")
    try:
        check_name(suite)
        check_name(stage)
    except ValueError as error:
        raise ValueError(f"drawn_as must be suite/stage, got {other!r}") from error


def check_name(name: str) -> None:
    """Check a name that becomes part of the keys of episodes; a suite's name is also the name of the suite's results folder."""
    if not name or "/" in name or name.startswith(".") or not name.isprintable():
        raise ValueError(f"name must be a printable string that has no '/' and does not begin with '.', got {name!r}")
