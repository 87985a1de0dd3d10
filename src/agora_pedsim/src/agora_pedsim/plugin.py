"""Forces on pedestrians from a user-written plugin, which works on arrays or, as in Arena, on lists of messages.

A plugin that works on arrays is a crowd model (`agora.interfaces.CrowdModel`, or a function with
`agora.pedestrians.function.crowd_model`): ``compute(scene)`` returns accelerations or velocities. Every crowd model of the library
can also be used as a plugin. A plugin that works on messages is a `Forcemodel`: ``compute(in_data, work_data)`` changes
``work_data`` in place.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Protocol

import numpy as np
from agora_ros.conversions import heading_of
from geometry_msgs.msg import Vector3
from pedsim_msgs.msg import AgentFeedback, AgentFeedbacks, AgentState, PedsimAgentsDataframe

from agora.core.state import SOCIAL_STATES, STAY, TYPES, Array
from agora.draft.periods import Periods
from agora.draft.stage import CrowdSettings, Stage
from agora.errors import InputError, nearest
from agora.maps.grid import Map
from agora.node_logic.arena import crowd_model, state_number
from agora.node_logic.crowd import Crowd
from agora.registry import Named, available
from agora.robots.model import RobotModel
from agora.world.start import PedestrianStarts, RobotStart, Start

_WALKING = SOCIAL_STATES.index("walking")
_MARGIN = 20.0  # m, free space around all known objects
_DISC = RobotModel(name="robot", kinematics="holonomic", radius=0.3, vx=(-2.0, 2.0), vy=2.0, omega=3.0)


@dataclass
class InData:
    """The input of a plugin that works on messages: the lists in a ``pedsim_msgs/PedsimAgentsDataframe``."""

    header: Any
    agents: list[Any]
    robots: list[Any]
    groups: list[Any]
    waypoints: list[Any]
    walls: list[Any]
    obstacles: list[Any]

    @staticmethod
    def of(data: Any) -> InData:
        """Return the lists in a message."""
        lists = (data.robot_states, data.simulated_groups, data.simulated_waypoints, data.walls, data.obstacles)
        return InData(data.header, data.agent_states, *lists)


class WorkData:
    """The output of a plugin that works on messages, initialised with the values that pedsim itself would use.

    Attributes:
        id: ids of the n pedestrians.
        force: (n, 3) forces per unit mass, m/s2.
        social_state: names of the n social states.
        vmax: (n,) factors of the pedestrians' own speeds, initially 1.
    """

    def __init__(self, in_data: InData) -> None:
        self.id = [agent.id for agent in in_data.agents]
        forces = [agent.forces.force for agent in in_data.agents]
        self.force: Array = np.array([(f.x, f.y, f.z) for f in forces], float).reshape(-1, 3)
        self.social_state = [agent.social_state for agent in in_data.agents]
        self.vmax: Array = np.ones(len(self.id))

    def message(self, header: Any) -> AgentFeedbacks:
        """Return the message with the output.

        Raises:
            InputError: an array has the wrong shape.
        """
        force, count = np.asarray(self.force, float), len(self.id)
        if force.shape not in ((count, 3), (count, 2)) or len(self.social_state) != count or np.size(self.vmax) != count:
            raise InputError(f"work_data.force: expected shape ({count}, 3) for {count} pedestrians, got {force.shape}")
        rows = zip(self.id, force[:, :2].tolist(), self.social_state, np.ravel(self.vmax).tolist(), strict=True)
        return AgentFeedbacks(header, [AgentFeedback(id, Vector3(x, y, 0.0), str(state), vmax) for id, (x, y), state, vmax in rows])


class Forcemodel:
    """Base class of plugins that work on messages, named as in Arena. A new instance is created at every reset."""

    class Name(Enum):
        """The names used by Arena; any other string is also allowed."""

        PASSTHROUGH = "passthrough"
        SPINNY = "spinny"
        PYSOCIAL = "pysocial"
        DEEPSOCIALFORCE = "deepsocialforce"
        EVACUATION = "evacuation"

    def compute(self, in_data: InData, work_data: WorkData) -> None:
        """Compute the forces, by changing ``work_data`` in place."""
        raise NotImplementedError


class Forcemodels:
    """The registered plugins that work on messages."""

    known: ClassVar[dict[str, type[Forcemodel]]] = {}

    @classmethod
    def register(cls, name: Forcemodel.Name | str) -> Callable[[type[Forcemodel]], type[Forcemodel]]:
        """Return a decorator that registers a class under a name."""

        def keep(model: type[Forcemodel]) -> type[Forcemodel]:
            cls.known[name if isinstance(name, str) else str(name.value)] = model
            return model

        return keep


class Plugin(Protocol):
    """The interface of plugins that the node calls."""

    def feedback(self, data: PedsimAgentsDataframe) -> AgentFeedbacks:
        """Return the forces for one message."""


def find_plugin(text: str, modules: list[str], dt: float, radius: float) -> Callable[[], Plugin]:
    """Return a function that creates a plugin.

    Args:
        text: the name of a registered `Forcemodel`, ``module:Name`` of a `Forcemodel` or a crowd model, or the name of one of the
            library's crowd models, with parameters in brackets.
        modules: modules that are imported first, so that they can register their plugins.
        dt: time between two messages, s; 0 to use the message stamps.
        radius: radius of pedestrians, m, which the messages do not contain.

    Raises:
        InputError: there is no such plugin.
    """
    for module in modules:
        _import(module)
    found: Any = Forcemodels.known.get(text)
    if found is None and ":" in text:
        module, _, name = text.partition(":")
        found = getattr(_import(module), name, None)
        if found is None:
            raise InputError(f"plugin {text!r}: module {module} has no attribute {name!r}")
    if isinstance(found, type) and issubclass(found, Forcemodel):
        return lambda: OverMessages(found())
    if found is None:
        name = text.partition("(")[0]
        if name and name not in {*available("crowd_models"), "deepsocialforce"}:
            raise InputError(f"no plugin called {name!r}; {nearest(name, [*Forcemodels.known, *available('crowd_models')])}")
        return _ready(lambda: OverArrays(crowd_model(text), dt, radius))
    return _ready(lambda: OverArrays(Named(text, found()), dt, radius))


def _ready(make: Callable[[], Plugin]) -> Callable[[], Plugin]:
    """Compile a plugin's kernels and detect its errors before any node waits for an answer."""
    make().feedback(PedsimAgentsDataframe(agent_states=[AgentState(id="nobody")]))
    return make


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise InputError(f"plugin module {module!r} cannot be imported: {error}; is it on PYTHONPATH?") from error
    except Exception as error:  # noqa: BLE001 - somebody else's code
        raise InputError(f"plugin module {module!r} fails on import: {type(error).__name__}: {error}") from error


