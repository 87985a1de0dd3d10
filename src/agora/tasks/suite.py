"""Suites: a fixed list of stages, each a world, task modes, a crowd and a number of episodes; files in ``configs/benchmark``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from agora.config import load
from agora.core.state import REACTIONS, SOCIAL_STATES, TYPES
from agora.errors import InputError, PlacementError, UnknownNameError
from agora.maps.roads import radius_class, roads_of
from agora.pedestrians.types import types_file
from agora.perception.perception import Level, Perception
from agora.ranges import Distance, Duration, Length, Number
from agora.registry import Named, Plug
from agora.robots.model import RobotModel, load_robot, robot_file
from agora.seeds import Stream
from agora.share import folder
from agora.tasks.budget import measured, time_budget
from agora.tasks.module import Plan
from agora.tasks.periods import Periods
from agora.tasks.world import People, Person, Task
from agora.world.start import GOAL_TOLERANCE, PedestrianStarts, RobotStart, Start

_MOST_EPISODES = 1_000_000
LONGEST = 36_000.0
"""Time limit of an episode, s."""
Ending = Literal["pedestrian", "wall", "robot", "out_of_map"]


@dataclass(frozen=True)
class Share:
    """A crowd model for a part of the pedestrians.

    Attributes:
        model: crowd model. share: of the walking groups and of those who walk alone; in the sum of all shares.
    """

    model: Annotated[Named, Plug("crowd_models")]
    share: float = 1.0

    def __post_init__(self) -> None:
        if self.share <= 0:
            raise ValueError(f"share must be above 0, got {self.share}")


@dataclass(frozen=True)
class Crowd:
    """What moves pedestrians, and what they are like.

    Attributes:
        model: crowd model of all; anticipation where neither is given. models: several, and how many pedestrians each moves; who
            is drawn once an episode, and a walking group has one. Each computes everybody, so the time is that of all together.
        sees_pedestrians, sees_robots: whom pedestrians react to. people: speeds and sizes.
        behaviours: what decides where pedestrians want to go and how fast, one after the other.
        routes: pedestrians find their way round walls and furniture; False where they walk straight at their waypoints.
        faithful: crowd models do as published; else nobody steps into a wall, a robot or a pedestrian whom they see.
    """

    model: Annotated[Named, Plug("crowd_models")] | None = None
    models: tuple[Share, ...] = ()
    sees_pedestrians: bool = True
    sees_robots: bool = True
    people: People = field(default_factory=People)
    behaviours: tuple[Annotated[Named, Plug("behaviours")], ...] = ()
    routes: bool = True
    faithful: bool = False

    def __post_init__(self) -> None:
        if self.model is not None and self.models:
            raise ValueError("models cannot be given together with model, which is that of all")
        if self.model is None and not self.models:
            object.__setattr__(self, "model", Named.of("crowd_models", "anticipation"))

    @property
    def parts(self) -> tuple[Named, ...]:
        """The crowd models; `Person.model` is the number of one of them."""
        return tuple(share.model for share in self.models) if self.model is None else (self.model,)

    def share_out(self, people: list[Person], stream: Stream) -> list[Person]:
        """Give a crowd model to everybody who has none yet: one draw for each walking group and each who walks alone."""
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
class Navigation:
    """How robots get their paths, the same for every planner.

    Attributes:
        global_planner: makes the path.
        layers: put costs about pedestrians on the global planner's map and on local costmaps, one after the other.
        replan: s between two paths, a multiple of the control period; 0 for one path to every goal.
    """

    global_planner: Annotated[Named, Plug("global_planners")] = field(default_factory=lambda: Named.of("global_planners", "a_star"))
    layers: tuple[Annotated[Named, Plug("costmap_layers")], ...] = ()
    replan: Duration = 0.0


@dataclass(frozen=True)
class Stage:
    """Episodes of one kind.

    Attributes:
        name: unique in the suite. episodes: how many; 0 for one of each world.
        world: source of the surroundings. robots, obstacles: task modes. crowd: of simulated pedestrians.
        robot: model of the robots, one name for all or one for each.
        timeout: s; auto for what the robots' ways need (`agora.tasks.budget`). A world that sets its own has precedence.
            goal_tolerance: m. heading_tolerance: rad, None for any heading.
        safety: clearance beyond the radius that robots get at random places, m.
        ends: contacts that end a robot's episode; the others are counted.
        after_end: whether robots that have ended stay in the world.
        periods: how often things happen.
        modules: what changes the stage before each episode, or the task after; one after the other.
        forbidden: categories of zones in which nothing is placed at random.
        seed: of every random stream, instead of the suite's.
        navigation: how robots get their paths.
        pedestrians: what planners are told of them: everybody's true state, that of those whom the robot's lidar reaches, or the
            tracks that the robot makes of its scans. A word, or a mapping of it as ``source`` and of parameters of ``detector``
            and ``tracker``, which count where planners are told of tracks.
        simulator: moves the robots.
    """

    name: str
    world: Annotated[Named, Plug("worlds")]
    robots: Annotated[Named, Plug("robots_modes")] = field(default_factory=lambda: Named.of("robots_modes", "random"))
    obstacles: Annotated[Named, Plug("obstacles_modes")] = field(default_factory=lambda: Named.of("obstacles_modes", "none"))
    crowd: Crowd = field(default_factory=Crowd)
    episodes: int = 0
    robot: str | tuple[str, ...] = "jackal"
    timeout: float | Literal["auto"] = "auto"
    goal_tolerance: Length = GOAL_TOLERANCE
    heading_tolerance: float | None = None
    safety: Distance = 0.25
    ends: tuple[Ending, ...] = ("pedestrian", "wall", "robot", "out_of_map")
    after_end: Literal["stay", "remove"] = "stay"
    periods: Periods = field(default_factory=Periods)
    modules: tuple[Annotated[Named, Plug("modules")], ...] = ()
    forbidden: tuple[str, ...] = ("forbidden",)
    seed: int | None = None
    navigation: Navigation = field(default_factory=Navigation)
    pedestrians: Level | Perception = "truth"
    simulator: Annotated[Named, Plug("simulators")] = field(default_factory=lambda: Named.of("simulators", "native"))

    def __post_init__(self) -> None:
        _check_name(self.name)
        if not 0 <= self.episodes <= _MOST_EPISODES:
            raise ValueError(f"episodes must be in [0, {_MOST_EPISODES}], got {self.episodes}")
        for name in _model_names(self):
            try:
                load_robot(name)
            except UnknownNameError as error:
                raise ValueError(f"robot: {error}") from error
        for key, most in {"timeout": LONGEST, "goal_tolerance": 1000.0}.items():
            if getattr(self, key) != "auto" and not 0 < getattr(self, key) <= most:
                raise ValueError(f"{key} must be above 0 and at most {most}, got {getattr(self, key)}")
        if self.heading_tolerance is not None and self.heading_tolerance < 0:
            raise ValueError(f"heading_tolerance must be at least 0, got {self.heading_tolerance}")
        if self.seed is not None and self.seed < 0:
            raise ValueError(f"seed must be at least 0, got {self.seed}")
        often, replan = self.navigation.replan / self.periods.control, self.navigation.replan
        if often < 0 or abs(often - round(often)) > 1e-6:
            raise ValueError(f"navigation.replan must be a multiple of periods.control = {self.periods.control} s, got {replan}")
        if self.safety < 0:
            raise ValueError(f"safety must be at least 0, got {self.safety}")

    @property
    def perception(self) -> Perception:
        """How robots come to know of pedestrians."""
        return self.pedestrians if isinstance(self.pedestrians, Perception) else Perception(self.pedestrians)

    @property
    def count(self) -> int:
        """Number of episodes."""
        return self.episodes or len(self.world.part.names())

    def files(self) -> list[Path]:
        """The files of its robots and of the types of pedestrians."""
        return [*(robot_file(name) for name in _model_names(self)), types_file()]

    def conditions(self) -> Stage:
        """The stage without what a `Start` has resolved: an open world, no modes and no modules."""
        robots, obstacles = Named.of("robots_modes", "random"), Named.of("obstacles_modes", "none")
        return replace(self, world=Named.of("worlds", "open"), robots=robots, obstacles=obstacles, modules=())


@dataclass(frozen=True)
class Suite:
    """A fixed list of episodes.

    Attributes:
        name: of the suite. stages: its parts. seed: of every random stream.
        version: raised when the numbers change. description: one paragraph.
        split: ``training`` where planners may be tuned or trained on it; nothing else is tuned on.
    """

    name: str
    stages: tuple[Stage, ...]
    seed: int = 0
    version: Number = 1
    description: str = ""
    split: Literal["training", "test"] = "test"

    def __post_init__(self) -> None:
        _check_name(self.name)
        names = [stage.name for stage in self.stages]
        if not names:
            raise ValueError("stages must hold at least one stage")
        if len(set(names)) < len(names):
            raise ValueError(f"stages must have different names, got {names}")
        if self.seed < 0:
            raise ValueError(f"seed must be at least 0, got {self.seed}")

    def under(self, simulator: Named | None) -> Suite:
        """The suite with every stage in another simulator; the suite itself where None."""
        if simulator is None:
            return self
        return replace(self, stages=tuple(replace(stage, simulator=simulator) for stage in self.stages))

    def entries(self) -> list[tuple[str, int]]:
        """Stage name and number of every episode."""
        return [(stage.name, k) for stage in self.stages for k in range(stage.count)]

    def stage(self, name: str) -> Stage:
        """The stage of a name."""
        stages = {s.name: s for s in self.stages}
        if name not in stages:
            raise UnknownNameError("stage", name, stages)
        return stages[name]

    def entry(self, stage: str, episode: int) -> str:
        """The name of an episode: ``suite/stage/episode``."""
        return f"{self.name}/{stage}/{episode}"

    def seed_of(self, stage: str) -> int:
        """The seed of a stage: its own, or the suite's."""
        own = self.stage(stage).seed
        return self.seed if own is None else own

    def start(self, stage_name: str, episode: int) -> Start:
        """Put one episode together; the result depends on the suite, the seed and the episode alone.

        Raises:
            InputError: a file of the stage is wrong, or something does not fit into its world.
        """
        return put_together(Plan(self.name, self.stage(stage_name), episode, self.seed_of(stage_name)))


