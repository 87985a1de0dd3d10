"""Messages that SocNavBench's simulator and a joystick send to each other.

Keys, their order, types and values are those of CMU-TBD/SocNavBench 2724ea85: ``simulators/sim_state.py`` (``to_json``),
``agents/robot_agent.py`` (``manage_data``), ``agents/robot_utils.py`` (``establish_handshake``), ``utils/socnav_utils.py``
(``construct_environment``). Poses in that code are float32, so this module also writes them as float32 values.

Images are our addition: SocNavBench's simulator does not send any, although the SocNavBench paper says that it does (3.2). `seen`
describes what is sent in full-render mode.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from agora.core.recording import Outcome
from agora.core.state import Array, Floats
from agora.errors import InputError
from agora.maps.grid import Map
from agora.yaml_tree import value_text

NEVER = 1e8
"""Value of the last collision time of an agent that has not had a collision, s (``agents/agent_base.py: last_collision_t``)."""
ROBOT = "robot_agent"
"""Name of the robot (``generate_robot``)."""
UNKNOWN = "UnknownAlgo"
"""Name used for a planner if its joystick does not give one."""
MOST = 10_000
"""Maximum number of commands in a message: more than the longest episode can use."""
CAUSES = {
    Outcome.REACHED: "Success",
    Outcome.WALL_COLLISION: "Obstacle Collision",
    Outcome.OUT_OF_MAP: "Obstacle Collision",
    Outcome.PEDESTRIAN_COLLISION: "Pedestrian Collision",
}
"""SocNavBench's names for the ends of episodes; every other end is a "Timeout"."""
RenderMode = Literal["schematic", "full-render"]
"""``render_mode`` in ``params/user_params.ini``."""
_ALGO = "algo: "
_LONGEST_NAME = 100


@dataclass(frozen=True)
class Agent:
    """A robot or a pedestrian in a message.

    Attributes:
        name: name of the agent.
        pose: x, y, heading, m and rad, float32.
        start: pose at the start of the episode.
        goal: pose of the goal.
        radius: radius, m.
        cooldown: number of steps until the agent may collide again.
        last_collision: time of the agent's last collision, s.
    """

    name: str
    pose: list[float]
    start: list[float]
    goal: list[float]
    radius: float
    cooldown: int = 0
    last_collision: float = NEVER

    def plain(self, whole: bool) -> dict[str, Any]:
        """Return the agent in the form used in messages, with start and goal if ``whole``."""
        ends = {"start_config": self.start, "goal_config": self.goal} if whole else {}
        said = {"radius": self.radius, "collision_cooldown": self.cooldown, "last_collision_t": self.last_collision}
        return {"name": self.name, **ends, "current_config": self.pose, **said}


@dataclass(frozen=True, eq=False)
class State:
    """The state of an episode at a given instant.

    Attributes:
        pedestrians: the pedestrians that are present, in order of arrival.
        robot: the robot.
        period: period of the simulator, s.
        longest: time limit of the episode, s.
        time: time since the episode began, s.
    """

    pedestrians: Sequence[Agent]
    robot: Agent
    period: float
    longest: float
    time: float

    def text(self, first: Mapping[str, Any] | None = None, last: Mapping[str, Any] | None = None) -> str:
        """Return the answer to ``sense``.

        Args:
            first: environment and name of the episode, included in the message that begins an episode.
            last: content that Agora adds to SocNavBench's message.
        """
        whole = first is not None
        said = {
            "robot_on": True,
            **(first or {}),
            "pedestrians": {each.name: each.plain(whole) for each in self.pedestrians},
            "robots": {self.robot.name: self.robot.plain(whole)},
            "delta_t": self.period,
            "episode_max_time": self.longest,
            "sim_t": self.time,
            **(last or {}),
        }
        return json.dumps(said)


