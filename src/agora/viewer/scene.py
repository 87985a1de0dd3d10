"""The contents of a picture of an episode, shared by all renderers: extent, frames, trails, colours, and legend.

The figure, the video and the live window draw these records; the replay in the browser uses the same colours and durations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agora.core.angles import wrap
from agora.core.recording import Contact, Recording
from agora.core.state import SOCIAL_STATES, Array, Bools, Doubles, Ints
from agora.errors import InputError
from agora.metrics.quantities.outline import closest_surface, wall_gaps
from agora.metrics.quantities.outline import corners as footprint
from agora.ranges import Checked, Positive
from agora.viewer.planned import corners, paths

if TYPE_CHECKING:
    from agora.maps.grid import Map

__all__ = ["COLOURS", "FAMILIES", "STATES"]

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
"""Colour-blind safe colours (Okabe and Ito 2008)."""

COLOURS = {
    "robot": "#0072B2",
    "others": "#7FB0D4",
    "pedestrian": "#E69F00",
    "goal": "#009E73",
    "contact": "#D55E00",
    "wall": "#4A4F57",
    "ground": "#FFFFFF",
    "unknown": "#D9DCE1",
    "ink": "#1B1F24",
    "faint": "#6B7280",
}
"""Colour of each part of a scene on a light background."""

DARK = COLOURS | {
    "robot": "#56B4E9",
    "others": "#33708F",
    "wall": "#67707E",
    "ground": "#14171C",
    "unknown": "#2A2F37",
    "ink": "#E8EAED",
    "faint": "#9AA4B2",
}
"""Colour of each part of a scene on a dark background."""

OUTCOME_COLOURS = {
    "reached": "#009E73",
    "pedestrian_collision": "#D55E00",
    "wall_collision": "#E69F00",
    "robot_collision": "#CC79A7",
    "timeout": "#56B4E9",
    "planner_failed": "#6B7280",
    "out_of_map": "#0072B2",
    "simulator_failed": "#8C6BD8",
}
"""Colour of each outcome label."""

FAMILIES = {
    "on its way": COLOURS["pedestrian"],
    "with people": "#CC79A7",
    "with things": "#F0E442",
    "with the robot": "#8C6BD8",
    "in a hurry": "#D55E00",
}
"""Colour of each family of social states."""

STATES = {
    "idle": ("on its way", "I"),
    "walking": ("on its way", ""),
    "running": ("in a hurry", "R"),
    "avoiding": ("with the robot", "A"),
    "talking": ("with people", "T"),
    "listening": ("with people", "L"),
    "telling": ("with people", "S"),
    "texting": ("with people", "X"),
    "phone": ("with people", "P"),
    "interested": ("with the robot", "N"),
    "interacting": ("with things", "O"),
    "queueing": ("with things", "Q"),
    "sitting": ("with things", "C"),
    "working": ("with things", "W"),
    "panicking": ("in a hurry", "!"),
    "surprised": ("with the robot", "?"),
    "threatening": ("with the robot", "B"),
}
"""Family and letter of each social state; walking has no letter."""

LEGEND = (
    ("robot", "robot and its path"),
    ("pedestrian", "pedestrian, last 2 s"),
    ("goal", "goal and planned path"),
    ("contact", "contact"),
    ("wall", "wall"),
)
"""Role and text of each legend entry."""

TRAIL_LENGTH, TRAIL_STEP = 2.0, 0.25
"""Dots behind pedestrians: the total duration of the trail, and the time between two dots, s."""

FLASH = 1.0
"""Duration for which a contact flashes, s."""


class Extent(NamedTuple):
    """A rectangle in the map frame, m."""

    left: float
    bottom: float
    right: float
    top: float


class Frame(NamedTuple):
    """An episode at a given instant, with N pedestrians present.

    Attributes:
        time: time since the start of the episode, s.
        robot: (3,) pose of the robot, m and rad.
        position: (N, 2) positions of the pedestrians, m.
        heading: (N,) headings of the pedestrians, rad.
        radius: (N,) radii of the pedestrians, m.
        id: (N,) ids of the pedestrians.
        trail: (K, 3) x, y of pedestrians' earlier positions, m, and how far each has faded, from 0 (current) to 1 (invisible).
        contacts: contacts up to this time.
        state: (N,) indices into `agora.core.state.SOCIAL_STATES`; None if the recording does not have states.
        others: (M, 4) x, y, heading and radius of the episode's other robots, m and rad.
        planned: (K, 2) path that the robot should follow, m; no points if there is no path or it was not recorded.
        readings: values shown on the robot's dials.
        outlines: corners (V, 2) of the outlines of the robot and of each other robot, m; None for a disc. If the whole field is
            None, all robots are discs.
    """

    time: float
    robot: Doubles
    position: Doubles
    heading: Doubles
    radius: Doubles
    id: Ints
    trail: Doubles
    contacts: tuple[Contact, ...]
    state: Ints | None = None
    others: Doubles = np.zeros((0, 4))
    planned: Doubles = np.zeros((0, 2))
    readings: Readings | None = None
    outlines: tuple[Doubles | None, ...] = ()


class Readings(NamedTuple):
    """The values shown on the robot's dials.

    Attributes:
        speed: speed over ground, m/s.
        command: vx, vy, omega that the planner requested, m/s and rad/s; None if not recorded.
        people: gap between the outlines of the robot and the nearest pedestrian, m; infinite if there is no pedestrian.
        walls: gap between the robot's outline and the nearest obstacle in the map, m; infinite if there is no obstacle.
    """

    speed: float
    command: tuple[float, float, float] | None
    people: float
    walls: float

    @property
    def words(self) -> str:
        """Return all readings in one line of text."""
        asked = "" if self.command is None else f"command {_twist(self.command)} · "
        return f"speed {self.speed:.2f} m/s · {asked}to people {_gap(self.people)} · to walls {_gap(self.walls)}"


def _twist(command: tuple[float, float, float]) -> str:
    """Return a command as text; the sideways component is included only if it is not zero."""
    vx, vy, omega = (value if abs(value) >= 0.005 else 0.0 for value in command)
    return f"{vx:.2f} m/s, {f'{vy:.2f} m/s sideways, ' if vy else ''}{omega:.2f} rad/s"


def _gap(metres: float) -> str:
    return f"{metres if abs(metres) >= 0.005 else 0.0:.2f} m" if np.isfinite(metres) else "none"


@dataclass(frozen=True, eq=False)
class Scene(Checked):
    """A recording prepared for drawing.

    Attributes:
        recording: the episode.
        focus: distance around the robot's path and goal that is shown, m; None to show everything.
        others: recordings of the episode's other robots, which are also drawn; without `focus`, their paths are shown completely.
        ended: whether the episode has ended; if not, the outcome of the recording is undefined.
    """

    recording: Recording
    focus: Positive | None = None
    others: tuple[Recording, ...] = ()
    ended: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.recording.time) == 0:
            raise InputError("the recording has no samples to draw")

    @cached_property
    def extent(self) -> Extent:
        """The extent of the picture: the robot's path and goal and, without ``focus``, all walls and pedestrians, with a margin.

        For a running episode, a map without walls is shown completely, because the robot's future path is unknown.
        """
        recording = self.recording
        reach = max(recording.radius, recording.goal_tolerance)
        goal = np.asarray(recording.goal, float)[None, :2]
        points = [np.asarray(recording.pose, float)[:, :2], goal - reach, goal + reach]
        if self.focus is None:
            points.append(recording.pedestrian_position[recording.pedestrian_present])
            points += [np.asarray(other.pose, float)[:, :2] for other in self.others]
            walls = [] if recording.map is None else _corners(recording.map)
            if recording.map is not None and not self.ended and not any(map(len, walls)):
                walls = [np.array([recording.map.origin, np.add(recording.map.origin, recording.map.size)])]
            points += walls
        corners = np.concatenate([p for p in points if len(p)])
        margin = 0.5 + recording.radius if self.focus is None else self.focus
        low, high = corners.min(axis=0) - margin, corners.max(axis=0) + margin
        return Extent(float(low[0]), float(low[1]), float(high[0]), float(high[1]))

    @property
    def duration(self) -> float:
        """Time of the last sample of any robot, s."""
        return float(max(one.time[-1] for one in (self.recording, *self.others)))

    def at(self, time: float) -> Frame:
        """Return the frame ``time`` s after the start, interpolated between samples and held constant beyond the ends."""
        recording = self.recording
        steps = np.arange(1, round(TRAIL_LENGTH / TRAIL_STEP) + 1)
        back = time - TRAIL_STEP * steps
        back = back[back >= recording.time[0]]
        k, j, fraction = _between(recording, np.append(time, back))
        position, present = self._pedestrians(k, j, fraction)
        now = present[0]
        turn = recording.pedestrian_heading[j[0]] - recording.pedestrian_heading[k[0]]
        heading = recording.pedestrian_heading[k[0]] + fraction[0] * wrap(turn)
        faded = np.zeros((len(back), position.shape[1], 1))
        faded += TRAIL_STEP * steps[: len(back), None, None] / (TRAIL_LENGTH + TRAIL_STEP)
        trail = np.concatenate([position[1:], faded], axis=2)[present[1:] & now]
        return Frame(
            float(time),
            _pose_at(recording, time),
            position[0][now],
            heading[now],
            recording.pedestrian_radius[now],
            recording.pedestrian_id[now],
            trail,
            tuple(contact for contact in recording.contacts if contact.time <= time + 1e-9),
            None if recording.pedestrian_state is None else recording.pedestrian_state[k[0]][now],
            np.array([[*_pose_at(other, time), other.radius] for other in self.others]).reshape(-1, 4),
            next((path for since, path in reversed(self._paths) if since <= time + 1e-9), np.zeros((0, 2))),
            self._readings(time),
            tuple(_outline_at(one, time) for one in (recording, *self.others)),
        )

    @cached_property
    def _paths(self) -> list[tuple[float, Doubles]]:
        return [(since, corners(path, 0.02)) for since, path in paths(self.recording)]

    @cached_property
    def gaps(self) -> tuple[Doubles, Doubles]:
        """The gaps (T,) from the robot's outline to the nearest pedestrian and to the nearest obstacle, m; infinite if there is
        none.
        """
        walls = wall_gaps(self.recording)
        return closest_surface(self.recording), np.full(len(self.recording.time), np.inf) if walls is None else walls

    def _readings(self, time: float) -> Readings:
        """Return the readings at a time; the speed is the mean since the previous sample, because robots stop at a contact."""
        recording, commands = self.recording, self.recording.command
        k, j, fraction = (each[0] for each in _between(recording, np.array([time - 1e-6])))
        way = float(np.hypot(*(recording.pose[j, :2] - recording.pose[k, :2])))
        speed = way / float(recording.time[j] - recording.time[k]) if j > k else 0.0
        k, j, fraction = (each[0] for each in _between(recording, np.array([time])))
        people, walls = (
            float(gap[k] + fraction * (gap[j] - gap[k])) if np.isfinite(gap[k]) and np.isfinite(gap[j]) else float(gap[k])
            for gap in self.gaps
        )
        asked = None if commands is None or not len(commands) else tuple(commands[min(k, len(commands) - 1)].tolist())
        return Readings(speed, asked, people, walls)

    def leaves(self, time: float) -> list[Doubles]:
        """Return the leaves of the map's door as polygons (4, 2), m; empty if there is no door or the door was not recorded."""
        recording = self.recording
        if recording.door is None or recording.map is None or recording.map.door is None:
            return []
        k, j, fraction = (each[0] for each in _between(recording, np.array([time])))
        share = recording.door[k] + fraction * (recording.door[j] - recording.door[k])
        return recording.map.door.leaves(float(share))

    def path(self, time: float) -> Doubles:
        """Return the path (K, 2), in metres, that the robot has driven up to ``time``."""
        recording = self.recording
        k, j, fraction = _between(recording, np.array([time]))
        here = recording.pose[k, :2] + fraction[:, None] * (recording.pose[j, :2] - recording.pose[k, :2])
        return np.concatenate([recording.pose[: k[0] + 1, :2], here])

    def _pedestrians(self, k: Array, j: Array, fraction: Doubles) -> tuple[Doubles, Bools]:
        """Return the positions (K, P, 2) and the presence (K, P); a pedestrian is present between two samples if it is present at
        both samples.
        """
        position, present = self.recording.pedestrian_position, self.recording.pedestrian_present
        place = position[k] + fraction[:, None, None] * (position[j] - position[k])
        on_sample = (fraction < 1e-6)[:, None]
        return np.where(on_sample[..., None], position[k], place), present[k] & (present[j] | on_sample)


