"""Reads bags of real or simulated robots that were run without Agora: odometry and, if available, transforms, goals and a map.

Each goal begins an episode (`agora.datasets.goals`); a bag without goals contains a single episode. Values that were not recorded
(contacts; people, unless a tracker published them) are missing, and metrics that read them are undefined. Positions come from the
robot's transforms to the map frame, which include the corrections by a localisation. If there are no transforms, positions come
from the odometry, transformed to the map frame using pose estimates; if there are no pose estimates either, odometry is used
unchanged.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from agora.core.state import Array, Doubles
from agora.datasets.bag_order import ranks
from agora.datasets.bag_people import PeopleTopic, PlacedPeople, chosen, people_kind, unread_people
from agora.datasets.drive import drive
from agora.datasets.goals import Aim, End, GoalDone, GoalSpan, StampedPose, goal_of, is_goal, is_word, spans, without_goal, word_of
from agora.datasets.located import MAP, Frames, located
from agora.datasets.messages import heading_of
from agora.datasets.odometry import Odometry, OdometryStretch, preferred, robots_of
from agora.datasets.parts import Source
from agora.datasets.played import PlayedEpisode
from agora.datasets.transforms import TransformLog, TransformTree, frame_name
from agora.draft.people import People
from agora.errors import InputError, nearest
from agora.maps.frame import moved, offset_of
from agora.maps.grid import Map
from agora.robots.model import RobotModel

__all__ = ["read_drives"]

_ODOMETRY, _GRID, _TF = "nav_msgs/Odometry", "nav_msgs/OccupancyGrid", ("tf2_msgs/TFMessage", "tf/tfMessage")
_ESTIMATE = "geometry_msgs/PoseWithCovarianceStamped"
_LATER = 1.0  # s, a note is added if the transform used for a goal is later than the goal by more than this
_OCCUPIED = 65  # per cent, map_server's threshold for occupied cells


@dataclass
class _Messages:
    """The contents of a bag. Each message is stored with its chronological rank, each map also with its position in the file."""

    odometry: dict[str, Odometry] = field(default_factory=dict)
    logs: dict[str, TransformLog] = field(default_factory=dict)
    estimates: list[StampedPose] = field(default_factory=list)
    goals: list[StampedPose] = field(default_factory=list)
    words: list[GoalDone] = field(default_factory=list)
    maps: list[tuple[int, int, str]] = field(default_factory=list)
    people: dict[str, PeopleTopic] = field(default_factory=dict)
    strange: set[str] = field(default_factory=set)
    topics: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Robot:
    """A robot in a bag.

    Attributes:
        name: name of the robot; empty if the bag contains a single robot.
        odometry: odometry that is read for the robot.
        logs: logs of the robot's transforms.
        goals: goals sent to the robot.
        estimates: estimates of the robot's pose.
        words: messages that end the robot's goals.
        maps: chronological ranks and file positions of the messages with maps.
        people: people around the robot; None if no people were published.
        notes: notes for the user.
    """

    name: str
    odometry: Odometry
    logs: tuple[TransformLog, ...]
    goals: list[StampedPose]
    estimates: list[StampedPose]
    words: list[GoalDone]
    maps: list[tuple[int, int]]
    people: PeopleTopic | None
    notes: list[str]


def read_drives(
    bag: Source, robot: RobotModel | None = None, goal: Array | None = None, odometry: str = "", people: str = ""
) -> list[PlayedEpisode]:
    """Return the episodes of a bag that contains odometry; the episodes of each robot are ordered by time.

    Args:
        bag: bag to read.
        robot: model of the robots in the bag, if known.
        goal: (2,) goal, m, which replaces the goals in the bag, so that the whole bag is a single drive to this goal.
        odometry: odometry topic to read, if the bag has several.
        people: people topic to read, if the bag has several.

    Raises:
        InputError: the file cannot be read, or does not have odometry or the requested topic.
    """
    read = _read_messages(bag)
    if not read.odometry:
        kinds = sorted(set(read.topics.values()))
        raise InputError(
            f"{bag.path}: expected at least two messages of {_ODOMETRY}, got topics of the types {', '.join(kinds) or 'none'}"
        )
    name = bag.path.name
    always = [f"{name}: {'' if read.people else 'pedestrians and '}contacts were not recorded; metrics about them are missing"]
    always += [f"{name}: {bag.cut}; the part before it is used"] * bool(bag.cut)
    episodes = [played for one in _robots(bag.path, read, odometry, people) for played in _episodes(bag, one, robot, goal)]
    return [replace(played, notes=(*(f"{name}: {note}" for note in played.notes), *always)) for played in episodes]


def _read_messages(bag: Source) -> _Messages:
    read = _Messages()
    order = ranks(bag, lambda connection: connection.type == _ODOMETRY)
    for place, (message, number) in enumerate(zip(bag.messages(), order.tolist(), strict=False)):
        topic, kind, recorded = message.connection.topic, message.connection.type, message.nanoseconds * 1e-9
        space, _, leaf = topic.rpartition("/")
        read.topics[topic] = kind
        if kind == _ODOMETRY:
            content = message.decode()
            if topic not in read.odometry:
                read.odometry[topic] = Odometry.of(topic, content)
            read.odometry[topic].add(number, recorded, content)
        elif kind in _TF:
            log = read.logs.setdefault(space.strip("/"), TransformLog())
            for transform in message.decode().transforms:
                log.add(number, recorded, transform, static=leaf == "tf_static")
        elif kind == _GRID and leaf == "map":
            read.maps.append((number, place, topic))
        elif kind == _ESTIMATE and leaf == "amcl_pose":
            content = message.decode()
            read.estimates.append(StampedPose.of(number, topic, recorded, content.header, content.pose.pose))
        elif is_goal(topic, kind):
            read.goals.append(goal_of(number, topic, recorded, message.decode()))
        elif people_kind(kind) and topic not in read.strange:
            try:
                read.people.setdefault(topic, PeopleTopic(topic, kind)).add(number, recorded, message.decode())
            except AttributeError:  # the message type has a known name, but different fields
                del read.people[topic]
                read.strange.add(topic)
        elif is_word(topic, kind) and (word := word_of(number, topic, recorded, message.decode())):
            read.words.append(word)
    return read


def _robots(path: Path, read: _Messages, asked: str, people: str) -> Iterator[_Robot]:
    """Yield the robots in a bag. If an odometry topic is requested, yield only the robot that the topic belongs to."""
    known, groups = read.odometry, robots_of(read.odometry, read.topics)
    wanted = next((topic for topic in known if topic.strip("/") == asked.strip("/")), "") if asked else ""
    if asked and not wanted:
        raise InputError(f"--odometry {asked}: {path} has no such topic of type {_ODOMETRY}; {nearest(asked, known)}")
    for name, topics in groups.items():
        if asked and wanted not in topics:
            continue
        spaces = {name, *(topic.strip("/").partition("/")[0] for topic in topics)} if name else None

        def is_its(topic: str, spaces: set[str] | None = spaces) -> bool:
            return spaces is None or topic.strip("/").partition("/")[0] in spaces

        logs = [log for space, log in read.logs.items() if space and is_its(space)]
        logs += [log for space, log in read.logs.items() if not space]
        tree = TransformTree(logs)
        connected = {known[topic].frame for topic in topics if tree.connects(MAP, known[topic].frame)}
        best, why = (known[wanted], "was requested") if asked else preferred([known[topic] for topic in topics], connected)
        others = ", ".join(topic for topic in topics if topic != best.topic)
        notes = [f"odometry is read from {best.topic}, which {why}; other topics: {others}; choose one with --odometry"] * bool(
            others
        )
        maps = sorted((number, place) for number, place, topic in read.maps if topic.strip("/") == MAP or is_its(topic))
        goals, estimates = ([one for one in sent if is_its(one.topic)] for sent in (read.goals, read.estimates))
        words = [one for one in read.words if is_its(one.topic)]
        spaced = [one for one in read.people.values() if name == "" or "/" not in one.topic.strip("/") or is_its(one.topic)]
        about, said = chosen(spaced or list(read.people.values()), people)
        notes += said + ([] if about is not None else unread_people(read.topics, read.strange))
        yield _Robot(name, best, tuple(logs), goals, estimates, words, maps, about, notes)


def _episodes(bag: Source, robot: _Robot, model: RobotModel | None, given: Array | None) -> Iterator[PlayedEpisode]:
    """Yield the episodes of a robot; the notes of the episodes do not mention the name of the file."""
    drives, notes = robot.odometry.stretches()
    if not drives:
        raise InputError(
            f"{bag.path}: expected at least two messages of {_ODOMETRY} on {robot.odometry.topic} with increasing times"
        )
    aimed = [s for s in drives if given is None and any(s.begin <= goal.number < s.end for goal in robot.goals)]
    if len(drives) > 1:
        lengths = ", ".join(f"{s.time[-1] - s.time[0]:.1f} s" for s in drives)
        which = "only the drives with goals are" if aimed else "only the longest is"
        notes.append(
            f"the clock or position of {robot.odometry.topic} jumps, so there are {len(drives)} drives ({lengths}); {which} read"
        )
    name = re.sub(r"[^\w.-]+", "_", bag.name + (f".{robot.name}" if robot.name else ""))
    number = 0
    for stretch in aimed or [max(drives, key=lambda s: len(s.time))]:
        place, target = _map_before(bag, robot.maps, stretch.end)
        frames = Frames.of(robot.odometry, stretch, robot.logs, robot.estimates, target, robot.name)
        time, pose, twist, said = located(frames, stretch)
        goals, lost = _goals(robot.goals, stretch, frames)
        crowd = None if robot.people is None else robot.people.placed(frames.tree, target, stretch)
        own = [one for one in robot.words if stretch.begin <= one.number < stretch.end]
        ends = sorted(End(one.time(stretch.shift), one.says, one.name, one.sent) for one in own)
        said += robot.notes + notes + frames.notes + lost
        said += [
            f"a goal result ({end.says}) {end.time - time[0]:.1f} s after the first sample has no goal in the bag; it is left out"
            for end in (without_goal(goals, ends) if given is None else ())
        ]
        said += ["no map; metrics that need it are missing"] * (place is None)
        said += ["no robot model (set it with --robot); metrics that need the robot's outline or speed are missing"] * (
            model is None
        )
        if given is not None:
            goals, ends = [Aim(float(time[0]), np.array([given[0], given[1], 0.0]))], []
        found = list(spans(time, pose, goals, ends)) or [GoalSpan(None, float(time[0]), float(time[-1]))]
        said += ["no goal; metrics that need it are missing"] * (found[0].goal is None)
        for span in found:
            cut = _cut(span, time, pose, twist)
            if len(cut[0]) > 1:
                seen, left = ({}, []) if crowd is None else _people(crowd, robot, cut, span.begin)
                played = drive(model, *cut, span.goal, place, **seen)
                began = round((span.begin - stretch.shift) * 1e9)
                word = [f"episode {number} ends after {cut[0][-1]:.1f} s: its goal was {span.says}"] * bool(span.says)
                yield PlayedEpisode(bag.path, "recorded", name, number, 0, (played,), notes=(*word, *left, *said), began=began)
                number += 1


def _people(
    crowd: PlacedPeople, robot: _Robot, cut: tuple[Doubles, Doubles, Doubles], begin: float
) -> tuple[dict[str, Any], list[str]]:
    """Return the pedestrian fields of the episode whose samples are ``cut`` and whose start time is ``begin``, s, and notes."""
    fields, left = crowd.sampled(cut[0] + begin, cut[1][:, :2])
    topic = robot.people.topic if robot.people is not None else ""
    notes = [f"people are read from {topic}; people without a radius get a radius of {People().radius:g} m"]
    notes += [f"{crowd.lost} positions on {topic} have no transform to the map; they are left out"] * (crowd.lost > 0)
    notes += [f"the {left} people on {topic} that are farthest from the robot are left out"] * (left > 0)
    return fields, notes


def _goals(sent: Sequence[StampedPose], stretch: OdometryStretch, frames: Frames) -> tuple[list[Aim], list[str]]:
    """Return the goals in a stretch, in the map frame and in chronological order, and notes."""
    found: list[Aim] = []
    notes = set()
    for goal in sent:
        if not stretch.begin <= goal.number < stretch.end:
            continue
        placed = frames.place(goal, stretch)
        if placed is None:
            notes.add(f"a goal on {goal.topic} is in {goal.frame}, which has no transform to {frames.target}; it is left out")
            continue
        pose, later = placed
        if later > _LATER:
            notes.add(
                f"a goal on {goal.topic} is in {goal.frame}; its position comes from the first transform, {later:.1f} s later"
            )
        found.append(Aim(goal.time(stretch.shift), pose, goal.name))
    return sorted(found, key=lambda aim: aim.time), sorted(notes)


def _cut(span: GoalSpan, time: Doubles, pose: Doubles, twist: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Return the samples of an episode, with times relative to the start; if there is no sample at the start, the first sample is
    interpolated.
    """
    within = (time > span.begin) & (time <= span.end)
    known = np.column_stack((pose[:, :2], np.unwrap(pose[:, 2]), twist))
    first = np.array([[np.interp(span.begin, time, column) for column in known.T]])
    first[:, 2] = np.arctan2(np.sin(first[:, 2]), np.cos(first[:, 2]))
    rows = np.concatenate((first, np.column_stack((pose, twist))[within]))
    return np.concatenate(([0.0], time[within] - span.begin)), rows[:, :3], rows[:, 3:]


