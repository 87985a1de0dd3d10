"""Runs SocNavBench episodes in which a joystick drives the robot over sockets. The protocol and the kinematics are SocNavBench's;
the worlds and the results are Agora's.

``agora serve socnavbench`` and ``agora bench --planner socnavbench`` share one mechanism: `Player.play` runs an episode for the
executor `agora.benchmark.executors.outside`. A joystick is not a registered planner: it drives a single robot, and it receives
positions, maps and names that planners do not receive, because planners are called for many worlds at once.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from agora.benchmark.bench import bench, check
from agora.benchmark.events import RunEvent
from agora.benchmark.executors.outside import EpisodeLostError, Outside
from agora.benchmark.job import key_of
from agora.benchmark.request import Request
from agora.benchmark.results import store
from agora.benchmark.results.run_folder import RunFolder
from agora.benchmark.socnavbench._motion import follow
from agora.benchmark.socnavbench._scene import JoystickScene
from agora.benchmark.socnavbench._sight import JoystickSight, sight_camera
from agora.benchmark.socnavbench.joystick import Joystick, Meeting
from agora.benchmark.stop_token import StopToken
from agora.core.recording import Recording
from agora.core.state import Floats
from agora.datasets.socnavbench import read_episode
from agora.episode import WORLD, Conditions, Episodes
from agora.errors import InputError, PlannerError, ResultsError
from agora.interfaces import Ability, Answer, Declaration, Memory, Observation
from agora.simulators.native import LedBodies, Native
from agora.tasks.suite import Suite
from agora.wire.joystick import CAUSES, MOST, Commands, JoystickWord, PlannerName, ending

if TYPE_CHECKING:
    from agora.channels.camera import Camera
    from agora.draft.stage import Stage
    from agora.robots.model import RobotModel
    from agora.world.start import Start
    from agora.world.world import World


def bench_by_joystick(
    suite: Suite,
    folder: Path,
    meeting: Meeting,
    *,
    resume: bool = False,
    say: Callable[[str], None] = lambda line: None,
    token: StopToken | None = None,
) -> Iterator[RunEvent]:
    """Wait for a joystick, let it drive the robot in every episode of a suite that has no row yet, and yield the events.

    Args:
        suite: suite of SocNavBench episodes.
        folder: results folder; the results are stored under the planner name that the joystick sends.
        meeting: the session's sockets and protocol rules.
        resume: whether to continue the run in ``folder``.
        say: function that shows progress to the user.
        token: token with which another thread can stop the run between two episodes.

    Raises:
        InputError: the suite is not a SocNavBench suite, a socket cannot listen at an address, or the results belong to another
            planner.
        ResultsError: the folder cannot be used.
        EpisodeLostError: the joystick disconnects before it sends the name of its planner.
    """
    for stage in suite.stages:
        _check(stage)
    check(suite)
    label, left = _remaining_episodes(suite, folder, resume)
    if not left:
        yield from bench(Request.outside(suite, label, folder, Outside(lambda stage, episode: []), resume=True), token)
        return
    _warm(suite, *left[0], meeting)
    with closing(Joystick(meeting, say)) as joystick:
        player = Player(suite, joystick, say)
        joystick.meet([name_of(suite.stage(stage), episode) for stage, episode in left])
        named = player.meet(*left[0])
        if label not in ("", named):
            raise InputError(
                f"{folder}: contains results of {label!r}, but the joystick names its planner {named!r}; choose another folder"
            )
        yield from bench(Request.outside(suite, named, folder, Outside(player.play, _beside(meeting)), resume=resume), token)


def _beside(meeting: Meeting) -> dict[str, str]:
    """Return the strings that are added to every row of a run."""
    told = {"steered_by": meeting.steered_by, "render_mode": meeting.render_mode if meeting.render_mode != "schematic" else ""}
    return {column: text for column, text in told.items() if text}


def name_of(stage: Stage, episode: int) -> str:
    """Return SocNavBench's name for an episode of a stage."""
    names = stage.world.part.names()
    return str(names[episode % len(names)])


def _check(stage: Stage) -> None:
    """Make sure that a stage can be run with a joystick. Raises: InputError: it cannot be; the message gives the reason."""
    periods = stage.periods
    needs = {
        "world: socnavbench": stage.world.name == "socnavbench",
        "obstacles: replay": stage.obstacles.name == "replay",
        "robots: scenario": stage.robots.name == "scenario",
        "pedestrians: truth": stage.perception.source == "truth",
        "simulator: native": stage.simulator.name == "native",
        "no modules": not stage.modules,
        "no counterfactual": not stage.counterfactual,
        "periods.physics equal to periods.control": periods.physics == periods.control,
    }
    if wrong := [need for need, there in needs.items() if not there]:
        raise InputError(f"stage {stage.name!r}: a SocNavBench joystick requires {', '.join(wrong)}")


