"""Demonstrations for behaviour cloning: a robot's observations and its driver's commands, from bags and benchmark runs.

There is one ``.npz`` file for each robot of an episode, with T samples, one per scan. All arrays except ``time`` are float32:

``time`` (T,) s since the first sample · ``scan`` (T, B) m · ``angles`` (B,) of the beams, rad · ``range_max`` m · ``pose`` (T, 3)
x, y, heading · ``twist`` (T, 3) vx, vy, omega · ``goal`` (3,), nan if not given · ``local_goal`` (T, 2) the goal's x and y in the
robot's frame · ``command`` (T, 3) vx, vy, omega.

In a bag, the command of a sample is the last command before the next scan, i.e. the response to the sample's own scan. In a
benchmark run, there is one sample for each call of the planner. The files contain everything that DynaBARN's demonstrations contain
(front/scan, cmd_vel, odometry, the goal).
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agora.benchmark.results.audit import audit_run
from agora.benchmark.results.recordings import recordings
from agora.benchmark.results.run_folder import RunFolder
from agora.core.recording import Recording
from agora.core.state import Array, Floats
from agora.datasets.bag_order import ranks
from agora.datasets.bagfile import Connection, stem
from agora.datasets.goals import StampedPose
from agora.datasets.located import Frames, located
from agora.datasets.mcapfile import opened
from agora.datasets.messages import from_pose2d, from_twist, seconds
from agora.datasets.odometry import Odometry, OdometryStretch
from agora.datasets.transforms import TransformLog
from agora.episode import Conditions
from agora.errors import InputError, ResultsError, reading
from agora.files import write_whole
from agora.interfaces import Observation
from agora.optics.lidar import Lidar
from agora.packed import arrays_of
from agora.policies.encoding import Observe
from agora.robots.model import RobotModel
from agora.yaml_tree import require_file

_LARGEST = 1_000_000_000  # maximum size of a demonstration, bytes
_SCAN, _TWIST, _ODOMETRY = "sensor_msgs/LaserScan", "geometry_msgs/Twist", "nav_msgs/Odometry"
_EPISODE, _GOAL, _TF = "agora_msgs/Episode", "geometry_msgs/PoseStamped", "tf2_msgs/TFMessage"


class _Sample(NamedTuple):
    """A scan and the command given in response: message index of the scan, time stamp (s), ranges (B,), goal, command (3,)."""

    number: int
    time: float
    ranges: Floats
    goal: Array | StampedPose
    command: Array


class _Heard(NamedTuple):
    """A message to or from a robot: connection, recording time (s), and content. The content of an episode message is reduced to
    the part that concerns the robot.
    """

    connection: Connection
    recorded: float
    content: Any


@dataclass
class _Driver:
    """The data read so far for one robot: scans with the commands given in response, and odometry."""

    scan: Any = None
    number: int = 0
    command: Array | None = None
    goal: Array | StampedPose = field(default_factory=lambda: np.full(3, np.nan))
    samples: list[_Sample] = field(default_factory=list)
    odometry: Odometry | None = None

    def look(self, number: int, scan: Any) -> None:
        """Turn the previous scan and its command into a sample, and store the new scan, which is message ``number``; at the end of
        the bag, ``scan`` is None.
        """
        if self.scan is not None and self.command is not None:
            ranges = np.asarray(self.scan.ranges, np.float32)
            self.samples.append(_Sample(self.number, seconds(self.scan.header.stamp), ranges, self.goal, self.command))
        self.scan, self.number = scan or self.scan, number

    def arrays(self, logs: Sequence[TransformLog]) -> dict[str, Array] | None:
        """Return the demonstration's arrays by name, for the longest section in which the odometry does not jump; None if there are
        no samples in it.

        Args:
            logs: logs of the bag's transforms.
        """
        stretches = self.odometry.stretches()[0] if self.odometry is not None else []
        if self.odometry is None or not stretches:
            return None
        stretch = max(stretches, key=lambda one: len(one.time))
        frames = Frames.of(self.odometry, stretch, logs)
        samples = [one for one in self.samples if stretch.begin <= one.number < stretch.end]
        stamps, poses, twists, _ = located(frames, stretch)
        if not samples or not len(stamps):
            return None
        aims = {id(one.goal): one.goal for one in samples}
        placed = {key: _placed(aim, frames, stretch) for key, aim in aims.items()}
        time, scans, commands = (np.array([getattr(one, name) for one in samples]) for name in ("time", "ranges", "command"))
        latest = np.maximum(np.searchsorted(stamps, time, side="right") - 1, 0)
        beams = self.scan.angle_min + self.scan.angle_increment * np.arange(scans.shape[1])
        lidar = {"scan": scans, "angles": beams, "range_max": np.array(self.scan.range_max)}
        goals = np.array([placed[id(one.goal)] for one in samples])
        return _arrays(time, lidar, poses[latest], twists[latest], goals, commands)


def _placed(goal: Array | StampedPose, frames: Frames, stretch: OdometryStretch) -> Array:
    """Return a goal (3,) in the map frame; NaN if it is unknown."""
    if not isinstance(goal, StampedPose):
        return goal
    found = frames.place(goal, stretch)
    return np.full(3, np.nan) if found is None else found[0]


def _arrays(time: Array, lidar: dict[str, Array], pose: Array, twist: Array, goals: Array, commands: Array) -> dict[str, Array]:
    """Return a demonstration's arrays by name; ``goals`` (T, 3) contains the goal for each sample."""
    away, cosine, sine = goals[:, :2] - pose[:, :2], np.cos(pose[:, 2]), np.sin(pose[:, 2])
    local = np.stack([cosine * away[:, 0] + sine * away[:, 1], cosine * away[:, 1] - sine * away[:, 0]], -1)
    named = lidar | {"pose": pose, "twist": twist, "goal": goals[-1], "local_goal": local, "command": commands}
    return {"time": time - time[0]} | {name: array.astype(np.float32) for name, array in named.items()}