def put_together(plan: Plan) -> Start:
    """Put one episode together, for suites and task generators alike; the result depends on the plan alone.

    Raises:
        InputError: a file of the stage is wrong, or something does not fit into its world.
    """
    return resolve(plan)[0]


def resolve(plan: Plan) -> tuple[Start, Stage]:
    """Put one episode together, and return it with its stage as the modules left it.

    Raises:
        InputError: as `put_together`.
    """
    try:
        plan, task, models = prepare(plan)
        task.robots = plan.stage.robots.part.place(task)
        plan.stage.obstacles.part.place(task)
        _check_cues(plan.stage, task.pedestrians)
        for finish in task.later:
            finish()
        for module in plan.stage.modules:
            module.part.after_reset(task)
        if plan.stage.crowd.routes:
            check_ways(task)
        return _start(plan, task, robot_starts(task, models)), plan.stage
    except PlacementError as error:
        raise PlacementError(f"{plan.entry}: {error}") from error
    except InputError as error:
        raise InputError(f"{plan.entry}: {error}") from error


def prepare(plan: Plan) -> tuple[Plan, Task, list[RobotModel]]:
    """Let the modules change a plan, and return it with its task, in which nothing is placed yet, and the robots' models.

    Raises:
        InputError: a module refuses the plan, or the world cannot be had.
    """
    done = 0
    while done < len(plan.stage.modules):
        plan = plan.stage.modules[done].part.before_reset(plan)
        done += 1
    stage, stream = plan.stage, Stream(plan.entry, plan.seed, "task")
    names = stage.world.part.names()
    world = stage.world.part.world(names[plan.episode % len(names)], stream)
    models = _models(stage)
    task = Task(
        world,
        world.map,
        max((m.radius for m in models), default=0.3),
        stage.safety,
        stream,
        stage.crowd.people,
        forbidden=tuple(world.areas(stage.forbidden)),
        timeout=world.timeout if world.timeout is not None else None if stage.timeout == "auto" else stage.timeout,
        goal_tolerance=stage.goal_tolerance,
        speed=max((m.top_speed for m in models), default=0.0),
        control=stage.periods.control,
        models=tuple(models),
    )
    return plan, task, models


