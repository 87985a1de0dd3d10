"""The MuJoCo model of one world: the place as boxes, the robots, and moving bodies for the pedestrians near the robots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agora.core.state import Array, Ints
from agora.errors import InputError
from agora.extras import missing
from agora.maps.grid import Map
from agora.maps.place import Place
from agora.maps.world3d.mjcf import mjcf
from agora.maps.world3d.solids import solids
from agora.robots.model import RobotModel
from agora.simulators.mujoco.chassis import TOUCHES_FLOOR, TOUCHES_PEOPLE, TOUCHES_PLACE, Chassis, add_robot

if TYPE_CHECKING:
    import mujoco

__all__ = ["WorldModel", "world_model"]

MOST_BOXES = 20_000
"""Maximum number of boxes for a map; with more boxes, MuJoCo would need minutes."""

AWAY = -100.0
"""Height at which unused bodies are parked, m."""

_WALL_HEIGHT, _SEGMENT = 1.0, 0.01  # m; height of walls, and thickness of walls without a thickness of their own
_TALL = 0.9  # m, half the height of a pedestrian's body
_NEAR_A_ROBOT = 12  # pedestrian bodies per robot; no more pedestrians fit around one robot


@dataclass(frozen=True, eq=False)
class WorldModel:
    """A compiled model, and the positions of its parts in MuJoCo's arrays.

    Attributes:
        model: MuJoCo's model.
        chassis: chassis of each robot.
        base: (R,) index of the first element of each robot's free joint in qpos.
        motion: (R,) index of the first element of each robot's free joint in qvel.
        motors: indices of each robot's motors.
        owner: (G,) index of the robot to which each geom belongs; -1 for the place, -2 for pedestrians.
        people: (K,) indices of the pedestrian bodies' geoms; the mocap indices of these bodies are 0 to K - 1.
    """

    model: mujoco.MjModel
    chassis: tuple[Chassis, ...]
    base: Ints
    motion: Ints
    motors: tuple[Array, ...]
    owner: Ints
    people: Ints


def world_model(
    place: Map, robots: tuple[RobotModel, ...], slots: int, *, timestep: float, friction: float, load: float
) -> WorldModel:
    """Return the model of a world.

    Args:
        place: map of the world.
        robots: models of the robots.
        slots: number of pedestrian slots.
        timestep: MuJoCo's time step, s.
        friction: coefficient of friction of wheels and feet on the floor.
        load: ratio of the robots' mass to the mass in their files.

    Raises:
        InputError: MuJoCo is not installed, the map needs too many boxes, or MuJoCo rejects the model.
    """
    try:
        import mujoco
    except ImportError as error:
        raise missing("the simulator mujoco needs", "mujoco", "mujoco") from error
    quiet = mujoco.MjLogConfig.get()  # its warnings become our errors instead of a file in the working folder
    quiet.logto_file, quiet.logto_console = False, False
    quiet.set()
    built = solids(Place(place), height=_WALL_HEIGHT, thickness=_SEGMENT)
    if built.boxes > MOST_BOXES:
        raise InputError(
            f"map {place.name!r}: its walls need {built.boxes} boxes, but the mujoco simulator supports at most {MOST_BOXES}; "
            "use a coarser map"
        )
    spec = mujoco.MjSpec.from_string(mjcf(built))
    spec.option.timestep = timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    for geom in spec.geoms:
        geom.contype, geom.conaffinity = 0, TOUCHES_PLACE | (TOUCHES_FLOOR if geom.name == "floor" else 0)
    chassis = tuple(add_robot(spec, r, robot, friction, load) for r, robot in enumerate(robots))
    people = min(slots, _NEAR_A_ROBOT * len(robots))
    for k in range(people):
        body = spec.worldbody.add_body(name=f"pedestrian_{k}", mocap=True, pos=[0.0, 0.0, AWAY])
        body.add_geom(
            name=f"pedestrian_{k}",
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            size=[0.3, _TALL, 0.0],
            pos=[0.0, 0.0, _TALL],
            contype=0,
            conaffinity=TOUCHES_PEOPLE,
        )
    try:
        model = spec.compile()
    except ValueError as error:
        named = " and ".join(dict.fromkeys(robot.name for robot in robots))
        raise InputError(f"mujoco: rejected the model of {named}: {' '.join(str(error).split())}") from error
    return _found(model, chassis, people)


def _found(model: mujoco.MjModel, chassis: tuple[Chassis, ...], count: int) -> WorldModel:
    joints = [int(model.body(one.body).jntadr[0]) for one in chassis]
    people = np.array([model.geom(f"pedestrian_{k}").id for k in range(count)], np.int32)
    owner = np.full(model.ngeom, -1, np.int32)
    owner[people] = -2
    roots = {int(model.body(one.body).id): r for r, one in enumerate(chassis)}
    for geom in range(model.ngeom):
        owner[geom] = roots.get(int(model.body_rootid[model.geom_bodyid[geom]]), owner[geom])
    return WorldModel(
        model,
        chassis,
        model.jnt_qposadr[joints].astype(np.int32),
        model.jnt_dofadr[joints].astype(np.int32),
        tuple(np.array([model.actuator(name).id for name in one.motors], np.int32) for one in chassis),
        owner,
        people,
    )
