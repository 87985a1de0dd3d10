"""The one page that the author of a plug-in reads.

A component is a frozen dataclass: its fields are its parameters, and one entry point makes it known (`agora.registry`).
Units are SI, the frame is the map's unless said otherwise, headings are radians in (-pi, pi]. What is given is read-only: copy what
you keep.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from agora.core.semantics import ATTRIBUTES
from agora.core.state import Array, Bools, Doubles, Floats, Ints
from agora.errors import nearest
from agora.interfaces.simulator import Ability as Ability
from agora.interfaces.simulator import Bodies as Bodies
from agora.interfaces.simulator import Simulator as Simulator
from agora.robots.limits import Limits as Limits

if TYPE_CHECKING:
    from agora.maps.place import Place
    from agora.seeds import Stream
    from agora.world.start import Start
    from agora.world.world import World

Memory = dict[str, Array]
"""What a planner remembers between calls: arrays by name, each with the rows as its first axis; {} at the start of an episode."""


@dataclass(frozen=True, eq=False)
class Tracks:
    """Moving discs that a robot knows of; Q slots, masked.

    Attributes:
        position: (N, Q, 2) m.
        velocity: (N, Q, 2) m/s.
        radius: (N, Q) m.
        present: (N, Q) whether the slot holds something.
        id: (N, Q) identity.
        group: (N, Q) number of the walking group, -1 for none.
        type: (N, Q) number in `agora.core.state.TYPES`, which means nothing of robots; None where nobody knows it.
    """

    position: Floats
    velocity: Floats
    radius: Floats
    present: Bools
    id: Ints
    group: Ints
    type: Ints | None = None


@dataclass(frozen=True, eq=False)
class Costmap:
    """Costs of the cells about each robot (costmap_2d's scale: 254 lethal, 253 inscribed, 255 unknown, 0 free).

    Attributes:
        cost: (N, H, W) uint8.
        origin: (N, 2) lower-left corner, m.
        resolution: m per cell.
    """

    cost: Array
    origin: Floats
    resolution: float


@dataclass(frozen=True)
class SemanticWindow:
    """Which semantic maps a planner reads; the field ``semantics`` of a planner that needs "semantics".

    Attributes:
        attributes: names in `agora.core.semantics.ATTRIBUTES`.
        size: of a side, m.
        resolution: m per cell.
    """

    attributes: tuple[str, ...] = ("pedestrian", "pedestrian_moving", "pedestrian_vel_x", "pedestrian_vel_y", "pedestrian_type")
    size: float = 20.0
    resolution: float = 0.25

    def __post_init__(self) -> None:
        for name in self.attributes:
            if name not in ATTRIBUTES:
                raise ValueError(f"attributes: no semantic attribute called {name!r}; {nearest(name, ATTRIBUTES)}")
        if not (0 < self.resolution <= self.size and self.cells <= 1024):
            raise ValueError(f"size and resolution must give 1 to 1024 cells a side, got {self.size} and {self.resolution}")

    @property
    def cells(self) -> int:
        """Cells on a side."""
        return round(self.size / self.resolution)


@dataclass(frozen=True, eq=False)
class SemanticMaps:
    """Semantic attributes of the pedestrians about each robot; 0 where nobody is.

    Attributes:
        evidence: (N, A, H, W): in a cell the evidence of the largest size among the pedestrians who are in it.
        attributes: the A names.
        origin: (N, 2) lower-left corner, m; the cells lie on a lattice through (0, 0).
        resolution: m per cell.
    """

    evidence: Floats
    attributes: tuple[str, ...]
    origin: Floats
    resolution: float


@dataclass(frozen=True, eq=False)
class Observation:
    """What N robots know at one moment; a planner names in ``needs`` what it reads, the rest is None.

    Attributes:
        pose: (N, 3) x, y, heading.
        twist: (N, 3) vx, vy, omega in the robot's frame.
        goal: (N, 3) pose to reach.
        radius: (N,) of the disc about the footprint, m.
        footprint: (N, V, 2) corners in the robot's frame, m; V = 0 for discs.
        limits: of the robots.
        dt: control period, s.
        goal_tolerance, heading_tolerance: (N,) how near to the goal is enough, m and rad; the latter pi or more for any heading,
            as where it is None.
        path: (N, K, 2) global path, m; after ``path_count`` points it repeats the last.
        path_count: (N,).
        pedestrians, robots: who is near ("pedestrians", "robots" in ``needs``).
        scan: (N, B) ranges, m. scan_angles: (B,) of the beams in the sensor's frame, rad.
        scan_pose: (3,) of the sensor in the robot's frame. scan_range: largest range, m.
        costmap: local window about the robot.
        semantics: semantic maps about the robot.
    """

    pose: Floats
    twist: Floats
    goal: Floats
    radius: Floats
    footprint: Floats
    limits: Limits
    dt: float
    goal_tolerance: Floats | None = None
    heading_tolerance: Floats | None = None
    path: Floats | None = None
    path_count: Ints | None = None
    pedestrians: Tracks | None = None
    robots: Tracks | None = None
    scan: Floats | None = None
    scan_angles: Floats | None = None
    scan_pose: Floats | None = None
    scan_range: float | None = None
    costmap: Costmap | None = None
    semantics: SemanticMaps | None = None


Need = Literal["path", "pedestrians", "robots", "scan", "costmap", "semantics"]

NOTES = {"reason": np.int8, "speed_limit": np.float32, "danger": np.float32}
"""What a `BatchPlanner` can have written into the episode's record at every call, and the types.

It names them in an attribute ``notes``, as it does what it reads in ``needs``: ``notes = frozenset({"reason"})``. Every memory that
it returns then holds an array (N,) of each, under ``NOTE + name``; they are not given back to it. Who names none pays nothing.

``reason`` is the number of an `agora.core.recording.Reason`: why a robot stands, or does something else than go on along its path
(blocked, started in contact, the solver did not converge, escaping ...); 0 for none. ``speed_limit`` and ``danger`` are those of a
`Guidance`, which `agora.planners.guided.Guided` notes.

Two reasons need no planner: a robot whose planner needs a path and that has none stands, whatever its planner says, for the reason
``NO_PATH``; and at the first call of one that touches something ``START_IN_CONTACT`` is noted, if its planner notes nothing.
"""
NOTE = "note."

SEEN = "seen."
"""Begins the names of those arrays of a memory that hold what the robot has seen: zeros where its costmaps are cleared."""

Label = Literal["faithful", "small", "reconstruction", "own"]
"""What a planner claims to be, its attribute ``label``: the published method, whose differences the module's docstring names; a
published learned one with a smaller network or less training; one rebuilt from a publication that leaves much unsaid; or, where a
planner says nothing, its author's own.
"""


@dataclass(frozen=True)
class Span:
    """What `agora tune` or `agora calibrate` may try for a parameter.

    The attribute ``tunable`` of a planner or crowd model maps names of its fields to spans.

    Attributes:
        low, high: least and largest value, whole numbers for a field of whole numbers.
        log: whether all orders of magnitude are alike, for scales and weights.
    """

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high or (self.log and self.low <= 0):
            raise ValueError(f"low must be below high, and above 0 where log is set; got {self.low} and {self.high}")


class BatchPlanner(Protocol):
    """A local planner for a batch: rows share no state.

    ``label`` (`Label`), ``tunable`` (`Span` by field), ``concurrent`` (True: threads may call ``act`` at the same time, each for
    some of the rows) and ``turns_at_goal`` (True: it turns to the goal's heading itself; else the library does) may stand beside.
    """

    needs: ClassVar[frozenset[str]]

    def act(self, observation: Observation, memory: Memory) -> tuple[Floats, Memory]:
        """Return twists (N, 3) in the robot's frame, and the memory for the next call."""


class Planner(Protocol):
    """A local planner for one robot, the form to start with: arrays come without the leading axis N.

    ``memory`` is None at the start of an episode and may be any tuple of arrays of fixed shape afterwards.
    """

    needs: ClassVar[frozenset[str]]

    def plan(self, observation: Observation, memory: Any) -> tuple[tuple[float, float, float], Any]:
        """Return the twist (vx, vy, omega) in the robot's frame, and the memory for the next call."""


@dataclass(frozen=True, eq=False)
class Guidance:
    """What an interplanner makes of the paths of N robots.

    Attributes:
        path: (N, K, 2) m; after ``path_count`` points it repeats the last.
        path_count: (N,); 0 where there is no way: the robot stands, unless its local planner is recovering.
        goal: (N, 3) pose at the end of the path.
        speed: (N,) how fast the local planner may be, in its own top speeds: 1 for no change, 0 for standing still.
        danger: (N,) from 0, nobody about, to 1.
        reason: (N,) int8, numbers of an `agora.core.recording.Reason`: why it is not the path; None for no reason anywhere.
        pedestrians: whom the local planner is told of instead of those who are there; None for no change.
        twist: (N, 3) what robots do instead of what the local planner says, in the rows that overrule it; None for none.
        overrules: (N,) those rows.
    """

    path: Floats
    path_count: Ints
    goal: Floats
    speed: Floats
    danger: Floats
    reason: Array | None = None
    pedestrians: Tracks | None = None
    twist: Floats | None = None
    overrules: Bools | None = None


class InterPlanner(Protocol):
    """Path to path, between the global and the local planner, for a batch: rows share no state.

    It always needs the path; `agora.planners.guided.Guided` puts it in front of any local planner. ``concurrent`` may stand beside,
    as for a `BatchPlanner`.
    """

    needs: ClassVar[frozenset[str]]

    def guide(self, observation: Observation, memory: Memory) -> tuple[Guidance, Memory]:
        """Return what the local planner is to follow, and the memory for the next call."""


class GlobalPlanner(Protocol):
    """Map to path."""

    def path(
        self,
        clearance: Floats,
        resolution: float,
        origin: Floats,
        start: Doubles,
        goal: Doubles,
        radius: float,
        cost: Array | None = None,
    ) -> Floats | None:
        """Return the path (K, 2) from start (2,) to goal (2,), m; None where there is none.

        ``clearance`` (rows, columns) is the distance to the nearest obstacle, m; ``origin`` (2,) the lower-left corner; ``cost``
        (rows, columns) uint8 what `CostmapLayer` have put on the cells, 0 to 252, nothing where it is None.
        """


class CostmapLayer(Protocol):
    """Puts costs about pedestrians on local costmaps and on the map of the global planner; a frozen dataclass of its parameters."""

    attribute: str
    """The semantic attribute that it reads; "pedestrian" where it is enough that somebody is there."""

    def kernel(self) -> Any:
        """Return the compiled function of ``(parameters, position, velocity, heading, evidence, present, cost, origin, cell, first,
        last)``: for rows ``first <= n < last`` it raises ``cost`` (N, H, W) uint8, on costmap_2d's scale, from pedestrians at
        ``position`` (N, Q, 2), ``velocity`` (N, Q, 2), ``heading`` and ``evidence`` (N, Q), where ``present`` (N, Q); ``origin``
        (N, 2) are the lower-left corners, ``cell`` the resolution, m. Lethal and unknown cells stay.
        """

    def parameters(self) -> Floats:
        """Return the layer's parameters in the kernel's order."""


@dataclass(frozen=True, eq=False)
class CrowdScene:
    """Generation t of the crowd, as a user-written model sees it.

    Attributes:
        position, velocity, waypoint: (W, P, 2) m and m/s.
        radius, preferred_speed: (W, P) m and m/s.
        active: (W, P) whether the slot is in use; rows of others mean nothing.
        group: (W, P) number of the walking group, -1 for none. id: (W, P) identity.
        heading: (W, P) direction of the last motion, rad.
        type, state: (W, P) numbers in `agora.core.state.TYPES` and ``SOCIAL_STATES``.
        wall_distance: (W, P) distance to the nearest wall, m. wall_direction: (W, P, 2) unit vector away from it.
        clearance: the same of any points (W, K, 2), m: a function that returns distances (W, K) and directions (W, K, 2).
        robot_position, robot_velocity: (W, R, 2) m and m/s. robot_radius: (W, R) m.
        robot_active: (W, R) False where robots are not seen.
        sees_pedestrians: whether the suite lets pedestrians see each other.
        dt: s until the model is called again: the crowd period, or less for a model with a ``max_step``.
    """

    position: Floats
    velocity: Floats
    waypoint: Floats
    radius: Floats
    preferred_speed: Floats
    active: Bools
    group: Ints
    id: Ints
    heading: Floats
    type: Ints
    state: Ints
    wall_distance: Floats
    wall_direction: Floats
    clearance: Callable[[Floats], tuple[Floats, Floats]]
    robot_position: Floats
    robot_velocity: Floats
    robot_radius: Floats
    robot_active: Bools
    sees_pedestrians: bool
    dt: float


class CrowdModel(Protocol):
    """Moves pedestrians: one function over arrays."""

    output: ClassVar[Literal["acceleration", "velocity"]]

    def compute(self, scene: CrowdScene) -> Floats:
        """Return accelerations or velocities (W, P, 2), as ``output`` says; rows that are not active are ignored."""


@runtime_checkable
class CompiledCrowdModel(Protocol):
    """A built-in crowd model: a kernel over worlds ``first <= w < last``.

    The kernel's arguments are ``(parameters, dt, sees, pedestrians, traits, waypoints, robots, robot_traits, maps, out_x, out_y,
    first, last)``: ``sees`` has bit 1 set where pedestrians see each other, bit 2 where they see robots; it writes (W, P).
    """

    output: ClassVar[Literal["acceleration", "velocity"]]

    def kernel(self) -> Any:
        """Return the compiled function."""

    def parameters(self) -> Floats:
        """Return the model's parameters in the kernel's order."""


AnyCrowdModel = CrowdModel | CompiledCrowdModel
"""A crowd model of either form.

Three attributes more, fields or of the class, are read where a model has them: ``max_speed_factor``, the cap of the speed in
preferred speeds (1 where it has none), and ``max_step``, the longest step in s that it may be called with: with a shorter one
than the suite's crowd period it is called more often, and ``dt`` is that step (`agora.engine.crowd`); ``last_step``, whom its
pedestrians do not step into where the suite's crowd is not ``faithful`` (`agora.engine.careful`): "all", as where it has none,
"robots" where the model's own forces act between bodies that touch, or "nothing" where it moves people who mind nobody.
"""


class AttachedBehaviour(Protocol):
    """A behaviour at work on one world record; what it remembers of the pedestrians are arrays (W, P) of its own."""

    def reset(self, world: int, start: Start) -> None:
        """Begin an episode in one world."""

    def think(self, generation: int) -> Callable[[int, int], None]:
        """Return the function of (first, last) that decides for worlds ``first <= w < last``, reading this generation (0 or 1)."""


class Behaviour(Protocol):
    """Decides, before the crowd model moves them, where pedestrians want to go and how fast; behaviours decide in their order.

    It writes the current waypoint (``world.waypoints.x``, ``y``), the preferred speed (``world.traits.speed``), the minds
    (``world.minds``), the headings of those who stand, and, where it takes somebody's way over, how the list is followed (its
    count, index, mode and tolerance) and the group; it reads generation t of everybody's places, and nothing of it depends on
    slots or other worlds. Before the first behaviour decides, every waypoint is the list's current one again and every speed the
    undisturbed one (``world.minds.speed``): who wants something else says so every time, and later behaviours see what earlier
    ones decided. Waypoints of the list count as reached whatever the current one is. Whose mind a behaviour has taken over
    (``world.minds.taken``) is left alone by the others, as those are who stand in a conversation of ``groups``. Worlds that are
    done are left alone.
    """

    def attach(self, world: World, every: int, sees: int) -> AttachedBehaviour:
        """Return the behaviour at work on the worlds of a batch.

        Args:
            world: their records; the behaviour keeps them.
            every: physics steps between two decisions.
            sees: whom pedestrians react to; bits as for a `CompiledCrowdModel`.
        """


class MapGenerator(Protocol):
    """Makes places; a frozen dataclass whose fields are its parameters."""

    def generate(self, stream: Stream) -> Place:
        """Return a place that depends on the parameters and the stream alone.

        Raises:
            PlacementError: the parameters cannot be met; the message says which and why.
        """