def _map_before(bag: Source, maps: Sequence[tuple[int, int]], end: float) -> tuple[Map | None, str]:
    """Return the last map published before the message with rank ``end`` or, if there is none, the first map; also return the name
    of the map's frame.
    """
    if not maps:
        return None, MAP
    _, place = max((one for one in maps if one[0] < end), default=maps[0])
    message = next(itertools.islice(bag.messages(), place, None)).decode()
    return _map_of(message, bag.path.stem), frame_name(message.header.frame_id) or MAP


def _map_of(message: Any, name: str) -> Map:
    """Return the map of a ``nav_msgs/OccupancyGrid``, whose origin must not be rotated.

    Raises:
        InputError: the message's numbers do not form a map.
    """
    info = message.info
    if abs(heading_of(info.origin.orientation)) > 1e-6:
        raise InputError(f"{name}: the origin of its map is rotated; expected a heading of 0")
    cells = np.asarray(message.data, np.int16).reshape(info.height, info.width)
    corner = (info.origin.position.x, info.origin.position.y)
    offset = offset_of(corner)
    x, y = moved(corner, (-offset[0], -offset[1]))
    return Map(
        name=name,
        resolution=float(info.resolution),
        origin=(float(x), float(y)),
        occupied=cells >= _OCCUPIED,
        unknown=cells < 0,
        offset=offset,
    )