def _between(recording: Recording, times: Doubles) -> tuple[Array, Array, Doubles]:
    """Return the samples before and after each time, and the fraction of the interval between them."""
    time = recording.time
    k = np.clip(np.searchsorted(time, times + 1e-9, side="right") - 1, 0, len(time) - 1)
    j = np.minimum(k + 1, len(time) - 1)
    gap = np.maximum(time[j] - time[k], 1e-9)
    return k, j, np.clip((times - time[k]) / gap, 0.0, 1.0)


def _outline_at(recording: Recording, time: float) -> Doubles | None:
    """Return the corners (V, 2) of a robot's outline at a time, m; None for a disc."""
    own = footprint(recording)
    if own is None:
        return None
    x, y, heading = _pose_at(recording, time)
    ahead, side = np.array([np.cos(heading), np.sin(heading)]), np.array([-np.sin(heading), np.cos(heading)])
    placed: Doubles = (x, y) + own[:, :1] * ahead + own[:, 1:] * side
    return placed


def _pose_at(recording: Recording, time: float) -> Doubles:
    """Return the robot's pose (3,) at a time."""
    k, j, fraction = (each[0] for each in _between(recording, np.array([time])))
    step = recording.pose[j] - recording.pose[k]
    pose: Doubles = recording.pose[k] + fraction * np.append(step[:2], wrap(step[2]))
    return pose