def demonstration_of(recording: Recording, lidar: Lidar) -> dict[str, Array]:
    """Return the demonstration's arrays for a recording that contains the robot's scans and commands.

    Args:
        recording: recording of an episode whose goal did not change.
        lidar: lidar that took the scans.

    Raises:
        InputError: the recording contains no scans or no commands, or the scans are from another lidar.
    """
    if recording.command is None or "scan" not in recording.sensors:
        raise InputError("the recording has no scans with commands; run the benchmark with --record scan")
    scans = recording.sensors["scan"]["ranges"]
    if scans.shape[1] != lidar.beams:
        raise InputError(f"the recording has scans of {scans.shape[1]} beams, but the robot's lidar has {lidar.beams}")
    count = len(recording.command)
    seen = {"scan": scans, "angles": lidar.angles, "range_max": np.array(lidar.range_max)}
    goals = np.tile(recording.goal, (count, 1))
    return _arrays(recording.time[:count], seen, recording.pose[:count], recording.twist[:count], goals, recording.command)


def write_demonstrations_of_run(run: Path, folder: Path) -> list[Path]:
    """Write a demonstration ``<stage>.<episode>.<planner>.<robot>.npz`` for each robot of each episode of a benchmark run.

    Returns:
        The files.

    Raises:
        ResultsError: the run does not exist, or the folder cannot be written.
        InputError: the run contains no scans; the message explains how to record them.
    """
    suite = RunFolder.read(run).suite()
    written = []
    rows = sorted(audit_run(run).rows, key=lambda row: row["key"])
    kept = recordings(run, [row["key"] for row in rows])
    for row in rows:
        name, stage, episode, robot = row["key"], suite.stage(row["stage"]), row["episode"], int(row["key"].rpartition("/")[2])
        lidar = Conditions.of(stage).lidar or suite.start(stage.name, episode).robots[robot].model.lidar
        if name not in kept or lidar is None:
            raise InputError(f"{run}: {name}: {'the robot has no lidar' if name in kept else 'its recording was not kept'}")
        try:
            arrays = demonstration_of(kept[name], lidar)
        except InputError as error:
            raise InputError(f"{run}: {name}: {error}") from error
        written.append(_write(folder / f"{name.split('/', 1)[1].replace('/', '.')}.npz", arrays))
    return written


def _write(path: Path, arrays: dict[str, Array]) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        packed = io.BytesIO()
        np.savez_compressed(packed, allow_pickle=False, **arrays)
        write_whole(path, packed.getvalue())
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error}") from error
    return path


def read_demonstrations(path: Path) -> dict[str, dict[str, Array]]:
    """Return the demonstration's arrays of each robot in a bag that has both scans and commands, keyed by robot name.

    Raises:
        InputError: the file cannot be read, or no robot has scans and commands; the message says what is missing.
    """
    drivers: dict[str, _Driver] = {}
    log, bag = TransformLog(), opened(path)
    heard: list[tuple[int, _Driver, _Heard]] = []
    order = ranks(bag, lambda connection: connection.type == _ODOMETRY)
    for message, number in zip(bag.messages(), order.tolist(), strict=False):
        place, _, leaf = message.connection.topic.rpartition("/")
        kind, recorded = message.connection.type, message.nanoseconds * 1e-9
        if kind == _EPISODE:
            for robot in message.decode().robots:
                heard.append((number, drivers.setdefault(robot.name, _Driver()), _Heard(message.connection, recorded, robot)))
        elif kind == _TF:
            for transform in message.decode().transforms:
                log.add(number, recorded, transform, static=leaf == "tf_static")
        elif kind in (_SCAN, _TWIST, _ODOMETRY) or (kind == _GOAL and leaf == "goal"):
            driver = drivers.setdefault(_robot(place), _Driver())
            heard.append((number, driver, _Heard(message.connection, recorded, message.decode())))
    for number, driver, said in sorted(heard, key=lambda one: one[0]):
        _hear(driver, number, said)
    for driver in drivers.values():
        driver.look(0, None)
    driven = {name: arrays for name, driver in drivers.items() if driver.samples and (arrays := driver.arrays([log]))}
    if not driven:
        raise InputError(f"{path}: {_lack(list(drivers.values()))}")
    return driven