class OverMessages:
    """A plugin that works on lists of messages."""

    def __init__(self, model: Forcemodel) -> None:
        self._model = model

    def feedback(self, data: PedsimAgentsDataframe) -> AgentFeedbacks:
        """Return the forces for one message."""
        given = InData.of(data)
        work = WorkData(given)
        if given.agents:
            self._model.compute(in_data=given, work_data=work)
        return work.message(data.header)


class OverArrays:
    """A crowd model used as a plugin: a crowd is set to the state in the message, and its next velocities are converted to forces.

    Whether the model returns accelerations or velocities, the force is f = (v' - v) / dt, where v' is the velocity after one step
    of ``dt``, including the speed limit.

    Args:
        model: crowd model.
        dt: time step, s; 0 for the time between the first two messages.
        radius: radius of pedestrians, m.
    """

    def __init__(self, model: Named, dt: float, radius: float) -> None:
        self._model, self._dt, self._radius = model, dt or 1 / 30, radius
        self._fixed, self._last = dt > 0, 0.0
        self._ids: dict[str, int] = {}
        self._key: Any = None
        self.crowd: Crowd | None = None

    def feedback(self, data: PedsimAgentsDataframe) -> AgentFeedbacks:
        """Return the forces for one message."""
        work = WorkData(InData.of(data))
        self._measure(data.header.stamp.to_sec())
        if not work.id:
            return work.message(data.header)
        crowd = self._put(data)
        people, dt = crowd.pedestrians, crowd.world.dt
        before = np.stack([people.vx[0], people.vy[0]], -1).astype(float)
        after = crowd.step()
        force = (np.stack([after.vx[0], after.vy[0]], -1) - before) / dt
        work.force[:, :2] = force[: len(work.id)]
        return work.message(data.header)

    def _measure(self, stamp: float) -> None:
        """Measure the time between the first two steps, s."""
        between = stamp - self._last
        if not self._fixed and self._last > 0 and 0.001 <= between <= 0.5:
            self._dt, self._fixed = round(between, 4), True
        self._last = stamp

    def _put(self, data: Any) -> Crowd:
        """Set the crowd's pedestrians and robots to the state in the message, and return the crowd."""
        agents, robots = data.agent_states, data.robot_states
        walls = np.array([(w.start.x, w.start.y, w.end.x, w.end.y) for w in data.walls], float).reshape(-1, 4)
        places = np.array([(a.pose.position.x, a.pose.position.y) for a in agents])
        key = (len(agents), len(robots), self._dt, walls.tobytes())
        if self.crowd is None or key != self._key or not self.crowd.start.map.contains(places).all():
            self.crowd, self._key = self._made(len(agents), len(robots), walls, places), key
        crowd = self.crowd
        for agent in agents:
            self._ids.setdefault(agent.id, len(self._ids))
        n, now, traits, minds, goals = len(agents), crowd.pedestrians, crowd.traits, crowd.minds, crowd.world.waypoints
        now.x[0, :n], now.y[0, :n] = places.T
        now.vx[0, :n], now.vy[0, :n] = [a.twist.linear.x for a in agents], [a.twist.linear.y for a in agents]
        now.heading[0, :n] = [heading_of(a.pose.orientation) for a in agents]
        now.active[0, :n] = True
        traits.id[0, :n] = [self._ids[a.id] for a in agents]
        traits.speed[0, :n] = minds.speed[0, :n] = [a.forces.vmax if a.forces.vmax > 0 else 1.0 for a in agents]
        group = {member: number for number, one in enumerate(data.simulated_groups) for member in one.members}
        traits.group[0, :n] = [group.get(a.id, -1) for a in agents]
        minds.type[0, :n] = [_type(a.type) for a in agents]
        minds.state[0, :n] = [_WALKING if (k := state_number(a.social_state)) is None else k for a in agents]
        for x, y in ((goals.x, goals.y), (goals.list_x[..., 0], goals.list_y[..., 0])):
            x[0, :n], y[0, :n] = [a.destination.x for a in agents], [a.destination.y for a in agents]
        theirs = crowd.robots
        for r, robot in enumerate(robots):
            theirs.x[0, r], theirs.y[0, r] = robot.pose.position.x, robot.pose.position.y
            theirs.world_vx[0, r], theirs.world_vy[0, r] = robot.twist.linear.x, robot.twist.linear.y
        return crowd

    def _made(self, people: int, robots: int, walls: Array, places: Array) -> Crowd:
        known = np.concatenate([places, walls[:, :2], walls[:, 2:]])
        low, high = known.min(0) - _MARGIN, known.max(0) + _MARGIN
        place = Map.from_shapes(segments=walls, bounds=(*low, *high), resolution=0.1 if math.prod(high - low) < 1e4 else 0.25)
        zeros, pairs = np.zeros(people), np.zeros((people, 2))
        numbers = np.arange(people, dtype=np.int32)
        starts = PedestrianStarts(
            position=places, speed=zeros + 1.0, radius=zeros + self._radius, group=np.full(people, -1, np.int32), id=numbers,
            waypoints=pairs[:, None], waypoint_count=np.ones(people, np.int32), mode=np.full(people, STAY, np.int32),
            tolerance=zeros + 0.3, velocity=pairs,
        )  # fmt: skip
        stood = tuple(RobotStart(_DISC, np.zeros(3), np.zeros((1, 3))) for _ in range(robots))
        start = Start("plugin/scene/0", 0, place, stood, starts, timeout=60.0)
        periods = Periods(physics=self._dt, control=self._dt, crowd=self._dt, sensor=self._dt)
        settings = CrowdSettings(model=self._model, routes=False, faithful=True)
        return Crowd(start, Stage(name="scene", world=Named.of("worlds", "open"), crowd=settings, periods=periods))


def _type(text: str) -> int:
    name = text.rpartition("/")[2]
    return TYPES.index(name) if name in TYPES else 0
