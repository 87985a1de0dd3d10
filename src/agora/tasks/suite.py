"""Suites: fixed lists of stages, each with a world, task modes, a crowd and a number of episodes. Suite files are in
``configs/benchmark``.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from agora.config import Builder, load
from agora.core.state import REACTIONS, SOCIAL_STATES, TYPES
from agora.draft.edition import Edition
from agora.draft.people import People, Person
from agora.draft.stage import Stage, check_name
from agora.draft.task import Task
from agora.errors import InputError, PlacementError, UnknownNameError
from agora.interfaces import DrawnPlaces, ResetPlan
from agora.maps.grid import Map
from agora.maps.ground import met_by
from agora.maps.roads import radius_class, roads_of
from agora.ranges import Checked, Number, Whole
from agora.registry import Named
from agora.robots.model import RobotModel, load_robot
from agora.seeds import Stream, derived
from agora.share import folder, names_in
from agora.tasks.budget import measured, time_budget
from agora.tasks.copies import digest_of, draws_on
from agora.tasks.scenario_file import is_scenario, world_of
from agora.tasks.suite_file import found_beside, home_of
from agora.world.start import PedestrianStarts, RobotStart, Start
from agora.yaml_tree import Node, read_text, tree_of_text

__all__ = ["Suite", "load_suite", "resolve", "with_seed"]


_USUAL = ("forbidden", "*")
"""Zone categories that a map does not need to have."""


@dataclass(frozen=True)
class Suite(Checked):
    """A fixed list of episodes.

    Attributes:
        name: name of the suite.
        stages: stages of the suite, in order.
        seed: seed of every random stream.
        version: version number, which is incremented when the suite's values change.
        description: description of the suite, one paragraph.
        split: ``training`` if planners may be tuned or trained on the suite; tuning and training are rejected for all other suites.
        edition: how the worlds were drawn, if this happened after the planners were frozen; None for any other suite.
    """

    name: str
    stages: tuple[Stage, ...]
    seed: Whole = 0
    version: Number = 1
    description: str = ""
    split: Literal["training", "test"] = "test"
    edition: Edition | None = field(default=None, metadata={"form": False})  # forms do not show the edition

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name(self.name)
        names = [stage.name for stage in self.stages]
        if not names:
            raise ValueError("stages must contain at least one stage")
        if len(set(names)) < len(names):
            raise ValueError(f"stages must have different names, got {names}")
        if self.edition is not None and self.seed != (drawn := self.edition.seed_of(self.name)):
            raise ValueError(f"seed must be {drawn}, derived from the name, commit and text of the edition, got {self.seed}")

    def compared(self) -> Suite:
        """Return the suite changed so that every episode is also run without robots."""
        return replace(self, stages=tuple(replace(stage, counterfactual=True) for stage in self.stages))

    def under(self, simulator: Named | None) -> Suite:
        """Return the suite with every stage moved to the given simulator; if None, return the suite itself."""
        if simulator is None:
            return self
        return replace(self, stages=tuple(replace(stage, simulator=simulator) for stage in self.stages))

    def part(self, stages: Collection[str] = (), episodes: int | None = None) -> Suite:
        """Return a part of the suite: the given stages, and the first episodes of each stage. The episodes themselves do not
        change.

        Args:
            stages: names of stages; all stages if empty.
            episodes: maximum number of episodes per stage; all episodes if None.

        Raises:
            UnknownNameError: a stage is unknown. InputError: ``episodes`` is below 1.
        """
        if episodes is not None and episodes < 1:
            raise InputError(f"episodes: expected an integer of at least 1, got {episodes}")
        wanted = [self.stage(name) for name in stages] or self.stages
        chosen = [stage for stage in self.stages if stage in wanted]
        return replace(self, stages=tuple(s if episodes is None else replace(s, episodes=min(s.count, episodes)) for s in chosen))

    def entries(self) -> list[tuple[str, int]]:
        """Return the stage name and the number of every episode."""
        return [(stage.name, k) for stage in self.stages for k in range(stage.count)]

    def stage(self, name: str) -> Stage:
        """Return the stage with a given name."""
        stages = {s.name: s for s in self.stages}
        if name not in stages:
            raise UnknownNameError("stage", name, stages)
        return stages[name]

    def entry(self, stage: str, episode: int) -> str:
        """Return the name of an episode: ``suite/stage/episode``."""
        return f"{self.name}/{stage}/{episode}"

    def seed_of(self, stage: str) -> int:
        """Return the seed of a stage: the stage's own seed if it has one, otherwise the suite's seed."""
        own = self.stage(stage).seed
        return self.seed if own is None else own

    def start(self, stage_name: str, episode: int) -> Start:
        """Create one episode; the result depends only on the suite, the seed and the episode.

        Raises:
            InputError: one of the stage's files is invalid, or something does not fit into the stage's world.
        """
        return put_together(ResetPlan(self.name, self.stage(stage_name), episode, self.seed_of(stage_name)))

    def map(self, stage_name: str, episode: int) -> Map:
        """Return the map of one episode, as in ``start(stage_name, episode).map``; if possible, without placing anything.

        Raises:
            InputError: as in `start`.
        """
        plan = ResetPlan(self.name, self.stage(stage_name), episode, self.seed_of(stage_name))
        stage = plan.stage
        if stage.modules or not getattr(stage.obstacles.part, "keeps_map", False):
            return put_together(plan).map
        try:
            return prepare(plan)[1].map
        except InputError as error:
            raise InputError(f"{plan.entry}: {error}") from error


def put_together(plan: ResetPlan) -> Start:
    """Create one episode, for a suite or a task generator; the result depends only on the plan.

    Raises:
        InputError: one of the stage's files is invalid, or something does not fit into the stage's world.
    """
    return resolve(plan)[0]


def resolve(plan: ResetPlan) -> tuple[Start, Stage]:
    """Create one episode; return it together with its stage, as changed by the modules.

    Raises:
        InputError: as in `put_together`.
    """
    try:
        plan, task, _ = prepare(plan)
        task.robots = plan.stage.robots.part.place(task)
        plan.stage.obstacles.part.place(task)
        _check_behaviours(plan.stage, task.pedestrians)
        for finish in task.later:
            finish()
        for module in plan.stage.modules:
            module.part.after_reset(task)
        if plan.stage.crowd.routes:
            check_ways(task)
        return _start(plan, task, robot_starts(task, list(task.models))), plan.stage
    except PlacementError as error:
        raise PlacementError(f"{plan.entry}: {error}") from error
    except InputError as error:
        raise InputError(f"{plan.entry}: {error}") from error


def after_modules(plan: ResetPlan) -> ResetPlan:
    """Return the plan as changed by its modules.

    Raises:
        InputError: a module rejects the plan.
    """
    done = 0
    while done < len(plan.stage.modules):
        plan = plan.stage.modules[done].part.before_reset(plan)
        done += 1
    return plan


def prepare(plan: ResetPlan) -> tuple[ResetPlan, Task, list[RobotModel]]:
    """Apply the modules to a plan; return the plan, its task (in which nothing has been placed yet), and the robots' models.

    Raises:
        InputError: a module rejects the plan, or the world cannot be created.
    """
    plan = after_modules(plan)
    stage, stream = plan.stage, Stream(plan.drawn, plan.seed, "task")
    names = stage.world.part.names()
    world = stage.world.part.world(names[plan.episode % len(names)], stream)
    models = _models(stage)
    known = {category for zone in world.zones for category in zone.category}
    for category in stage.forbidden:
        if category not in {*known, *_USUAL} and (world.folder is not None or not known):
            raise UnknownNameError(f"zone category in map {world.map.name!r}", category, known)
    if world.timeout is not None and stage.timeout != "auto":
        raise InputError(
            f"timeout: has no effect in world {world.map.name!r}, which sets its own, {world.timeout:g} s; leave it out"
        )
    ability = (min((getattr(model, name) for model in models), default=0.0) for name in ("step", "span"))
    task = Task(
        world,
        met_by(world.map, *ability),
        max((m.radius for m in models), default=0.3),
        stage.safety,
        stream,
        stage.crowd.people,
        forbidden=tuple(world.areas(stage.forbidden)),
        timeout=world.timeout if stage.timeout == "auto" else stage.timeout,
        goal_tolerance=stage.goal_tolerance,
        speed=max((m.top_speed for m in models), default=0.0),
        control=stage.periods.control,
        models=tuple(models),
    )
    return plan, task, models


def _check_behaviours(stage: Stage, people: list[Person]) -> None:
    """Check that the crowd has the behaviours that the pedestrians' instructions require."""
    there = {behaviour.name for behaviour in stage.crowd.behaviours}
    if "cues" not in there and any(any(p.waits) or p.company[0] > 0 for p in people):
        raise InputError("its pedestrians wait or stay with the robot: crowd.behaviours must include cues")
    if "given_states" not in there and any(p.state_time > 0 for p in people):
        raise InputError("its pedestrians have states: crowd.behaviours must include given_states")


