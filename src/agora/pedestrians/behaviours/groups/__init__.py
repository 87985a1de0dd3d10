"""Groups that walk with a leader, and groups that stand and talk.

Walking: S. Sarker Roy et al., TAGA, 2025 (a leader drawn among the members; a follower's velocity is the leader's and a part of the
way to its place), with the rows of M. Moussaid et al., "The walking behaviour of pedestrian social groups and its impact on crowd
dynamics", PLoS ONE 5(4), 2010. Arena 3.0 gives every member the leader's goal and an offset on a ring: members who are pushed off
their points turn on the spot when they arrive. Standing: A. Kendon, Conducting Interaction, 1990.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.jit import bind, hidden, lean_kernel
from agora.core.scalar import ZERO
from agora.core.state import SOCIAL_STATES, Array
from agora.pedestrians.behaviours.groups._roles import GroupMemory, GroupParameters, regroup
from agora.pedestrians.behaviours.groups._talk import come_and_go, stand
from agora.pedestrians.behaviours.groups._walk import CRUMBS, follow, lead, wait
from agora.pedestrians.shared.formations import o_space_radius
from agora.ranges import Count, Distance, Duration, Length, NotNegative, Period, Positive, check_fields

if TYPE_CHECKING:
    from agora.world.start import Start
    from agora.world.world import World

_CONVERSATION = [SOCIAL_STATES.index(name) for name in ("talking", "listening", "telling")]
_KINDS: dict[str, Any] = dict.fromkeys(("stale", "steered", "hosted", "talks"), np.bool_)
_KINDS |= dict.fromkeys(("member", "left", "leader", "number", "count", "mode", "newest", "crumbs"), np.int32)
_DRAWS = 1.0  # s between two draws of who comes and goes


@hidden
def _repeat(c, traits, goals, w, count):
    """Repeat the last decisions of members."""
    for i in range(count):
        if c.leader[w, i] >= 0:
            traits.speed[w, i] = c.speed[w, i]
            if c.hosted[w, i]:
                goals.x[w, i], goals.y[w, i] = c.goal_x[w, i], c.goal_y[w, i]


@lean_kernel
def _groups(c, settings, dt, people, traits, minds, goals, maps, clock, first, last):
    for w in range(first, last):
        if clock.done[w]:
            continue
        count, step, key = traits.count[w], clock.step[w], clock.key[w]
        if step % settings.pause[0] != 0 and not c.stale[w]:
            _repeat(c, traits, goals, w, count)
            continue
        if step % settings.every[0] == 0 and step > 0 and (settings.join[0] > ZERO or settings.leave[0] > ZERO):
            come_and_go(c, people, traits, minds, goals, maps, settings, key, step, w, count)
        changed = c.stale[w]
        for i in range(count):
            group = traits.group[w, i] if people.active[w, i] and c.steered[w, i] else -1
            changed = changed or group != c.member[w, i]
        if changed:
            regroup(c, people, traits, minds, goals, settings, key, w, count)
            c.stale[w] = False
        for i in range(count):
            if c.leader[w, i] == i and not c.talks[w, i]:
                lead(c, people, goals, settings, w, i, dt)
        for i in range(count):
            if c.talks[w, i] and c.leader[w, i] >= 0:
                stand(c, people, traits, minds, goals, w, i, dt)
            elif c.leader[w, i] >= 0 and c.leader[w, i] != i:
                follow(c, people, traits, minds, goals, maps, clock, settings, w, i, dt)
        for i in range(count):
            if c.leader[w, i] == i and not c.talks[w, i]:
                wait(c, traits, settings, w, i, dt)
        for i in range(count):
            c.goal_x[w, i], c.goal_y[w, i], c.speed[w, i] = goals.x[w, i], goals.y[w, i], traits.speed[w, i]


@dataclass(frozen=True)
class Groups:
    """Members of a group (`agora.core.state.Traits.group`) walk together, or stand and talk together.

    In a walking group, one member, drawn with the episode's key, leads at the pace of the slowest. The others keep beside it in
    rows. The rows turn with the distance that the leader walks, never with its heading, so that nobody turns unnecessarily.
    Followers drift about their places, and begin with the deviation that their first position shows. A follower that has no room
    beside the leader, or does not see its place, follows the leader's path. Followers hurry when behind and dawdle when ahead; the
    leader slows down when somebody falls behind. A follower whose leader is gone walks on along its own waypoints.

    A group whose members' state is talking, listening or telling at the start stands about its o-space, which is where they
    look. Each returns to its place and turns to the others. Whoever gets the number of their group comes and is given room; whoever
    loses it walks its own way; walkers and members may do so by chance. Who is left alone is in no group. Groups of one and
    recorded pedestrians are left alone.

    Attributes:
        period: time between two decisions, s.
        abreast: most members in a row.
        spacing: distance between neighbours in a row, m; fitted to ETH/UCY, like drift and drift_time.
        row_gap: distance between rows, and between members in file, m.
        bend: metres ahead of the row's middle for every metre beside it: a row of three or more is a V.
        margin: free space that a place beside the leader needs beyond the follower's radius, m.
        drift: standard deviation of a follower's place, ahead and aside, m.
        drift_time: time in which such a deviation falls to 37 %, s.
        early: distance at which a leader's waypoint counts as reached, m: those beside it keep it off the point.
        wheel: metres that a leader walks while the direction of travel follows by 63 %.
        gain: share of the way to its place that a follower wants to make up each second, 1/s.
        catch_up: largest speed of a follower, in its preferred speeds.
        slack: distance of a follower from its place at which its leader begins to slow down, m.
        torn: distance of a follower from its place at which its leader nearly stops, m.
        patience: time for which a leader waits before it walks on for as long, s.
        join_rate: chance a second with which a lone walker within ``notice`` m of a conversation joins it, if they are fewer than
            ``most`` and there is room; not the one it left last.
        leave_rate: chance a second with which a member leaves, if it has somewhere else to go.
        notice: distance from a conversation within which a lone walker may join it, m.
        most: members up to which a conversation takes others in.
    """

    period: Period = 0.5
    abreast: Count = 4
    spacing: Length = 0.63
    row_gap: Length = 1.0
    bend: NotNegative = 0.25
    margin: Distance = 0.1
    drift: Distance = 0.12
    drift_time: Period = 5.8
    early: Duration = 1.0
    wheel: Positive = 1.0
    gain: Positive = 0.8
    catch_up: float = 1.5
    slack: NotNegative = 1.5
    torn: float = 4.0
    patience: Period = 10.0
    join_rate: NotNegative = 0.0
    leave_rate: NotNegative = 0.0
    notice: Distance = 4.0
    most: Count = 6

    def __post_init__(self) -> None:
        check_fields(self)
        if not 1.0 <= self.catch_up < math.inf:
            raise ValueError(f"catch_up must be at least 1, got {self.catch_up}")
        if not self.slack < self.torn < math.inf:
            raise ValueError(f"torn must be above slack, {self.slack}, got {self.torn}")
        for name in ("abreast", "most"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")

    def attach(self, world: World, every: int, sees: int) -> AttachedGroups:
        """Return the behaviour at work on a world."""
        return AttachedGroups(self, world, every)

    def settings(self, dt: float, crowd_every: int) -> GroupParameters:
        """Return the parameters as the kernel takes them.

        Args:
            dt: physics step, s.
            crowd_every: physics steps from one call to the next.
        """
        pause = crowd_every * max(1, round(self.period / (dt * crowd_every)))
        every = pause * max(1, round(_DRAWS / (dt * pause)))
        values: dict[str, Any] = vars(self) | {"pause": pause, "every": every}
        values |= {name: 1.0 - math.exp(-values[f"{name}_rate"] * every * dt) for name in ("join", "leave")}
        kept = math.exp(-pause * dt / self.drift_time)
        values |= {"kept": kept, "fresh": self.drift * math.sqrt(1.0 - kept * kept)}
        whole = ("abreast", "most", "pause", "every")
        return GroupParameters._make(np.array([values[n]], np.int32 if n in whole else np.float32) for n in GroupParameters._fields)


class AttachedGroups:
    """`Groups` at work on one world."""

    def __init__(self, groups: Groups, world: World, every: int) -> None:
        shape = (world.layout.worlds, world.slots)
        self._world, self._settings = world, groups.settings(world.dt, every)
        self._dt = float(self._settings.pause[0]) * world.dt
        self.company = GroupMemory(
            **{name: np.zeros(_shape(name, shape), _KINDS.get(name, np.float32)) for name in GroupMemory._fields}
        )

    def reset(self, world: int, start: Start) -> None:
        """Begin an episode: conversations are known by their members' states, the rest is found when the kernel looks."""
        company, replay = self.company, self._world.replay
        for field in company:
            field[world] = 0
        company.stale[world], company.beside[world] = True, 1.0
        company.member[world], company.left[world], company.leader[world] = -1, -1, -1
        company.steered[world] = replay.last[world] < replay.first[world]
        people = start.pedestrians
        talking = np.isin(people.state, _CONVERSATION) & (people.group >= 0)
        for group in np.unique(people.group[talking]):
            members = np.flatnonzero(people.group == group)
            if len(members) > 1 and talking[members].all():
                self._converse(world, members, people.position[members], people.heading[members], int(group))

    def _converse(self, world: int, members: Array, position: Array, heading: Array, group: int) -> None:
        """Members stand where they are, about the point that they look at."""
        company = self.company
        look = np.stack((np.cos(heading), np.sin(heading)), -1)
        centre = (position + float(o_space_radius(len(members))) * look).mean(0)
        company.member[world, members], company.number[world, members] = group, len(members)
        company.talks[world, members] = True
        company.place_x[world, members], company.place_y[world, members] = position.T
        company.centre_x[world, members], company.centre_y[world, members] = centre

    def think(self, generation: int) -> Callable[[int, int], None]:
        """Return the kernel, bound to one generation."""
        world = self._world
        records = (world.generation(generation)[0], world.traits, world.minds, world.waypoints, world.maps)
        return bind(_groups, self.company, self._settings, np.float32(self._dt), *records, world.status.clock)


def _shape(name: str, shape: tuple[int, int]) -> tuple[int, ...]:
    if name == "stale":
        return shape[:1]
    return (*shape, CRUMBS) if name.startswith("trail") else shape
