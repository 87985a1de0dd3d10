"""Reads the people in a bag, published by trackers, simulators or Agora, and samples them at the times of a robot's recording.

The supported message types are ``people_msgs`` (navigation_layers), ``TrackedPersons`` (spencer_people_tracking, pedsim_ros),
``AgentStates`` (pedsim_ros), ``PersonArray`` (leg_tracker), ``Agents`` (hunav_sim) and ``agora_msgs/Pedestrians``. Agents that are
robots are omitted. Between two messages that contain a person, the person is assumed to move in a straight line.
"""

from __future__ import annotations

import operator
import re
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from agora.core.state import Array, Doubles
from agora.datasets.clock import moments
from agora.datasets.messages import seconds
from agora.datasets.odometry import OdometryStretch
from agora.datasets.transforms import Transforms, TransformTree, frame_name
from agora.draft.people import People
from agora.errors import InputError, nearest
from agora.ranges import LARGEST

_COLUMNS = 10
_LONGEST_GAP = 2.0  # s, maximum gap between two messages over which a person is interpolated (as in agora.datasets.scenes)
_GONE = 1.0  # s, how long a person stays after the last message that contains it, if no other messages follow
_WALKS = 0.05  # m/s, minimum speed at which the direction of motion counts as heading
_MOST = 8_000_000  # maximum number of samples of people per episode
_ROBOT = (2, "2", "robot")  # the type of a robot in pedsim_ros
_LIKELY = re.compile(r"people|person|pedestrian|human|crowd|agents?(?![a-z])|obstacle_?tracks", re.IGNORECASE)
_OTHERS = re.compile(
    r"(sensor|std|nav|tf2|actionlib|move_base|rosgraph|diagnostic|stereo|agora)_msgs/|geometry_msgs/(?!PoseArray)|(tf|bond|dynamic_reconfigure)/"
)


class _Seen(NamedTuple):
    """A person in a message: name; position, m; velocity, m/s (nan if the message does not contain it); and radius, m (0 if
    unknown).
    """

    name: str
    place: tuple[float, float, float]
    velocity: tuple[float, float]
    radius: float


def _listed(people: str, name: str, place: str, velocity: str = "", radius: str = "") -> Callable[[Any], Iterator[_Seen]]:
    """Return a function that reads the people in a message, given the paths of the list and of its entries' fields."""
    named, placed, moving = operator.attrgetter(name), operator.attrgetter(place), operator.attrgetter(velocity or name)

    def read(message: Any) -> Iterator[_Seen]:
        for one in getattr(message, people):
            if getattr(one, "type", None) not in _ROBOT:
                at, v = placed(one), moving(one) if velocity else None
                known = (np.nan, np.nan) if v is None else (v.x, v.y)
                yield _Seen(str(named(one)), (at.x, at.y, at.z), known, float(getattr(one, radius)) if radius else 0.0)

    return read


def _agora(message: Any) -> Iterator[_Seen]:
    for slot in np.flatnonzero(message.present):
        x, y, vx, vy, radius = (float(getattr(message, name)[slot]) for name in ("x", "y", "vx", "vy", "radius"))
        yield _Seen(str(message.id[slot]), (x, y, 0.0), (vx, vy), radius)


_READERS: dict[str, Callable[[Any], Iterator[_Seen]]] = {
    "agora_msgs/Pedestrians": _agora,
    "hunav_msgs/Agents": _listed("agents", "id", "position.position", "velocity.linear", "radius"),
    "pedsim_msgs/AgentStates": _listed("agent_states", "id", "pose.position", "twist.linear"),
    "*/TrackedPersons": _listed("tracks", "track_id", "pose.pose.position", "twist.twist.linear"),
    "people_msgs/People": _listed("people", "name", "position", "velocity"),
    "people_msgs/PositionMeasurementArray": _listed("people", "object_id", "pos"),
    "*/PersonArray": _listed("people", "id", "pose.position"),
}
"""Reader functions by message type, most exact type first; ``*`` stands for any package."""


def people_kind(kind: str) -> str:
    """Return the key of a message type in `_READERS`; empty if messages of this type do not contain people."""
    return next((known for known in (kind, f"*/{kind.rpartition('/')[2]}") if known in _READERS), "")


def unread_people(topics: Mapping[str, str], strange: Collection[str] = ()) -> list[str]:
    """Return a note on topics that, judging by their names, may contain people but cannot be read; empty if there are none.

    Args:
        topics: message types by topic.
        strange: topics whose type is known but whose messages have unexpected fields.
    """
    unknown = [(topic, kind) for topic, kind in sorted(topics.items()) if not people_kind(kind) and not _OTHERS.match(kind)]
    likely = {topic for topic, kind in unknown if _LIKELY.search(f"{topic} {kind.rpartition('/')[2]}")} | set(strange)
    named = [f"{topic} ({topics[topic]})" for topic in sorted(likely)]
    return [f"{', '.join(named)} may contain people but cannot be read"] if named else []