def title_of(
    planner: str, suite: str, stage: str, episode: int, seed: int | None, robot: int | None = None, *, blind: bool = False
) -> str:
    """Return the title of an episode's picture.

    Args:
        planner: label of the planner.
        suite: name of the suite.
        stage: name of the stage.
        episode: number of the episode.
        seed: seed of the stage; None if it is not known.
        robot: number of the robot, if the episode has several robots.
        blind: whether the planner does not perceive walls.
    """
    said = [f"{planner}{' (reads no walls)' if blind else ''} · {suite}: {stage}", f"episode {episode}"]
    said += [] if seed is None else [f"seed {seed}"]
    return ", ".join(said if robot is None else [*said, f"robot {robot}"])


def mark_of(state: int) -> tuple[str, str]:
    """Return the colour and the letter of a social state, given by its index in `agora.core.state.SOCIAL_STATES`."""
    family, letter = STATES[SOCIAL_STATES[state]]
    return FAMILIES[family], letter


def states_seen(recordings: Iterable[Recording]) -> list[str]:
    """Return the social states that have a letter and occur in at least one of the recordings, in the order of
    `agora.core.state.SOCIAL_STATES`.
    """
    seen = {s for r in recordings if r.pedestrian_state is not None for s in np.unique(r.pedestrian_state[r.pedestrian_present])}
    return [name for number, name in enumerate(SOCIAL_STATES) if number in seen and STATES[name][1]]


