"""Groups that walk with a leader, and groups that stand and talk.

Walking: S. Sarker Roy et al., TAGA, 2025 (the leader is chosen at random among the members; a follower's velocity is the leader's
plus a fraction of the follower's own distance to its place), with the rows of M. Moussaid et al., "The walking behaviour of
pedestrian social groups and its impact on crowd dynamics", PLoS ONE 5(4), 2010. In contrast, Arena 3.0 gives every member the
leader's goal plus an offset on a ring, so members that have been pushed off their points turn on the spot when they arrive.
Standing: A. Kendon, Conducting Interaction, 1990.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from agora.core.jit import bind, hidden, lean_kernel
from agora.core.scalar import ZERO
from agora.core.state import SOCIAL_STATES, Array
from agora.pedestrians.behaviours.groups._roles import GroupMemory, GroupParameters, regroup
from agora.pedestrians.behaviours.groups._talk import join_and_leave, stand_in_circle
from agora.pedestrians.behaviours.groups._walk import CRUMBS, follow_leader, lead_group, wait_for_members
from agora.pedestrians.shared.formations import o_space_radius
from agora.ranges import LARGEST, Checked, Count, Distance, Duration, Length, NotNegative, Period, Positive, Within

if TYPE_CHECKING:
    from agora.world.start import Start
    from agora.world.world import World

_CONVERSATION = [SOCIAL_STATES.index(name) for name in ("talking", "listening", "telling")]
_KINDS: dict[str, Any] = dict.fromkeys(("stale", "steered", "hosted", "talks"), np.bool_)
_KINDS |= dict.fromkeys(("member", "left", "leader", "number", "count", "mode", "newest", "crumbs"), np.int32)
_DRAWS = 1.0  # s, time between random draws for joining and leaving


@hidden
def _repeat_decisions(c, traits, goals, w, count):
    """Repeat the previous decisions for members."""
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
            _repeat_decisions(c, traits, goals, w, count)
            continue
        if step % settings.every[0] == 0 and step > 0 and (settings.join[0] > ZERO or settings.leave[0] > ZERO):
            join_and_leave(c, people, traits, minds, goals, maps, settings, key, step, w, count)
        changed = c.stale[w]
        for i in range(count):
            group = traits.group[w, i] if people.active[w, i] and c.steered[w, i] else -1
            changed = changed or group != c.member[w, i]
        if changed:
            regroup(c, people, traits, minds, goals, settings, key, w, count)
            c.stale[w] = False
        for i in range(count):
            if c.leader[w, i] == i and not c.talks[w, i]:
                lead_group(c, people, goals, settings, w, i, dt)
        for i in range(count):
            if c.talks[w, i] and c.leader[w, i] >= 0:
                stand_in_circle(c, people, traits, minds, goals, w, i, dt)
            elif c.leader[w, i] >= 0 and c.leader[w, i] != i:
                follow_leader(c, people, traits, minds, goals, maps, clock, settings, w, i, dt)
        for i in range(count):
            if c.leader[w, i] == i and not c.talks[w, i]:
                wait_for_members(c, traits, settings, w, i, dt)
        for i in range(count):
            c.goal_x[w, i], c.goal_y[w, i], c.speed[w, i] = goals.x[w, i], goals.y[w, i], traits.speed[w, i]


@dataclass(frozen=True)
class Groups(Checked):
    """Makes members of a group (`agora.core.state.Traits.group`) walk together, or stand and talk.

    In a walking group, one member leads at the speed of the slowest member. It is chosen at random, using the episode's key. The
    others walk next to the leader in rows. The rows turn with the distance that the leader walks, not with its heading, so that no
    one turns unnecessarily. Followers drift around their places; the initial drift of a follower is the deviation of its first
    position from its place. A follower that has no room next to the leader, or cannot see its place, follows the leader's path.
    Followers speed up if they are behind their places and slow down if they are ahead; the leader slows down if a member falls
    behind. A follower whose leader is gone continues along its own waypoints.

    A group whose members are talking, listening or telling a story at the start stands around its o-space, whose centre its members
    look at. Members that are pushed away return to their places and turn to the others. A pedestrian that is assigned to a group
    joins it and gets a place; a pedestrian that is removed from a group continues along its own waypoints. At random, lone walkers
    may also join a conversation, and members may leave it. A member that is left alone no longer belongs to a group. Groups of one
    and recorded pedestrians are unaffected.

    Attributes:
        period: time between decisions, s.
        abreast: maximum number of members in a row.
        spacing: distance between neighbours in a row, m; fitted to ETH/UCY, as are ``drift`` and ``drift_time``.
        row_gap: distance between rows, and between members walking in single file, m.
        bend: distance of a member ahead of the row's middle, per metre of its sideways distance from the middle; bends a row of
            three or more into a V.
        margin: free space that a place next to the leader needs in addition to the follower's radius, m.
        drift: standard deviation of a follower's deviation from its place, ahead and sideways, m.
        drift_time: time in which a deviation decays to 37 %, s.
        early: distance at which a leader's waypoint counts as reached, m; needed because members next to the leader keep it away
            from the waypoint.
        wheel: distance that a leader walks while the group's direction of travel makes up 63 % of a change of direction, m.
        gain: fraction of its distance to its place that a follower tries to make up per second, 1/s.
        catch_up: maximum speed of a follower, as a multiple of its preferred speed.
        slack: distance of a follower from its place at which its leader starts to slow down, m.
        torn: distance of a follower from its place at which its leader nearly stops, m.
        patience: time for which a leader waits, s; it then walks on for the same time before it waits again.
        join_rate: probability per second that a lone walker within ``notice`` metres of a conversation joins it, provided that the
            conversation has fewer than ``most`` members and room for another. A walker does not rejoin the conversation that it
            left last.
        leave_rate: probability per second that a member leaves a conversation, if it has another destination.
        notice: distance from a conversation within which a lone walker may join it, m.
        most: maximum number of members that a conversation may reach when others join.
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
    catch_up: Annotated[float, Within(1.0, LARGEST)] = 1.5
    slack: NotNegative = 1.5
    torn: Positive = 4.0
    patience: Period = 10.0
    join_rate: NotNegative = 0.0
    leave_rate: NotNegative = 0.0
    notice: Distance = 4.0
    most: Count = 6

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.slack < self.torn:
            raise ValueError(f"torn: must be above slack ({self.slack}), got {self.torn}")

    def attach(self, world: World, every: int, sees: int) -> AttachedGroups:
        """Attach the behaviour to a world."""
        return AttachedGroups(self, world, every)

    def settings(self, dt: float, crowd_every: int) -> GroupParameters:
        """Return the parameters in the form that the kernel expects.

        Args:
            dt: physics step, s.
            crowd_every: number of physics steps between calls.
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
    """`Groups` attached to one world."""

    def __init__(self, groups: Groups, world: World, every: int) -> None:
        shape = (world.layout.worlds, world.slots)
        self._world, self._settings = world, groups.settings(world.dt, every)
        self._dt = float(self._settings.pause[0]) * world.dt
        self.company = GroupMemory(
            **{name: np.zeros(_shape(name, shape), _KINDS.get(name, np.float32)) for name in GroupMemory._fields}
        )

    def reset(self, world: int, start: Start) -> None:
        """Start an episode. Conversations are recognised by the states of their members; the kernel finds walking groups on its
        first call.
        """
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
        """Make the members of a conversation stand where they are, around the point that they look at."""
        company = self.company
        look = np.stack((np.cos(heading), np.sin(heading)), -1)
        centre = (position + float(o_space_radius(len(members))) * look).mean(0)
        company.member[world, members], company.number[world, members] = group, len(members)
        company.talks[world, members] = True
        company.place_x[world, members], company.place_y[world, members] = position.T
        company.centre_x[world, members], company.centre_y[world, members] = centre

    def think(self, generation: int) -> Callable[[int, int], None]:
        """Return the kernel, bound to the given generation (0 or 1) of the state."""
        world = self._world
        records = (world.generation(generation)[0], world.traits, world.minds, world.waypoints, world.maps)
        return bind(_groups, self.company, self._settings, np.float32(self._dt), *records, world.status.clock)


def _shape(name: str, shape: tuple[int, int]) -> tuple[int, ...]:
    if name == "stale":
        return shape[:1]
    return (*shape, CRUMBS) if name.startswith("trail") else shape