def check_ways(task: Task) -> None:
    """Check that a path leads from every pedestrian to each of its waypoints."""
    for person in task.pedestrians:
        roads = roads_of(task.map, radius_class(person.radius))
        if roads is None:
            return
        for waypoint in person.waypoints:
            if not roads.reaches(person.position, waypoint):
                start, end = task.map.place(person.position), task.map.place(waypoint)
                raise PlacementError(
                    f"pedestrian {person.name or 'without a name'} at {start}: no path leads to its waypoint {end} for a radius of "
                    f"{person.radius:g} m in map {task.map.name!r}; with crowd.routes: false it walks straight towards it"
                )


def _models(stage: Stage) -> list[RobotModel]:
    return [load_robot(name) for name in stage.models]


def robot_starts(task: Task, models: list[RobotModel]) -> tuple[RobotStart, ...]:
    """Return a task's robots with their models; there is either one model for all robots or one model per robot.

    Raises:
        InputError: there are no robots, or the number of models does not match.
    """
    if not task.robots:
        raise InputError("the robots mode placed no robot")
    if len(models) not in (1, len(task.robots)):
        raise InputError(f"robot: expected one model or one per robot, got {len(models)} models for {len(task.robots)} robots")
    models = models if len(models) == len(task.robots) else models * len(task.robots)
    return tuple(RobotStart(m, start, goals) for m, (start, goals) in zip(models, task.robots, strict=True))


