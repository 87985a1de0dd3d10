"""Bags as the graph writes them in lock step, of episodes that ran in this process.

``python -m tests.ros.bags`` writes the one that tests without ROS read.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import rosbag
from agora_ros.conversions import add_notes, stamp_of, to_episode, to_pedestrians, to_robots
from geometry_msgs.msg import Pose2D
from std_msgs.msg import String
from tests.played import small_suite

from agora.engine.recorder import Recorder
from agora.engine.rules import touching_robots
from agora.engine.standing import Standing
from agora.episode import Batch, Conditions
from agora.planners.adapters import record_contact
from agora.planners.presets import named_planner
from agora.tasks.suite import Suite
from agora.world.records import RUNNING
from agora_msgs import msg


def said_by_the_graph(suite: Suite, stage: str, episode: int, planner: str, number: int = 7) -> list[tuple[str, Any, Any]]:
    """Play an episode as `agora.episode.Episodes` does; topics, messages and times of what the parts of the graph say about it."""
    conditions, part = suite.stage(stage), named_planner(planner)[1].part
    start = suite.start(stage, episode)
    batch = Batch([start], Conditions.of(conditions), part.declares.needs, 1)
    names = [f"{robot.model.name}_{r}" for r, robot in enumerate(start.robots)]
    messages = [msg.Robot(name=name, navigation="agora", planner=planner, interplanner="bypass") for name in names]
    dt, since = conditions.periods.physics, 2.5
    all_said: list[tuple[str, Any, Any]] = []
    batch.begin(0, 0)
    recorder = Recorder(batch.world, 10_000)
    recorder.start(0)
    standing = Standing(batch.world, conditions.periods.control)
    standing.begin(0, start.map)
    status, goals, failures = batch.world.status, np.zeros(len(names), int), {}
    said: set = set()
    written: set[int] = set()
    radius = np.array([robot.model.radius for robot in start.robots], np.float32)

    def write(topic: str, message: object) -> None:
        now = stamp_of(int(status.clock.step[0]), dt, since)
        if hasattr(message, "header"):
            message.header.stamp = now
        all_said.append((topic, message, now))

    def say() -> None:
        step, world = int(status.clock.step[0]), batch.world
        if step in written:
            return
        written.add(step)
        recorder.sample()
        write("simulator/robots", to_robots(world.robots, radius, names, step, world.commands[0]))
        write("pedsim_simulator/pedestrians", to_pedestrians(world.pedestrians, world.traits, world.minds, step))
        for r, name in enumerate(names):
            for c in recorder.contacts(0, r):
                if (r, c) not in said:
                    said.add((r, c))
                    write("simulator/contacts", msg.Contact(None, name, int(c.kind), c.party, c.time, c.x, c.y))

    write("task_generator_server/episode", to_episode(start, conditions.conditions(), messages, number))
    write("recorder/parameters", String("{}"))
    say()
    memory: dict = {}
    while not status.clock.done[0]:
        left = status.goals.left[0].copy()
        batch.look()
        goals += left - status.goals.left[0]
        active = batch.active
        answer, failed = batch.observers.ask(part, batch.observers.observe(), memory, active)
        memory = answer.memory
        if status.clock.step[0] == 0:
            record_contact(answer, touching_robots(batch.world, 0))
        standing.record_reasons(answer, active)
        notes = msg.Notes()
        add_notes(notes, names, answer.notes)
        write("navigation/notes", notes)
        batch.world.command(answer.twists, active, failed)
        failures.update(failed)
        batch.advance(say)
    robots = [
        msg.RobotStatus(
            name, bool(status.ends.outcome[0, r] != RUNNING), int(goals[r]), int(status.ends.outcome[0, r]),
            float(status.ends.step[0, r]) * dt, int(status.orders.clipped[0, r]), len(recorder.contacts(0, r)), failures.get(r, ""),
            Pose2D(float(status.goals.x[0, r]), float(status.goals.y[0, r]), float(status.goals.heading[0, r])), 0,
        )
        for r, name in enumerate(names)
    ]  # fmt: skip
    ends = (int(status.clock.step[0]), False, True, False, "", robots)
    write("simulator/status", msg.EpisodeStatus(None, number, start.entry, start.seed, *ends))
    batch.engine.close()
    return all_said


def write_bag(path: Path, suite: Suite, stage: str, episode: int, planner: str, namespace: str = "") -> None:
    """Write what the parts of the graph say about an episode."""
    with rosbag.Bag(str(path), "w", compression="bz2", chunk_threshold=32_000) as bag:
        for topic, message, now in said_by_the_graph(suite, stage, episode, planner):
            bag.write(f"{namespace}/{topic}", message, now)


if __name__ == "__main__":
    target = Path(__file__).parents[1] / "datasets" / "bags"
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        write_bag(target / "two_robots.bag", small_suite(Path(scratch) / "room"), "helbing", 1, "go_to_goal", namespace="/one")
    sys.stdout.write(f"{target / 'two_robots.bag'}\n")