@dataclass
class PeopleTopic:
    """The people on one topic.

    Attributes:
        topic: name of the topic.
        kind: type of the messages on the topic.
    """

    topic: str
    kind: str
    _names: dict[str, int] = field(default_factory=dict)
    _radius: dict[int, float] = field(default_factory=dict)
    _frames: dict[str, int] = field(default_factory=dict)
    _rows: array[float] = field(default_factory=lambda: array("d"))
    _ticks: array[float] = field(default_factory=lambda: array("d"))

    def __len__(self) -> int:
        return len(self._ticks) // 3

    def add(self, number: int, recorded: float, message: Any) -> None:
        """Add a message, given its chronological rank, its record time (s), and its contents.

        Raises:
            AttributeError: the message lacks fields of its type.
        """
        stamp = seconds(message.header.stamp)
        frame = self._frames.setdefault(frame_name(message.header.frame_id), len(self._frames))
        self._ticks.extend((number, recorded, stamp))
        seen: set[str] = set()
        for k, one in enumerate(_READERS[people_kind(self.kind)](message)):
            name = one.name if one.name and one.name not in seen else f"{one.name}#{k}"
            seen.add(name)
            who = self._names.setdefault(name, len(self._names))
            self._rows.extend((number, recorded, stamp, frame, who, *one.place, *one.velocity))
            self._radius[who] = one.radius or People().radius

    def placed(self, tree: TransformTree, target: str, stretch: OdometryStretch) -> PlacedPeople:
        """Return the people in a stretch, transformed to the target frame.

        Args:
            tree: transforms of the stretch.
            target: target frame.
            stretch: stretch of the robot's odometry.
        """
        rows, ticks = np.frombuffer(self._rows).reshape(-1, _COLUMNS), np.frombuffer(self._ticks).reshape(-1, 3)
        rows, ticks = (one[(one[:, 0] >= stretch.begin) & (one[:, 0] < stretch.end)] for one in (rows, ticks))
        rows = rows[(np.abs(rows[:, 5:8]) <= LARGEST).all(1)]
        time = moments(rows[:, 2], rows[:, 1] + stretch.shift)
        place, velocity, known = np.zeros((len(rows), 2)), np.zeros((len(rows), 2)), np.zeros(len(rows), np.bool_)
        for frame, number in self._frames.items():
            own = np.flatnonzero(rows[:, 3] == number)
            there = tree.lookup(target, frame or target, time[own]) if len(own) else None
            if there is not None:
                still = Transforms.same(len(own))
                place[own] = there.after(still._replace(place=rows[own, 5:8])).place[:, :2]
                turned = there._replace(place=np.zeros((len(own), 3)))
                moves = np.column_stack((rows[own, 8:10], np.zeros(len(own))))
                velocity[own] = turned.after(still._replace(place=moves)).place[:, :2]
                known[own] = there.known
        order = np.lexsort((time, rows[:, 4]))
        order = order[known[order]]
        names = list(self._names)
        whole = [int(name) for name in names if name.isascii() and name.isdecimal() and len(name) < 10]
        ids = np.array(whole if len(set(whole)) == len(names) else range(1, len(names) + 1), np.int64)
        radius = np.array([self._radius[who] for who in range(len(names))])
        ends = np.sort(moments(ticks[:, 2], ticks[:, 1] + stretch.shift))
        who = rows[order, 4].astype(int)
        return PlacedPeople(time[order], who, place[order], velocity[order], ends, ids, radius, int(np.sum(~known)))