def _start(plan: ResetPlan, task: Task, robots: tuple[RobotStart, ...]) -> Start:
    stage = plan.stage
    people = stage.crowd.share_out(task.pedestrians, Stream(plan.drawn, plan.seed, "crowd_models"))
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
    """Return the pedestrians at the start of an episode, numbered from 1."""
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
        state_time=np.array([p.state_time for p in people]),
        state_radius=np.array([p.state_radius for p in people]),
        talk=np.array([p.talk for p in people], np.int32),
        habits=tuple(p.habits for p in people),
        waits=np.array([(p.waits + (0.0,) * most)[:most] for p in people]),
        company=np.array([p.company for p in people]),
        doing=np.array([[_number_of(state) for state in (p.doing + ("",) * most)[:most]] for p in people], np.int32),
        facing=np.array([(p.faces + (0.0,) * most)[:most] for p in people]),
        enters=np.array([p.enters for p in people]),
    )


def _number_of(state: str) -> int:
    """Return the number of a social state; -1 if there is none."""
    return SOCIAL_STATES.index(state) if state else -1


def suite_names() -> list[str]:
    """Return the names of the suites that come with Agora."""
    return names_in("benchmark")


def load_suite(name_or_path: str | Path) -> Suite:
    """Return the suite with the given name (``configs/benchmark/<name>.yaml``), or read a suite from a file.

    A scenario file is a suite with one stage and one episode; its world is the world whose folder contains the file, or the world
    named by the file's ``map`` key. If a suite file is in a folder named ``suites``, worlds and scenarios are looked up in the
    neighbouring folders (`agora.tasks.suite_file`).

    Raises:
        UnknownNameError: no suite has this name.
        InputError: the file is invalid.
    """
    path = Path(name_or_path)
    if is_scenario(path):
        return _suite_of(path)
    if path.suffix in (".yaml", ".yml", ".json") or "/" in str(name_or_path):
        return _read(path)
    if str(name_or_path) not in suite_names():
        raise UnknownNameError("suite", str(name_or_path), suite_names())
    return load(folder("configs") / "benchmark" / f"{name_or_path}.yaml", Suite)