def _remaining_episodes(suite: Suite, folder: Path, resume: bool) -> tuple[str, list[tuple[str, int]]]:
    """Return the planner of the run in a folder ("" if there is no run), and the episodes that have no row yet."""
    if not RunFolder.is_at(folder):
        return "", suite.entries()
    if not resume:
        raise ResultsError(f"{folder}: already contains a run; choose another folder, or continue it with --resume")
    label, *others = RunFolder.read(folder).record.labels
    if others:
        raise ResultsError(f"{folder}: contains a run of {len(others) + 1} planners; choose another folder")
    finished = store.finished_keys(folder / "episodes")
    return label, [(stage, k) for stage, k in suite.entries() if key_of(suite, stage, k, label, 0) not in finished]


def _camera(meeting: Meeting, start: Start) -> Camera | None:
    """Return the camera of an episode's robot; None in schematic mode. Raises: InputError: no renderer is installed."""
    return sight_camera(start.robots[0].model, meeting.camera) if meeting.render_mode == "full-render" else None


def _warm(suite: Suite, stage: str, episode: int, meeting: Meeting) -> None:
    """Run two steps of an episode and render an image, so that the joystick does not have to wait for compilation."""
    place = suite.stage(stage)
    conditions = replace(Conditions.of(place), simulator=_Led.of(place))
    start = replace(suite.start(stage, episode), timeout=2 * conditions.periods.control)
    camera = _camera(meeting, start)
    episodes = Episodes([start], _Still(), conditions)
    for _ in episodes:
        pass
    if camera is not None:
        sight = JoystickSight(episodes.world, camera)
        sight.walk()
        sight.images()


class Player:
    """Runs episodes in which a joystick drives the robot.

    Args:
        suite: suite that contains the episodes.
        joystick: joystick that has received the names of the episodes.
        say: function that shows progress to the user.
    """

    def __init__(self, suite: Suite, joystick: Joystick, say: Callable[[str], None]) -> None:
        self._suite, self._joystick, self._say = suite, joystick, say
        self._label = ""
        self._met: dict[tuple[str, int], tuple[Start, JoystickScene]] = {}

    def meet(self, stage: str, episode: int) -> str:
        """Begin the first episode, and return the name that the joystick gives its planner."""
        self._met[stage, episode] = start, scene = self._scene(stage, episode)
        self._label = self._joystick.begin(scene.opening())
        return self._label

    def play(self, stage: str, episode: int) -> list[Recording]:
        """Run an episode and return a recording of its robot.

        Raises:
            EpisodeLostError: the joystick has disconnected, or has changed its planner.
        """
        if (stage, episode) in self._met:
            start, scene = self._met.pop((stage, episode))
        else:
            start, scene = self._scene(stage, episode)
            self._joystick.call_itself(self._label, self._joystick.begin(scene.opening()))
        recording = self._drive(self._suite.stage(stage), start, scene)
        cause = CAUSES.get(recording.outcome, scene.cause)
        self._joystick.end(ending(cause, scene.time))
        self._say(f"{name_of(self._suite.stage(stage), episode)}: {recording.outcome.label} after {recording.time[-1]:.2f} s")
        return [recording]

    def _scene(self, stage: str, episode: int) -> tuple[Start, JoystickScene]:
        """Return the start of an episode, and the scene that the joystick receives."""
        place = self._suite.stage(stage)
        start = self._suite.start(stage, episode)
        read = read_episode(name_of(place, episode), real_speed=place.world.part.real_speed)
        return start, JoystickScene(start, read, place.periods.control, _camera(self._joystick.meeting, start))

    def _drive(self, stage: Stage, start: Start, scene: JoystickScene) -> Recording:
        """Run an episode and return the robot's recording."""
        led = _Led.of(stage)
        driver = _Driver(self._joystick, scene, start.robots[0].model, stage.periods.control)
        conditions = replace(Conditions.of(stage), simulator=led)
        episodes = Episodes([start], driver, conditions, before=driver.stop_where_lost)
        driver.take(episodes.world, led.made[0])
        scene.take(episodes.world)
        ((_, (recording,)),) = list(episodes)
        if driver.late:
            self._say(f"{driver.late} of {len(recording.planning_time)} periods took longer than the control period")
        return recording