@dataclass(frozen=True, eq=False)
class PlacedPeople:
    """People in a stretch, in the frame of a recording: N rows ordered by person, then time; M messages; P people.

    Attributes:
        time: (N,) times, s.
        who: (N,) indices of the people.
        place: (N, 2) positions, m.
        velocity: (N, 2) velocities, m/s; nan if the message does not contain them.
        ticks: (M,) times of all messages, s.
        ids: (P,) ids of the people.
        radius: (P,) radii of the people, m.
        lost: number of rows that were dropped because no transform was known.
    """

    time: Doubles
    who: Array
    place: Doubles
    velocity: Doubles
    ticks: Doubles
    ids: Array
    radius: Doubles
    lost: int

    def sampled(self, moments: Doubles, robot: Doubles) -> tuple[dict[str, Any], int]:
        """Return the pedestrian fields of a recording, and the number of people who were dropped because there are too many.

        Args:
            moments: (T,) times of the samples, s.
            robot: (T, 2) positions of the robot, m; if there are too many people, the people nearest to the robot are kept.
        """
        late, early = moments[0] - _LONGEST_GAP, moments[-1] + _LONGEST_GAP
        near = (self.time >= late) & (self.time <= early)
        tracks = []
        for who in np.unique(self.who[near]):
            rows = np.flatnonzero(self.who == who)
            place, velocity, present = _track(self.time[rows], self.place[rows], self.velocity[rows], self.ticks, moments)
            if present.any():
                gap = float(np.hypot(*(place - robot).T)[present].min())
                tracks.append((gap, int(who), place, velocity, present))
        room = max(_MOST // len(moments), 1)
        kept = sorted(sorted(tracks, key=lambda one: one[0])[:room], key=lambda one: one[1])
        numbers = [who for _, who, *_ in kept]
        shape = (len(moments), len(kept))
        place, velocity = (np.stack([one[k] for one in kept], 1) if kept else np.zeros((*shape, 2)) for k in (2, 3))
        present = np.stack([one[4] for one in kept], 1) if kept else np.zeros(shape, np.bool_)
        return {
            "pedestrian_position": place,
            "pedestrian_velocity": velocity,
            "pedestrian_heading": _headings(velocity),
            "pedestrian_present": present,
            "pedestrian_radius": self.radius[numbers],
            "pedestrian_id": self.ids[numbers].astype(np.int32),
            "pedestrian_group": np.full(shape, -1, np.int32),
        }, len(tracks) - len(kept)


def _track(time: Doubles, place: Doubles, velocity: Doubles, ticks: Doubles, moments: Doubles) -> tuple[Doubles, Doubles, Array]:
    """Return the position (T, 2), velocity (T, 2) and presence (T,) of one person at ``moments``, given observations of the person
    at ``time``.
    """
    before = np.searchsorted(time, moments, side="right") - 1
    here, there = np.clip(before, 0, None), np.minimum(before + 1, len(time) - 1)
    gap = time[there] - time[here]
    walks = (before >= 0) & (there > here) & (gap <= _LONGEST_GAP)
    share = np.where(walks, (moments - time[here]) / np.where(gap > 0.0, gap, 1.0), 0.0)[:, None]
    following = np.searchsorted(ticks, time[here], side="right")
    until = np.where(following < len(ticks), ticks[np.minimum(following, len(ticks) - 1)], np.inf)
    present = walks | ((before >= 0) & (moments < np.minimum(until, time[here] + _GONE)) | (moments == time[here]))
    at = place[here] + share * (place[there] - place[here])
    slope = np.where(walks[:, None], (place[there] - place[here]) / np.where(gap > 0.0, gap, 1.0)[:, None], 0.0)
    said = velocity[here] + share * (velocity[there] - velocity[here])
    return at, np.where(present[:, None], np.where(np.isfinite(said), said, slope), 0.0), present


def _headings(velocity: Doubles) -> Doubles:
    """Return the headings (T, P) of people with velocities (T, P, 2). A person who stands still keeps the last heading or, before
    moving for the first time, has the first heading.
    """
    heading, walks = np.arctan2(velocity[..., 1], velocity[..., 0]), np.hypot(velocity[..., 0], velocity[..., 1]) > _WALKS
    last = np.maximum.accumulate(np.where(walks, np.arange(len(walks))[:, None], -1), axis=0)
    last = np.where(last < 0, np.argmax(walks, axis=0) if len(walks) else 0, last)
    kept: Doubles = np.where(walks.any(axis=0), np.take_along_axis(heading, last, axis=0), 0.0)
    return kept


def chosen(people: Sequence[PeopleTopic], asked: str) -> tuple[PeopleTopic | None, list[str]]:
    """Return the people topic to read, and notes. If no topic is requested, the topic with the most exact type is chosen, or, among
    several of these, the topic with the most messages.

    Args:
        people: all people topics of the bag.
        asked: requested topic; empty if no topic was requested.

    Raises:
        InputError: the topic does not exist.
    """
    by_name = {one.topic: one for one in people}
    wanted = next((one for name, one in by_name.items() if name.strip("/") == asked.strip("/")), None) if asked else None
    if asked and wanted is None:
        raise InputError(f"--people {asked}: not a topic with people; {nearest(asked, by_name)}")
    kinds = list(_READERS)
    best = wanted or min(people, key=lambda one: (kinds.index(people_kind(one.kind)), -len(one), one.topic), default=None)
    if best is None:
        return None, []
    others = ", ".join(sorted(set(by_name) - {best.topic}))
    return best, [f"people are read from {best.topic}; other topics: {others}; choose one with --people"] * bool(others)