def _read(path: Path) -> Suite:
    home = home_of(path)
    if home is None:
        return load(path, Suite)
    return suite_in(tree_of_text(read_text(path), str(path), path.suffix.lower() == ".json"), str(path), home)


def suite_in(tree: Node, where: str, home: Path) -> Suite:
    """Return the suite that a tree describes, with worlds and scenarios from the neighbouring folders (`agora.tasks.suite_file`).

    Args:
        tree: tree of a file or of plain data.
        where: name of the tree, used in messages.
        home: folder that contains ``worlds`` and ``scenarios``.

    Raises:
        InputError: the tree does not describe a suite.
    """
    found: Suite = Builder(where).run(found_beside(tree, where, home), Suite)
    return found


def _suite_of(path: Path) -> Suite:
    """Return the suite that runs a scenario file."""
    world = world_of(path)
    try:
        stage = Stage(path.stem, world, Named.of("robots_modes", "scenario"), Named.of("obstacles_modes", "scenario"))
    except ValueError as error:
        raise InputError(f"{path}: the name of the file becomes the name of the suite: {error}") from error
    return Suite(path.stem, (stage,), description=f"The scenario {path}.")


def with_seed(suite: Suite, seed: int | None) -> Suite:
    """Return the suite with a different seed, i.e. with different people, starts and goals, and with different places if places are
    drawn.

    The seed also replaces the stages' own seeds. A stage that already has this seed is unchanged. The seed in a row therefore
    reproduces the row's episode, and the suite's own seed reproduces the suite. If a world draws its places from a separate seed
    (`agora.interfaces.DrawnPlaces`), the places are drawn from a new seed, computed from the world's seed and ``seed``.

    Raises:
        InputError: the suite is an edition, the seed has no effect on the suite, or stages would become copies of each other
            because they differ only in their seeds.
    """
    if seed is None or seed == suite.seed:
        return suite
    if suite.edition is not None:
        raise InputError(f"seed {seed}: {suite.name!r} is an edition, whose seed is fixed by its draw; leave it out")
    drawn: dict[str, Stage] = {}
    for stage in suite.stages:
        other = drawn.setdefault(stage.drawn_as or stage.name, stage)
        if other.seed != stage.seed:
            raise InputError(
                f"seed {seed}: stages {other.name!r} and {stage.name!r} of suite {suite.name!r} share one draw but have "
                f"different seeds of their own; expected the suite's seed, {suite.seed}"
            )
    made = replace(suite, seed=seed, stages=tuple(_seeded(stage, seed) for stage in suite.stages))
    if not any(_differs(suite, made, stage) for stage in suite.stages):
        stages = ", ".join(stage.name for stage in suite.stages)
        raise InputError(
            f"seed {seed}: has no effect on suite {suite.name!r} (stages: {stages}): worlds, people and robots' tasks are "
            "fixed, and episodes draw nothing; leave it out"
        )
    return made


def _seeded(stage: Stage, seed: int) -> Stage:
    """Return the stage with the suite's seed and, if it draws places, different places; unchanged if it already has this seed."""
    if stage.seed == seed:
        return stage
    world, source = stage.world, stage.world.part
    if isinstance(source, DrawnPlaces):
        world = Named(world.name, source.seeded(derived("places", str(seed), str(source.seed))))
    return replace(stage, world=world, seed=None)


def _differs(suite: Suite, made: Suite, stage: Stage) -> bool:
    """Return whether the new seed changes the first episode of a stage: its place, its start, or later random draws."""
    if made.stage(stage.name).world != stage.world:
        return True
    start = suite.start(stage.name, 0)
    return draws_on(stage, start) or digest_of(stage, start) != digest_of(stage, made.start(stage.name, 0))
