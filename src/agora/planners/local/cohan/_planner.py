"""CoHAN's human-aware timed elastic bands (the HATEB local planner) as a local planner.

Singamaneni, Favier and Alami, "Human-aware navigation planner for diverse human-robot interaction contexts", IROS 2021; Khambhaita
and Alami, "Viewing robot navigation in human environment as a cooperative activity", ISRR 2017; equations, weights and thresholds
are based on the hateb_local_planner package of CoHAN 2 for ROS 1. The robot has the band of `teb`, including the differences from
the source listed in `teb`. The nearest two walking people have bands, too. All bands are optimised jointly, so the robot also plans
how people will make way for it.

If there is no moving person to consider, only the robot has a band (single band). If a moving person is in sight, people have
bands, too (dual band). If the robot has not come closer to its goal for 2 s while a person is within 2.5 m, people are treated as
discs that move at constant velocity (velocity obstacles). If the nearest person has stopped and the robot has been in that mode for
2 s, the robot backs off to a position next to its path and waits until the person has passed, for at most 30 s. In a door, the
robot drives slowly, and people are treated as discs.

Differences from the source:
- Two errors in upstream are fixed: the field of view is in radians instead of degrees, and the weight for the distance between two
  people takes effect.
- The weight for people that may step out is 0.1 instead of 1, because the costmap contains many edges, and the robot would
  otherwise stop at each of them.
- People's bands are initialised from the predicted path, at the person's own speed; upstream assumes, in dual-band mode, that
  people walk to a point behind the robot. The bands are reinitialised in every period.
- A person counts as walking at more than 0.1 m/s. People who stand still are static obstacles; their heading is unknown, so there
  is no cost for being behind them.
- Doors, and positions from which a person may step out, are detected in the costmap; upstream gets them from separate nodes.
- A robot returns to the single band as soon as there is no moving person to consider; in upstream, it does so only after backing
  off or with a new goal. People behind a wall in the costmap are not considered.
- The robot backs off only to a position in the costmap that it can reach in a straight line.
- Limits that are not set default to the robot's own; upstream's limits are in the `cohan_pr2` preset.

Narrow places: a robot is represented by its circumscribed disc, which must stay 0.2 m away from walls. The robot does not enter a
place that is too narrow for this disc, such as a 1.0 m corridor for `f1tenth`, or the lanes of a hairpin for `youbot` and
`buddy`. The robot stops in front of two people that stand closer together than its own width, and does not search for another path.

Not implemented: upstream's costmap layers around people, prediction of goals from a list of places, alternative paths around
obstacles.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from agora.core.recording import Reason
from agora.core.state import freeze
from agora.errors import InputError
from agora.interfaces import Answer, Declaration, Memory, Observation, Span
from agora.planners._bands.costs import STEP, WIDTH, Bounds, Near
from agora.planners._bands.discs import MOMENT, MOMENTS
from agora.planners._expected import discs, needs_of
from agora.planners._limits import own
from agora.planners.local.cohan._costs import BANDS, WIDEST, Crowd, Social
from agora.planners.local.cohan._people import MOST
from agora.planners.local.cohan._plan import Humans, Mood, Room, plan_among
from agora.planners.local.teb import Teb
from agora.planners.local.teb.scene import copy_memory, scene_of, scratch_of
from agora.ranges import Checked, Distance, NotNegative, Positive, Speed, TopSpeed

_LOCAL = threading.local()
_KNOWN, _HIDDEN = 64, 12

_TUNABLE: dict[str, Span] = {
    "min_agent_robot_dist": Span(0.3, 1.2),
    "rel_vel_cost_threshold": Span(0.8, 3.0),
    "visibility_cost_threshold": Span(0.5, 4.0),
    "weight_agent_robot_safety": Span(1.0, 100.0, log=True),
    "weight_agent_robot_rel_vel": Span(0.5, 50.0, log=True),
    "weight_agent_robot_visibility": Span(0.5, 50.0, log=True),
}


def _band() -> Teb:
    """Return the settings of the robot's band: upstream's values for all settings that do not depend on the robot."""
    return Teb(
        max_vel_x_backwards=0.4,
        min_obstacle_dist=0.2,
        min_lane_dist=None,
        inflation_dist=0.3,
        footprint_model="circular",
        free_goal_vel=True,
        global_plan_viapoint_sep=0.2,
        penalty_epsilon=0.01,
        weight_kinematics_forward_drive=10.0,
        weight_shortest_path=1.0,
        weight_viapoint=0.05,
        no_inner_iterations=8,
        max_number_classes=1,
        roadmap_graph_no_samples=0,
    )


@dataclass(frozen=True)
class Cohan(Checked):
    """Jointly optimises the bands of the robot and of the nearest two walking people, and drives the first step of the robot's
    band.

    Attributes:
        band: settings of the robot's band: a `teb` with a single homotopy class (``max_number_classes: 1``).
        planning_radius: distance within which people are considered, m.
        agent_radius: radius of a person, m.
        max_agent_vel_x: maximum forward speed of a person, m/s.
        max_agent_vel_y: maximum sideways speed of a person, m/s.
        max_agent_vel_x_backwards: maximum backward speed of a person, m/s.
        max_agent_vel_theta: maximum turning rate of a person, rad/s.
        agent_acc_lim_x: acceleration limit of a person, m/s2.
        agent_acc_lim_y: sideways acceleration limit of a person, m/s2.
        agent_acc_lim_theta: angular acceleration limit of a person, rad/s2.
        agent_fov: angle to either side of a person's heading within which the person sees the robot, rad.
        add_invisible_humans: whether to consider people that may step out from behind an edge.
        min_agent_robot_dist: desired minimum distance between the robot and a person, m.
        min_agent_agent_dist: desired minimum distance between two people, m.
        rel_vel_cost_threshold: relative-velocity cost below which there is no penalty, 1/s.
        visibility_cost_threshold: visibility cost below which there is no penalty.
        invisible_human_threshold: desired minimum time until the robot would meet a person that steps out, s.
        passage_width: width below which a passage counts as a door, m.
        passage_vel: maximum speed in a door, m/s.
        weight_max_agent_vel_x: weight of the squared residual of a person's speed limit.
        weight_max_agent_vel_y: weight of the squared residual of a person's sideways speed limit.
        weight_max_agent_vel_theta: weight of the squared residual of a person's turning-rate limit.
        weight_nominal_agent_vel_x: weight of the squared difference between a person's planned speed and current speed (or 0.3 m/s,
            if the current speed is lower).
        weight_agent_acc_lim_x: weight of the squared residual of a person's acceleration limit.
        weight_agent_acc_lim_y: weight of the squared residual of a person's sideways acceleration limit.
        weight_agent_acc_lim_theta: weight of the squared residual of a person's angular acceleration limit.
        weight_agent_optimaltime: weight of the squared time between the poses of a person's band.
        weight_agent_viapoint: weight of the squared distance between a person's band and the points of the person's predicted path.
        weight_agent_robot_safety: weight of the squared residual of the distance between the robot and a person.
        weight_agent_agent_safety: weight of the squared residual of the distance between two people.
        weight_agent_robot_rel_vel: weight of the squared residual of the cost of the relative velocity.
        weight_agent_robot_visibility: weight of the squared residual of the cost of being outside a person's field of view.
        weight_invisible_human: weight of the squared residual of the time until the robot would meet a person that steps out.
    """

    band: Teb = field(default_factory=_band)
    planning_radius: Distance = 10.0
    agent_radius: Distance = 0.3
    max_agent_vel_x: TopSpeed = 1.3
    max_agent_vel_y: Speed = 0.4
    max_agent_vel_x_backwards: Speed = 0.01
    max_agent_vel_theta: Positive = 1.1
    agent_acc_lim_x: Positive = 0.6
    agent_acc_lim_y: NotNegative = 0.3
    agent_acc_lim_theta: Positive = 0.8
    agent_fov: NotNegative = 0.5 * math.pi
    add_invisible_humans: bool = True
    min_agent_robot_dist: Distance = 0.6
    min_agent_agent_dist: Distance = 0.4
    rel_vel_cost_threshold: NotNegative = 1.5
    visibility_cost_threshold: NotNegative = 2.5
    invisible_human_threshold: NotNegative = 1.0
    passage_width: Distance = 1.3
    passage_vel: TopSpeed = 0.2
    weight_max_agent_vel_x: NotNegative = 4.0
    weight_max_agent_vel_y: NotNegative = 4.0
    weight_max_agent_vel_theta: NotNegative = 2.0
    weight_nominal_agent_vel_x: NotNegative = 2.0
    weight_agent_acc_lim_x: NotNegative = 2.0
    weight_agent_acc_lim_y: NotNegative = 2.0
    weight_agent_acc_lim_theta: NotNegative = 2.0
    weight_agent_optimaltime: NotNegative = 3.0
    weight_agent_viapoint: NotNegative = 0.5
    weight_agent_robot_safety: NotNegative = 5.0
    weight_agent_agent_safety: NotNegative = 2.0
    weight_agent_robot_rel_vel: NotNegative = 5.0
    weight_agent_robot_visibility: NotNegative = 5.0
    weight_invisible_human: NotNegative = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.band.max_number_classes != 1:
            raise InputError(f"band: max_number_classes: must be 1, is {self.band.max_number_classes}")

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the planner."""
        return Declaration(
            needs=needs_of(self.band.prediction.part, ("path", self.band.window, "pedestrians", "robots")),
            label="small",
            tunable=_TUNABLE,
            notes=("reason",),
            concurrent=True,
            turns_at_goal=True,
            top_speed=float(own(self.band.max_vel_x)),
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3); the memory, i.e. the memory of `teb` plus modes and people's states; and the reasons why robots
        stop or back off.
        """
        o = observation
        assert o.path is not None and o.path_count is not None and o.costmap is not None and o.pedestrians is not None
        rows = len(o.pose)
        recall, mood = copy_memory(self.band, memory, rows, o.dt), _copy_memory(memory, rows)
        about, foretold = discs(self.band.prediction.part, o, MOMENTS, float(MOMENT), memory.get("prediction", {}))
        twists, reasons = np.zeros((rows, 3), np.float32), np.full(rows, Reason.NO_PATH, np.int8)
        if o.path.shape[1] > 0:
            names, others = freeze(o.pedestrians.id.astype(np.int32, copy=False)), np.array(about.present, order="C")
            known = self.band.parameters(o.dt), self._humans(o.dt), scene_of(self.band, o, about), names, others
            plan_among(*known, recall, mood, scratch_of(self.band, o), self._scratch(o), twists, reasons, 0, rows)
        return Answer(twists, recall._asdict() | mood._asdict() | {"prediction": foretold}, {"reason": reasons})

    def _humans(self, dt: float) -> Humans:
        """Return the kernel parameters that concern people."""
        f = np.float32
        named = [getattr(self, f"weight_{name}") for name in Social._fields[:6]]
        limits = (
            *(self.min_agent_robot_dist, self.min_agent_agent_dist, self.rel_vel_cost_threshold),
            *(self.visibility_cost_threshold, self.invisible_human_threshold),
        )
        view = min(self.agent_fov, math.pi)
        social = (*named, self.band.penalty_epsilon, *limits, math.cos(view), self.agent_radius)
        weights = self.band.weights._replace(
            max_vel_x=f(self.weight_max_agent_vel_x),
            max_vel_y=f(self.weight_max_agent_vel_y),
            max_vel_theta=f(self.weight_max_agent_vel_theta),
            acc_lim_x=f(self.weight_agent_acc_lim_x),
            acc_lim_y=f(self.weight_agent_acc_lim_y),
            acc_lim_theta=f(self.weight_agent_acc_lim_theta),
            optimaltime=f(self.weight_agent_optimaltime),
            viapoint=f(self.weight_agent_viapoint),
            shortest_path=f(0.0),
        )
        speeds = (self.max_agent_vel_x, self.max_agent_vel_x_backwards, self.max_agent_vel_y, self.max_agent_vel_theta)
        gains = (self.agent_acc_lim_x, self.agent_acc_lim_y, self.agent_acc_lim_theta)
        bounds = Bounds(*(f(value) for value in (*speeds, *gains, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)))
        return Humans(
            *(f(dt), f(self.planning_radius), f(self.passage_width), f(self.passage_vel)),
            self.add_invisible_humans and self.weight_invisible_human > 0.0,
            Social(*(f(value) for value in social)),
            weights,
            bounds,
        )

    def _scratch(self, o: Observation) -> Room:
        """Return the working memory of this thread, kept for the next call."""
        assert o.costmap is not None and o.pedestrians is not None and o.robots is not None
        most, scratch = self.band.max_samples, scratch_of(self.band, o)
        key = (most, len(scratch.near.still), len(scratch.near.moving))
        if getattr(_LOCAL, "key", None) != key:
            f, i, rows = np.float32, np.int32, 4 * most * BANDS
            crowd = Crowd(
                *(np.zeros((BANDS, most, 4), f), np.zeros((BANDS, most, 4), f), np.zeros(BANDS, np.int32), np.zeros(BANDS, f)),
                *(np.zeros((_HIDDEN, 2), f), np.zeros(1, i), np.zeros((BANDS, most, 2), f), np.zeros((BANDS, most, STEP), f)),
                *(np.zeros((BANDS, 4 * most, WIDTH + 1), f), np.zeros((BANDS, 4 * most), f)),
                *(np.zeros((rows, WIDEST + 1), f), np.zeros((rows, WIDEST + 1), f), np.zeros(rows, f), np.zeros(rows, f)),
                *(np.zeros(WIDEST + 1, f), np.zeros(10, np.int32)),
            )
            nears = [_empty_like(scratch.near) for _ in range(BANDS)]
            ways, seen = np.zeros((2, MOMENTS + 1, 2), f), np.zeros((MOST, 3), f)
            _LOCAL.room, _LOCAL.key = Room(crowd, (nears[0], nears[1], nears[2]), ways, seen), key
        room: Room = _LOCAL.room
        return room


def _empty_like(near: Near) -> Near:
    """Return uninitialised arrays with the same shapes as those of ``near``."""
    return near._replace(**{name: np.empty_like(array) for name, array in near._asdict().items()})


def _copy_memory(memory: Memory, rows: int) -> Mood:
    """Return a copy of the memory about people; zeros at the start of an episode."""
    if memory:
        return Mood(*(memory[name].copy() for name in Mood._fields))
    known, none = np.zeros((2, rows, _KNOWN), np.int32), np.zeros((2, rows), np.int32)
    return Mood(none[0], np.zeros((rows, 4), np.float32), known[0], known[1], np.zeros((rows, 3), np.float32), none[1])
