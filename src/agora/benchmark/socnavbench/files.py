"""Exports episodes of SocNavBench's suites as the files that its simulator and its joysticks write (CMU-TBD/SocNavBench 2724ea85).

Each episode has a folder ``test_ALGO/EPISODE`` with ``episode_log.txt`` (``Simulator.generate_sim_log``), the scores of
``generate_episode_score_report``, ``sim_state_data/sim_state_T.json`` (``SimState.export_to_file``) and
``joystick_data/agent_data.csv`` (``JoystickBase.write_pandas``). Names, keys and definitions are taken from that code, and the
origin is the map's lower-left corner. SocNavBench pickles its scores, and a pickle may run code when it is loaded; this module
writes the scores as JSON instead. In SocNavBench's states, pedestrians are one step behind the robot; in these files they are not.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from agora.benchmark.exports.new_files import refuse_existing
from agora.benchmark.results.selection import RunSelection
from agora.benchmark.socnavbench._scene import COOLDOWN, ends_of
from agora.benchmark.socnavbench.player import name_of
from agora.core.recording import Outcome, Recording
from agora.core.state import Doubles, Floats, Ints
from agora.datasets.played import PlayedEpisode
from agora.datasets.socnavbench import SocnavbenchEpisode, read_episode
from agora.errors import InputError, ResultsError
from agora.metrics.published.socnavbench import (
    approach_times,
    centre_distances,
    energy_socnavbench_code,
    path_irregularity_socnavbench_code,
)
from agora.wire.joystick import CAUSES, NEVER, ROBOT, Agent, opening

__all__ = ["write_socnavbench_files"]

_EPSILON = 1e-5  # m, added to path lengths (``cost_functions.py: path_length_ratio``)


def write_socnavbench_files(
    folder: Path, source: Path, keys: Collection[str] = (), progress: Callable[[int, int], None] = lambda n, total: None
) -> list[Path]:
    """Write the files of each episode of a run, and return the episodes' folders.

    Args:
        folder: folder for the subfolders ``test_ALGO``; in a SocNavBench checkout, ``tests/socnav``.
        source: folder of a run.
        keys: keys of episodes, as in `agora.benchmark.exports.mcap.write_mcap_files`; by default, all kept episodes.
        progress: function that is called with the number of finished episodes, and the total number.

    Raises:
        InputError: the run's suite is not a SocNavBench suite. UnknownNameError: no episode has this key.
        ResultsError: a folder exists or cannot be written, or no recording was kept.
    """
    run, written = RunSelection.of(source, keys), []
    for played in run.episodes():
        told = _Told.of(played)
        place = folder / f"test_{told.algorithm}" / told.read.name
        refuse_existing(place)
        try:
            told.write(place)
        except OSError as error:
            raise ResultsError(f"{place}: cannot be written: {error.strerror or error}") from error
        written.append(place)
        progress(len(written), len(run.groups))
    return written


@dataclass(frozen=True, eq=False)
class _Told:
    """An episode in SocNavBench's terms.

    Attributes:
        algorithm: name of the planner.
        recording: recording of the robot.
        read: the episode in SocNavBench's format.
        poses: (T, 1 + P, 3) poses of the robot and then of the pedestrians, relative to the map's lower-left corner; float32.
        names: names of the robot and the pedestrians.
        ends: (1 + P, 2, 3) start and goal poses.
        cooldown: (T, 1 + P) number of steps until the robot or pedestrian may collide again.
        last: (T, 1 + P) time of the last collision of the robot or pedestrian, s.
        colliders: name of the pedestrian that the robot touched, for each collision.
        cause: cause of termination.
    """

    algorithm: str
    recording: Recording
    read: SocnavbenchEpisode
    poses: Floats
    names: list[str]
    ends: Floats
    cooldown: Ints
    last: Doubles
    colliders: list[str]
    cause: str

    @staticmethod
    def of(played: PlayedEpisode) -> _Told:
        """Return an episode of a run in SocNavBench's terms."""
        stage, (robot, *others) = played.conditions, played.robots
        if stage is None or stage.world.name != "socnavbench" or stage.robots.name != "scenario" or others:
            raise InputError(f"{played.source}: {played.entry} is not a curated SocNavBench episode")
        recording = robot.recording
        read = read_episode(name_of(stage, played.episode), real_speed=stage.world.part.real_speed)
        known = {int(who): row for row, who in enumerate(read.trajectories.id)}
        rows = [known[int(who)] for who in recording.pedestrian_id]
        first, final = ends_of(read.trajectories)
        own = np.array([read.start, read.goal], np.float32)[None]
        ends = np.concatenate([own, np.stack([first, final], 1)[rows]])
        people = np.concatenate([recording.pedestrian_position, recording.pedestrian_heading[..., None]], -1)
        poses = np.concatenate([recording.pose[:, None], people], 1).astype(np.float32)
        for each in (ends, poses):
            each[..., :2] -= np.array(read.map.origin, np.float32)
        names = [ROBOT, *(read.names[row] for row in rows)]
        return _Told(robot.planner, recording, read, poses, names, ends, *_collisions(recording, names))

    @property
    def _present(self) -> Any:
        """Return the presence (T, 1 + P) of the robot and each pedestrian."""
        return np.column_stack([np.ones(len(self.recording.time), np.bool_), self.recording.pedestrian_present])

    def write(self, place: Path) -> None:
        """Write all files into a new folder."""
        (place / "sim_state_data").mkdir(parents=True)
        (place / "joystick_data").mkdir()
        (place / "episode_log.txt").write_text(self._log())
        (place / f"episode_score_{self.read.name}.json").write_text(json.dumps(self._scores()))
        (place / "joystick_data" / "agent_data.csv").write_text(self._table())
        for k, time in enumerate(self.recording.time):
            (place / "sim_state_data" / f"sim_state_{time:.4f}.json").write_text(json.dumps(self._state(k)))

    def _state(self, k: int) -> dict[str, Any]:
        """Return the state of the world at sample ``k``; the first sample also contains the map."""
        here = np.flatnonzero(self._present[k])
        agents = {self.names[i]: self._agent(k, int(i)) for i in here}
        robot = {ROBOT: agents.pop(ROBOT)}
        first = opening(self.read.map, self.read.map_name, self.read.name) if k == 0 else {}
        times = {"delta_t": self._period, "episode_max_time": self.recording.timeout, "sim_t": float(self.recording.time[k])}
        return {"robot_on": True, **first, "pedestrians": agents, "robots": robot, **times}

    def _agent(self, k: int, i: int) -> dict[str, Any]:
        """Return agent ``i`` (the robot or a pedestrian) at sample ``k``, with its poses since it appeared."""
        begin, end = self.ends[i].tolist()
        radius = self.recording.radius if i == 0 else float(self.recording.pedestrian_radius[i - 1])
        said = (radius, int(self.cooldown[k, i]), float(self.last[k, i]))
        plain = Agent(self.names[i], self.poses[k, i].tolist(), begin, end, *said).plain(whole=True)
        way = self.poses[: k + 1, i][self._present[: k + 1, i]].tolist()
        head = {key: plain.pop(key) for key in ("name", "start_config", "goal_config", "current_config")}
        return {**head, "trajectory": [way], **plain}

    @property
    def _period(self) -> float:
        return float(self.recording.time[1]) if len(self.recording.time) > 1 else 0.0

    def _scores(self) -> dict[str, Any]:
        """Return the scores; arrays over all steps are the same as in SocNavBench if the recording contains every step."""
        recording, time = self.recording, self.recording.time
        velocity = np.diff(self.poses[:, 0, :2].astype(np.float64), axis=0) / np.diff(time)[:, None]
        acceleration = np.diff(velocity, axis=0) / np.diff(time)[1:, None]
        jerk = np.diff(acceleration, axis=0) / np.diff(time)[2:, None]
        straight, left = (math.dist(p[:2], recording.goal[:2]) for p in (recording.pose[0], recording.pose[-1]))
        until, length = approach_times(recording), float(np.hypot(*np.diff(recording.pose[:, :2], axis=0).T).sum())
        return {
            "success": self.cause == "Success",
            "termination_cause": self.cause,
            "map": self.read.map_name,
            "total_sim_time_taken": float(time[-1]),
            "sim_time_budget": recording.timeout,
            "wall_wait_time": float(recording.planning_time.sum()),
            "robot_speed": np.hypot(*velocity.T).tolist(),
            "robot_motion_energy": energy_socnavbench_code(recording),
            "robot_acceleration": acceleration.tolist(),
            "robot_jerk": jerk.tolist(),
            "path_length": length,
            "path_length_ratio": (length + _EPSILON) / straight,
            "goal_traversal_ratio": left / straight,
            "path_irregularity": path_irregularity_socnavbench_code(_from_corner(recording)),
            "closest_pedestrian_distance": centre_distances(recording).tolist(),
            "time_to_collision": np.where(np.isfinite(until), until, -1.0).tolist(),
            "num_recv_joystick": len(time) - 1,
            "num_exec_robot": len(time) - 1,
        }

    def _log(self) -> str:
        """Return the log of the episode, without wall times, because these are not recorded."""
        recording, loaded = self.recording, self.read.trajectories.count
        gone = int((recording.pedestrian_present.any(0) & ~recording.pedestrian_present[-1]).sum())
        steps = np.diff(recording.time)[:, None]
        rate = np.abs(np.diff(recording.twist[:, [0, 2]], axis=0) / steps).max(0, initial=0.0)
        fastest = np.hypot(recording.twist[:, 0], recording.twist[:, 1]).max()
        lines = [
            "****************EPISODE INFO****************",
            f"Episode name: {self.read.name}",
            f"Building name: {self.read.map_name}",
            f"Robot start: {self.ends[0, 0].tolist()}",
            f"Robot goal: {self.ends[0, 1].tolist()}",
            f"Time budget: {recording.timeout:.3f}",
            f"Total agents in scene: {loaded}",
            "****************SIMULATOR INFO****************",
            f"Simulator refresh rate (s): {self._period:0.3f}",
            f"Total duration of simulation (s): {math.nan:0.3f}",
            f"Num Successful agents: {gone}",
            f"Num Collided agents: {len(self.colliders)}",
            f"Num Timeout agents: {loaded - gone - len(self.colliders)}",
            "****************ROBOT INFO****************",
            f"Robot termination cause: {self.cause}",
            f"Robot collided with {len(self.colliders)} agent(s)",
            *([f"Collided with: {', '.join(self.colliders)}"] if self.colliders else []),
            f"Num commands received from joystick: {len(recording.time) - 1}",
            f"Total time blocking for joystick input (s): {recording.planning_time.sum():0.3f}",
            f"Num commands executed by robot: {len(recording.time) - 1}",
            f"Robot displacement (m): {math.dist(recording.pose[0, :2], recording.pose[-1, :2]):0.3f}",
            f"Max robot velocity (m/s): {fastest:0.3f}",
            f"Max robot acceleration: {rate[0]:0.3f}",
            f"Max robot angular velocity: {np.abs(recording.twist[:, 2]).max():0.3f}",
            f"Max robot angular acceleration: {rate[1]:0.3f}",
        ]
        return "\n".join(lines) + "\n"

    def _table(self) -> str:
        """Return one line per sample with the time and everyone's pose, in the format in which pandas writes arrays."""
        text = io.StringIO()
        table, present = csv.writer(text, lineterminator="\n"), self._present
        there = np.flatnonzero(present.any(0))
        table.writerow(["", *(self.names[i] for i in there)])
        for k, time in enumerate(self.recording.time.tolist()):
            table.writerow([time, *(str(self.poses[k, i]) if present[k, i] else "" for i in there)])
        return text.getvalue()