def _check_cues(stage: Stage, people: list[Person]) -> None:
    """Make sure that somebody sees to it that pedestrians wait and keep company where they are to."""
    if any(any(p.waits) or p.company[0] > 0 for p in people) and not any(b.name == "cues" for b in stage.crowd.behaviours):
        raise InputError("its pedestrians wait or keep company: crowd.behaviours must name cues")


def check_ways(task: Task) -> None:
    """Make sure that every pedestrian finds a way to each of its waypoints."""
    for person in task.pedestrians:
        roads = roads_of(task.map, radius_class(person.radius))
        if roads is None:
            return
        for waypoint in person.waypoints:
            if not roads.reaches(person.position, waypoint):
                start, end = task.map.place(person.position), task.map.place(waypoint)
                raise PlacementError(
                    f"pedestrian {person.name or 'without a name'} at {start}: no way leads to its waypoint {end} for a body of "
                    f"{person.radius:g} m in map {task.map.name!r}; with crowd.routes: false it walks straight at it"
                )


def _models(stage: Stage) -> list[RobotModel]:
    return [load_robot(name) for name in _model_names(stage)]


def _model_names(stage: Stage) -> tuple[str, ...]:
    return (stage.robot,) if isinstance(stage.robot, str) else stage.robot


def _check_name(name: str) -> None:
    """A name is part of the keys of episodes, and a suite's the folder of its results."""
    if not name or "/" in name or name.startswith(".") or not name.isprintable():
        raise ValueError(f"name must be a printable text without '/' that does not begin with '.', got {name!r}")


