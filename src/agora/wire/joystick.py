"""Texts that SocNavBench's simulator and a joystick send to each other.

Keys, their order, types and numbers are those of CMU-TBD/SocNavBench 2724ea85: ``simulators/sim_state.py`` (``to_json``),
``agents/robot_agent.py`` (``manage_data``), ``agents/robot_utils.py`` (``establish_handshake``), ``utils/socnav_utils.py``
(``construct_environment``). Poses there are float32, so they are written here as float32 values.

Images are ours: that simulator sends none, though its paper says so (3.2). `seen` says what is sent in the mode full-render.
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
"""The time of the last collision of who has had none, s (``agents/agent_base.py: last_collision_t``)."""
ROBOT = "robot_agent"
"""Name of the robot (``generate_robot``)."""
UNKNOWN = "UnknownAlgo"
"""Name of a planner whose joystick gives none."""
MOST = 10_000
"""Most commands of a message: beyond what the longest episode can run."""
CAUSES = {
    Outcome.REACHED: "Success",
    Outcome.WALL_COLLISION: "Obstacle Collision",
    Outcome.OUT_OF_MAP: "Obstacle Collision",
    Outcome.PEDESTRIAN_COLLISION: "Pedestrian Collision",
}
"""Names that SocNavBench has for the ends of episodes; every other end is a "Timeout"."""
RenderMode = Literal["schematic", "full-render"]
"""``render_mode`` in ``params/user_params.ini``."""
_ALGO = "algo: "
_LONGEST_NAME = 100


@dataclass(frozen=True)
class Agent:
    """A robot or a pedestrian in a message.

    Attributes:
        name: its name.
        pose: x, y, heading, m and rad; of float32.
        start: pose at the start.
        goal: pose of the goal.
        radius: radius, m.
        cooldown: steps until it may collide again.
        last_collision: moment of its last collision, s.
    """

    name: str
    pose: list[float]
    start: list[float]
    goal: list[float]
    radius: float
    cooldown: int = 0
    last_collision: float = NEVER

    def plain(self, whole: bool) -> dict[str, Any]:
        """As in a message; with start and goal where ``whole``."""
        ends = {"start_config": self.start, "goal_config": self.goal} if whole else {}
        said = {"radius": self.radius, "collision_cooldown": self.cooldown, "last_collision_t": self.last_collision}
        return {"name": self.name, **ends, "current_config": self.pose, **said}


@dataclass(frozen=True, eq=False)
class State:
    """A moment of an episode.

    Attributes:
        pedestrians: the pedestrians present, in the order of their arrival.
        robot: the robot.
        period: period of the simulator, s.
        longest: time limit, s.
        time: time since the episode began, s.
    """

    pedestrians: Sequence[Agent]
    robot: Agent
    period: float
    longest: float
    time: float

    def text(self, first: Mapping[str, Any] | None = None, last: Mapping[str, Any] | None = None) -> str:
        """The answer to ``sense``.

        Args:
            first: environment and name of the episode, which make it the message that begins one.
            last: content in addition to SocNavBench's.
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
    """Return the images of the robot's camera, rows from the top, as they stand in a state.

    Each has its ``shape``, its ``dtype`` (uint8, float32 or int32) and its ``data``: base64 of its numbers, the last axis first,
    lowest byte first.
    """
    told = {}
    for name, image in images.items():
        data = base64.b64encode(np.ascontiguousarray(image, image.dtype.newbyteorder("<")).tobytes()).decode()
        told[name] = {"shape": list(image.shape), "dtype": image.dtype.name, "data": data}
    return {"images": {ROBOT: told}}


def opening(place: Map, map_name: str, episode: str, mode: RenderMode = "schematic") -> dict[str, Any]:
    """Environment and name of an episode, for its first message. The map's corner is the zero of all poses.

    In the mode full-render there are the cells that people leave free, too; in this message SocNavBench has all of them free.
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
    """The first message of all: the episodes that will be played, in their order."""
    return json.dumps({"episodes": list(episodes)})


def ending(cause: str, time: float) -> str:
    """The last message of an episode. Args: cause: of `CAUSES` or "Timeout". time: since it began, s."""
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
    """Read what a joystick says.

    Raises:
        InputError: it is none of the words, no name, and no JSON with commands.
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
    """One command as an array."""
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