def _lack(drivers: list[_Driver]) -> str:
    """Return the reason why no demonstration can be made for any of the robots."""
    seeing = [driver for driver in drivers if driver.scan is not None]
    if not seeing:
        return "contains no scans; record with record_scans:=true"
    if all(driver.command is None for driver in seeing):
        return "the robot is not driven: the bag contains scans but no commands (geometry_msgs/Twist)"
    if all(driver.odometry is None for driver in seeing):
        return "contains scans but no odometry (nav_msgs/Odometry)"
    return "no scan is followed by a command with odometry"


def _robot(place: str) -> str:
    return place.removesuffix("/move_base_simple").rpartition("/")[2] or "robot"


def _hear(driver: _Driver, number: int, said: _Heard) -> None:
    (topic, kind, _), recorded, content = said
    if kind == _EPISODE:
        driver.goal = from_pose2d(content.goals[-1])
    elif kind == _SCAN:
        driver.look(number, content)
    elif kind == _TWIST:
        driver.command = from_twist(content)
    elif kind == _GOAL:
        driver.goal = StampedPose.of(number, topic, recorded, content.header, content.pose)
    else:
        driver.odometry = Odometry.of(topic, content) if driver.odometry is None else driver.odometry
        driver.odometry.add(number, recorded, content)


def write_demonstrations(bags: Iterable[Path], folder: Path) -> tuple[list[Path], list[str]]:
    """Write the demonstrations contained in bags to a folder, as ``<bag>.<robot>.npz``.

    Returns:
        The files, and one line for each skipped bag that gives the reason.

    Raises:
        InputError: no bag contains a demonstration; the message states why, for each bag.
        ResultsError: the folder cannot be written.
    """
    written: list[Path] = []
    left_out: list[str] = []
    for bag in bags:
        try:
            driven = read_demonstrations(bag)
        except InputError as error:
            left_out.append(str(error))
            continue
        for name, arrays in driven.items():
            written.append(_write(folder / f"{stem(bag)}.{name}.npz", arrays))
    if left_out and not written:
        raise InputError("\n".join(left_out))
    return written, left_out


def read_samples(folder: Path, observe: Observe, robot: RobotModel) -> list[tuple[Floats, Floats]]:
    """Return the encoded observations (T, D) and the actions (T, A) of each demonstration in a folder.

    Args:
        folder: folder with ``.npz`` files.
        observe: encoding of the policy, which may use only scan, goal and twist.
        robot: robot that the policy will drive; actions span its limits.

    Raises:
        InputError: there are no demonstrations, or a demonstration is damaged, was recorded with a lidar that differs from the
            robot's, or has no goal.
    """
    files = sorted(folder.glob("*.npz"))
    if not files:
        raise InputError(f"{folder}: contains no demonstrations (.npz)")
    if observe.pedestrians or observe.lookahead or observe.sensors:
        raise InputError("demonstrations only contain scan, goal and twist, but the policy observes pedestrians, a path or sensors")
    return [_sample(file, observe, robot) for file in files]


def _sample(file: Path, observe: Observe, robot: RobotModel) -> tuple[Floats, Floats]:
    with reading(file, "a demonstration"):
        require_file(file)
        with file.open("rb") as stream, arrays_of(stream, str(file), _LARGEST) as arrays:
            scan, twist, local_goal, command = (arrays[name] for name in ("scan", "twist", "local_goal", "command"))
    beams = 0 if robot.lidar is None else robot.lidar.beams
    if scan.shape[1:] != (beams,):
        raise InputError(f"{file}: has scans of {scan.shape[-1]} beams, but the lidar of robot {robot.name!r} has {beams}")
    if not np.isfinite(local_goal).all():
        raise InputError(f"{file}: the goal is unknown")
    count = len(scan)
    here, goal = np.zeros((count, 3), np.float32), np.column_stack([local_goal, np.zeros(count, np.float32)])
    limits, nobody = robot.limits(count), np.zeros((count, 0, 2), np.float32)
    seen = observe(Observation(here, twist, goal, here[:, 0], nobody, limits, 0.0, scan=scan))
    return seen, observe.actions(command, limits, here, goal)