def robot_starts(task: Task, models: list[RobotModel]) -> tuple[RobotStart, ...]:
    """The robots of a task with their models, one for all or one for each.

    Raises:
        InputError: there are no robots, or another number of models.
    """
    if not task.robots:
        raise InputError("the robots mode placed no robot")
    if len(models) not in (1, len(task.robots)):
        raise InputError(f"robot names {len(models)} models for {len(task.robots)} robots")
    models = models if len(models) == len(task.robots) else models * len(task.robots)
    return tuple(RobotStart(m, start, goals) for m, (start, goals) in zip(models, task.robots, strict=True))


def _start(plan: Plan, task: Task, robots: tuple[RobotStart, ...]) -> Start:
    stage = plan.stage
    people = stage.crowd.share_out(task.pedestrians, Stream(plan.entry, plan.seed, "crowd_models"))
    timeout = task.timeout
    if timeout is None:
        robots = tuple(measured(task.map, robot) for robot in robots)
        timeout = time_budget(robots)
    return Start(
        entry=plan.entry,
        seed=plan.seed,
        map=task.map,
        robots=robots,
        pedestrians=pedestrian_starts(people, task.crowd),
        timeout=timeout,
        goal_tolerance=stage.goal_tolerance,
        heading_tolerance=math.pi if stage.heading_tolerance is None else stage.heading_tolerance,
        things=tuple(task.things),
        names=tuple(person.name or f"D_{person.look}_{k}" for k, person in enumerate(task.pedestrians, 1)),
        looks=tuple(person.look for person in task.pedestrians),
        furniture=(*task.world.furniture, *(thing.furniture for thing in task.things if thing.kind == "interactive")),
        replay=task.replay,
        replay_radius=task.replay_radius,
        replay_phase=task.phase,
        reference_path=task.world.reference_path,
    )


def pedestrian_starts(people: list[Person], crowd: People) -> PedestrianStarts:
    """Pedestrians as an episode starts with them, numbered from 1."""
    if not people:
        return PedestrianStarts.none()
    most = max(len(p.waypoints) for p in people)
    waypoints = np.stack([np.vstack([p.waypoints, np.repeat(p.waypoints[-1:], most - len(p.waypoints), 0)]) for p in people])
    count = len(people)
    return PedestrianStarts(
        position=np.stack([p.position for p in people]),
        speed=np.array([p.speed for p in people]),
        radius=np.array([p.radius for p in people]),
        group=np.array([p.group for p in people], np.int32),
        id=np.arange(1, count + 1, dtype=np.int32),
        waypoints=waypoints,
        waypoint_count=np.array([len(p.waypoints) for p in people], np.int32),
        mode=np.array([p.mode for p in people], np.int32),
        tolerance=np.array([crowd.tolerance if p.tolerance is None else p.tolerance for p in people]),
        velocity=np.zeros((count, 2)),
        heading=np.array([p.facing() for p in people]),
        model=np.array([p.model or 0 for p in people], np.int32),
        type=np.array([TYPES.index(p.type) for p in people], np.int32),
        reaction=np.array([REACTIONS.index(p.reaction) for p in people], np.int32),
        state=np.array([SOCIAL_STATES.index(p.state) for p in people], np.int32),
        habits=tuple(p.habits for p in people),
        waits=np.array([(p.waits + (0.0,) * most)[:most] for p in people]),
        company=np.array([p.company for p in people]),
    )


def suite_names() -> list[str]:
    """Names of the suites that come with Agora."""
    return sorted(p.stem for p in (folder("configs") / "benchmark").glob("*.yaml"))


def load_suite(name_or_path: str | Path) -> Suite:
    """Return the suite of a name (``configs/benchmark/<name>.yaml``) or of a file.

    Raises:
        UnknownNameError: no such suite.
        InputError: the file is wrong.
    """
    path = Path(name_or_path)
    if path.suffix in (".yaml", ".yml", ".json") or "/" in str(name_or_path):
        return load(path, Suite)
    if str(name_or_path) not in suite_names():
        raise UnknownNameError("suite", str(name_or_path), suite_names())
    return load(folder("configs") / "benchmark" / f"{name_or_path}.yaml", Suite)