def raster(map_: Map, extent: Extent | None = None, *, cells: Bools | None = None) -> tuple[Bools, Extent] | None:
    """Return the part of the map that contains all occupied cells, and its extent; None if no cell is occupied.

    The first row is the lowest. If ``extent`` is given, only the cells that touch it are kept; if ``cells`` is given, it replaces
    the map's occupied cells.
    """
    occupied = np.asarray(map_.occupied if cells is None else cells, bool)
    rows, columns = np.flatnonzero(occupied.any(axis=1)), np.flatnonzero(occupied.any(axis=0))
    if not len(rows):
        return None
    size, x, y = float(map_.resolution), float(map_.origin[0]), float(map_.origin[1])
    left, right, bottom, top = int(columns[0]), int(columns[-1]) + 1, int(rows[0]), int(rows[-1]) + 1
    if extent is not None:
        left, right = max(left, int((extent.left - x) // size)), min(right, int(-((x - extent.right) // size)))
        bottom, top = max(bottom, int((extent.bottom - y) // size)), min(top, int(-((y - extent.top) // size)))
    if left >= right or bottom >= top:
        return None
    return occupied[bottom:top, left:right], Extent(x + left * size, y + bottom * size, x + right * size, y + top * size)


def reach(map_: Map, places: Iterable[Doubles], margin: float) -> Extent:
    """Return an extent that contains a map's obstacles (or the whole map, if there are none) and positions (K, 2), with a margin,
    m.
    """
    walls = _corners(map_)
    if not any(map(len, walls)):
        walls = [np.array([map_.origin, np.add(map_.origin, map_.size)])]
    points = np.concatenate([np.reshape(some, (-1, 2)) for some in (*walls, *places)])
    (left, bottom), (right, top) = points.min(axis=0) - margin, points.max(axis=0) + margin
    return Extent(float(left), float(bottom), float(right), float(top))


def _corners(map_: Map) -> list[Doubles]:
    """Return points whose bounding box contains a map's cells, segments, discs and polygons."""
    discs = np.reshape(np.asarray(map_.discs, float), (-1, 3))
    points = [discs[:, :2] - discs[:, 2:], discs[:, :2] + discs[:, 2:]]
    points += [np.reshape(np.asarray(map_.segments, float), (-1, 2))]
    points += [np.reshape(np.asarray(polygon, float), (-1, 2)) for polygon in map_.polygons]
    cells = raster(map_)
    return points if cells is None else [*points, np.reshape(cells[1], (2, 2))]