def seen(images: Mapping[str, Array]) -> dict[str, Any]:
    """Return the images of the robot's camera, with rows from the top, in the form used in a state.

    Each image has ``shape``, ``dtype`` (uint8, float32 or int32) and ``data``: the values in base64, little-endian, with the last
    axis varying fastest.
    """
    told = {}
    for name, image in images.items():
        data = base64.b64encode(np.ascontiguousarray(image, image.dtype.newbyteorder("<")).tobytes()).decode()
        told[name] = {"shape": list(image.shape), "dtype": image.dtype.name, "data": data}
    return {"images": {ROBOT: told}}


def opening(place: Map, map_name: str, episode: str, mode: RenderMode = "schematic") -> dict[str, Any]:
    """Return the environment and name of an episode, for its first message. The map's corner is the origin of all poses.

    In full-render mode, the cells that people leave free are also included; as in SocNavBench's own message, all cells are free.
    """
    rows, columns = place.occupied.shape
    centre = np.array([columns * 0.5, rows * 0.5, 0.0]) * place.resolution
    environment = {
        "map_scale": place.resolution,
        "map_name": map_name,
        "room_center": centre.tolist(),
        **({"human_traversible": np.ones(place.occupied.shape).tolist()} if mode == "full-render" else {}),
        "map_traversible": (1.0 * ~place.cells).tolist(),
    }
    return {"environment": environment, "episode_name": episode}


def names(episodes: Sequence[str]) -> str:
    """Return the very first message: the episodes to be run, in order."""
    return json.dumps({"episodes": list(episodes)})


def ending(cause: str, time: float) -> str:
    """Return the last message of an episode; ``cause`` is one of `CAUSES` or "Timeout", ``time`` is the time since the episode
    began, s.
    """
    return json.dumps({"robot_on": False, "termination_cause": cause, "sim_t": time})


@dataclass(frozen=True)
class JoystickWord:
    """A message of one word: ``sense``, ``ready`` or ``abandon``."""

    word: str


@dataclass(frozen=True)
class PlannerName:
    """The name of the joystick's planner."""

    name: str


@dataclass(frozen=True, eq=False)
class Commands:
    """Commands for the robot, one per step: (2,) v, w or (4,) x, y, heading, v each; m, s and rad."""

    each: tuple[Floats, ...]


def parse(text: str) -> JoystickWord | PlannerName | Commands:
    """Parse a message from a joystick.

    Raises:
        InputError: the message is neither one of the words, nor a name, nor JSON with commands.
    """
    if text in ("sense", "ready", "abandon"):
        return JoystickWord(text)
    if text.startswith(_ALGO):
        name = text[len(_ALGO) :]
        if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable() or "/" in name:
            wanted = f"a printable name of 1 to {_LONGEST_NAME} characters without '/'"
            raise InputError(f"algo: expected {wanted}, got {value_text(name)}")
        return PlannerName(name)
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"expected sense, ready, abandon, algo: NAME or JSON with j_input, got {value_text(text)}") from error
    if not isinstance(read, dict) or "j_input" not in read:
        raise InputError(f"expected a mapping with the key j_input, got {value_text(read)}")
    given = read["j_input"]
    if not isinstance(given, list) or not 0 < len(given) <= MOST:
        got = f"{len(given)} of them" if isinstance(given, list) else value_text(given)
        raise InputError(f"j_input: expected a list of 1 to {MOST} commands, got {got}")
    return Commands(tuple(_command(one, k) for k, one in enumerate(given)))


def _command(given: Any, number: int) -> Floats:
    """Return one command as an array."""
    if not isinstance(given, list) or len(given) not in (2, 4):
        raise InputError(f"j_input[{number}]: expected [v, w] or [x, y, theta, v], got {value_text(given)}")
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in given):
        raise InputError(f"j_input[{number}]: expected numbers, got {value_text(given)}")
    try:
        with np.errstate(over="ignore"):
            command: Floats = np.array([float(value) for value in given]).astype(np.float32)
    except OverflowError as error:
        raise InputError(f"j_input[{number}]: a number is too large") from error
    if not np.isfinite(command).all():
        raise InputError(f"j_input[{number}]: expected finite numbers, got {value_text(given)}")
    return command