def _from_corner(recording: Recording) -> Recording:
    """Return the recording with the map's lower-left corner as the origin, because one of the metrics depends on the origin."""
    corner = np.array([*(recording.map.origin if recording.map else (0.0, 0.0)), 0.0])
    return replace(recording, pose=recording.pose - corner, goal=recording.goal - corner)


def _collisions(recording: Recording, names: list[str]) -> tuple[Ints, Doubles, list[str], str]:
    """Return the cooldowns and times of the last collisions at each sample, the names of the touched pedestrians, and the cause of
    termination (``AgentBase.check_collisions``).
    """
    time, count = recording.time, len(names)
    cooldown: Ints = np.zeros((len(time), count), np.int32)
    last: Doubles = np.full((len(time), count), NEVER)
    present, reach = recording.pedestrian_present, recording.radius + recording.pedestrian_radius
    apart = np.linalg.norm(recording.pedestrian_position - recording.pose[:, None, :2], axis=-1)
    steps = round(COOLDOWN / float(time[1])) if len(time) > 1 else 0
    colliders, just = [], False
    for k in range(1, len(time)):
        cooldown[k], last[k] = cooldown[k - 1], last[k - 1]
        hit = np.flatnonzero(present[k] & (apart[k] < reach) & (cooldown[k, 1:] == 0)) + 1
        just = len(hit) > 0
        last[k, [0, *hit] if just else hit] = time[k]
        cooldown[k, hit] = steps
        cooldown[k, 1:] = np.maximum(cooldown[k, 1:] - present[k], 0)
        colliders += [names[i] for i in hit]
    by_time = "Pedestrian Collision" if just else "Timeout"
    return cooldown, last, colliders, CAUSES.get(Outcome(recording.outcome), by_time)