@dataclass(frozen=True, eq=False)
class _Led:
    """Robots whose poses are set externally.

    Attributes:
        centre: whether walls stop only the robots' centres, instead of their outlines.
        made: the bodies of the batches created so far.
    """

    can: ClassVar[frozenset[Ability]] = frozenset({"step", "exact_contacts"})
    centre: bool
    made: list[LedBodies] = field(default_factory=list)

    @staticmethod
    def of(stage: Stage) -> _Led:
        """Return externally driven robots that walls stop in the same way as the robots of a stage."""
        return _Led(stage.simulator.part == Native(walls="centre"))

    def bodies(self, world: World) -> LedBodies:
        """The robots of a batch."""
        self.made.append(LedBodies(world, self.centre))
        return self.made[-1]


class _Still:
    """A planner whose robot does not move."""

    declares = Declaration(turns_at_goal=True)

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Do nothing."""
        return Answer(np.zeros((1, 3), np.float32))


class _Driver(_Still):
    """The joystick in the role of a planner: the engine calls it once per control period, and it sets the robot's pose.

    Attributes:
        late: number of control periods that began too late, in asynchronous mode.
    """

    def __init__(self, joystick: Joystick, scene: JoystickScene, model: RobotModel, period: float) -> None:
        self._joystick, self._scene, self._model, self._period = joystick, scene, model, period
        self._queue: deque[Floats | None] = deque()  # commands; None stands for a requested state
        self._last: Floats | None = None
        self._repeats = joystick.meeting.repeats
        self._due = time.monotonic()
        self._lost: EpisodeLostError | None = None
        self._failed: PlannerError | None = None
        self.late = 0

    def take(self, world: World, body: LedBodies) -> None:
        """Drive the robot of a world."""
        self._world, self._body = world, body

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Apply the joystick's next command in the following step. The returned twist has no effect.

        Raises:
            PlannerError: the joystick abandons the episode, or sends too many invalid messages; the error is raised again when the
                row is called alone.
        """
        if self._failed is not None:
            raise self._failed
        try:
            self._scene.see(self._world)
            command = self._awaited() if not self._joystick.meeting.asynchronous else self._due_now()
            self._scene.pass_step(self._world)
            self._lead(command)
        except EpisodeLostError as lost:
            self._lost = lost
        except PlannerError as failed:
            self._failed = failed
            raise
        return super().act(observation, memory)

    def stop_where_lost(self, what: str) -> None:
        """End the episode without a result if the joystick has disconnected; called before each step of the world."""
        if what == WORLD and self._lost is not None:
            raise self._lost

    def _awaited(self) -> Floats:
        """Wait for the joystick's next command and return it; simulated time does not advance meanwhile."""
        while True:
            self._answer()
            if self._queue:
                return self._taken()
            self._receive(self._joystick.command())

    def _due_now(self) -> Floats | None:
        """At the end of the control period, return the next command, or else the last command again; None if there is no command or
        no repeats are left.
        """
        self._answer()
        while (said := self._joystick.command(self._due)) is not None:
            self._receive(said)
            self._answer()
        now = time.monotonic()
        self.late += now > self._due + self._period
        self._due = max(self._due, now - self._period) + self._period
        if self._queue:
            self._last = self._taken()
            return self._last
        if self._last is None or self._repeats == 0:
            return None
        self._repeats -= 1
        return self._last

    def _taken(self) -> Floats:
        command = self._queue.popleft()
        assert command is not None
        return command

    def _answer(self) -> None:
        """Send the requested state once all commands that the joystick sent before the request have been executed."""
        while self._queue and self._queue[0] is None:
            self._queue.popleft()
            self._joystick.answer(self._scene.state(self._world))

    def _receive(self, said: JoystickWord | PlannerName | Commands | None) -> None:
        match said:
            case Commands(each):
                self._queue.extend(each)
            case JoystickWord("sense"):
                self._queue.append(None)
            case JoystickWord("abandon"):
                raise PlannerError("the joystick abandoned the episode")
        if len(self._queue) > MOST:
            raise PlannerError(f"the joystick sent more than {MOST} commands ahead")

    def _lead(self, command: Floats | None) -> None:
        """Set the robot's pose to the pose that it reaches at the end of the step."""
        twist, scene = (0.0, 0.0, 0.0), self._scene
        if command is not None:
            asked = command.copy()
            if len(asked) == 4:
                asked[:2] += scene.corner
            turning = self._model.omega
            scene.pose, twist, clipped = follow(asked, scene.pose, self._period, self._model.vx, (-turning, turning))
            self._world.status.orders.clipped[0, 0] += clipped
        self._body.there[0, 0] = (scene.pose[0], scene.pose[1], scene.turned(), *twist)
