"""Cuts recordings into stretches that a crowd model takes over: some people are simulated, the others are replayed.

A stretch lasts 7.6 s, sampled at the recordings' own period of 0.4 s. People who walk and are present throughout can be simulated;
all others, who stand still, appear or leave, are replayed as recorded. A simulated pedestrian starts at the recorded position with
the recorded velocity (the mean over the last 0.4 s), prefers the mean speed of the recorded path, and walks to the end of this
path. If a scene has no group labels, `agora.validation.together` detects groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agora.core.state import STAY, Bools, Doubles, Ints
from agora.datasets.eth_ucy import SOURCES, RecordedScene, read_scene
from agora.maps.grid import Map
from agora.metrics.encounters import WALKS
from agora.validation.together import together
from agora.world.start import PedestrianStarts, Start
from agora.world.trajectories import Trajectories

STEP = 0.4
"""Time between two samples of a recording, s."""

SAMPLES = 20
"""Number of samples in a stretch."""

APART = 12
"""Number of samples between the starts of successive stretches, chosen so that the windows that are compared do not overlap."""

DURATION = (SAMPLES - 1) * STEP
"""Time from the first to the last sample of a stretch, s."""

SCENES = tuple(SOURCES)
"""Names of all scenes."""

TRAINING = ("eth", "students001", "zara01")
HELD_OUT = tuple(name for name in SCENES if name not in TRAINING)
"""Names of the scenes on which a model is calibrated, and of the remaining scenes."""

RADIUS = 0.25
"""Radius of every pedestrian, m."""

_TOLERANCE = 0.5


@dataclass(frozen=True, eq=False)
class Stretch:
    """A stretch of a scene; the first N of its P pedestrians are the walkers.

    Attributes:
        scene: name of the scene.
        begin: time of the first sample, s.
        map: map of the scene.
        has_walls: whether the map contains any walls.
        position: (T, P, 2) recorded positions, m; undefined for absent pedestrians.
        present: (T, P) whether each pedestrian is present.
        velocity: (N, 2) velocities of the walkers at the first sample, m/s.
        speed: (N,) preferred speeds of the walkers, m/s.
        goal: (N, 2) goals of the walkers, m.
        group: (P,) number of each pedestrian's walking group; -1 for pedestrians without a group.
    """

    scene: str
    begin: float
    map: Map
    has_walls: bool
    position: Doubles
    present: Bools
    velocity: Doubles
    speed: Doubles
    goal: Doubles
    group: Ints

    @property
    def walkers(self) -> int:
        """The number of walkers, N."""
        return len(self.speed)

    def start(self, simulated: Sequence[int]) -> Start:
        """Return the start of an episode in which some walkers are simulated and everyone else is replayed as recorded.

        Args:
            simulated: indices of the walkers to simulate.
        """
        who = np.asarray(simulated, np.int32)
        count = len(who)
        crowd = PedestrianStarts(
            position=self.position[0, who],
            speed=self.speed[who],
            radius=np.full(count, RADIUS),
            group=self.group[who],
            id=who + 1,
            waypoints=self.goal[who][:, None],
            waypoint_count=np.ones(count, np.int32),
            mode=np.full(count, STAY, np.int32),
            tolerance=np.full(count, _TOLERANCE),
            velocity=self.velocity[who],
        )
        replay = self._replay(np.setdiff1d(np.arange(len(self.group)), who))
        return Start(f"{self.scene} {self.begin:.1f} s", 0, self.map, (), crowd, DURATION, 0.3, replay=replay, replay_radius=RADIUS)

    def _replay(self, others: Ints) -> Trajectories | None:
        """Return the recorded tracks of the people who are not simulated; people present at the end stay for one more sample."""
        seen = others[self.present[:, others].any(0)]
        if not len(seen):
            return None
        sample, row = np.nonzero(self.present[:, seen])
        time, place = sample * STEP, self.position[sample, seen[row]]
        last = np.flatnonzero(self.present[-1, seen])
        beyond = 2.0 * self.position[-1, seen[last]] - self.position[-2, seen[last]]
        beyond = np.where(self.present[-2, seen[last], None], beyond, self.position[-1, seen[last]])
        time = np.append(time, np.full(len(last), SAMPLES * STEP))
        x, y = np.concatenate([place, beyond]).T
        return Trajectories.of_rows(time, np.append(seen[row], seen[last]) + 1, x, y)


def stretches(scenes: Sequence[str], *, parts: int = 1) -> list[Stretch]:
    """Cut scenes into stretches, and return the stretches that contain at least one walker.

    Args:
        scenes: names of ETH/UCY scenes.
        parts: only every ``parts``-th stretch is returned; larger values give faster but less precise results.

    Raises:
        InputError: the data set is missing.
    """
    return [stretch for name in scenes for stretch in of_scene(read_scene(name), parts=parts)]


def of_scene(scene: RecordedScene, *, parts: int = 1) -> list[Stretch]:
    """Cut one scene into stretches; see `stretches`."""
    people = scene.trajectories
    if not people.count:
        return []
    begin = float(people.start.min())
    moments = [people.at(begin + k * STEP) for k in range(int((people.end.max() - begin) / STEP) + 1)]
    position = np.array([moment.position for moment in moments])
    present = np.array([moment.present for moment in moments])
    group = people.group
    if (group < 0).all():
        group = together(position, np.array([moment.velocity for moment in moments]), present)
    pace = np.array([people.only(people.id == who).mean_speed() for who in people.id])
    last = people.first[1:] - 1
    ends = np.stack([people.knot_x[last], people.knot_y[last]], -1)
    has_walls = bool(scene.map.occupied.any() or scene.map.has_shapes)
    cut = []
    for first in range(1, len(moments) - SAMPLES + 1, APART * parts):
        seen = slice(first, first + SAMPLES)
        walks = present[first - 1 : seen.stop].all(0) & (pace > WALKS)
        if not walks.any():
            continue
        who = np.flatnonzero(walks)
        kept = np.concatenate([who, np.flatnonzero(present[seen].any(0) & ~walks)])
        velocity = (position[first, who] - position[first - 1, who]) / STEP
        places = (scene.map, has_walls, position[seen][:, kept], present[seen][:, kept])
        cut.append(Stretch(scene.name, begin + first * STEP, *places, velocity, pace[who], ends[who], group[kept]))
    return cut
