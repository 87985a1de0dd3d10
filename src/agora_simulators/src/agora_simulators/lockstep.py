"""Lock step: no node continues before all nodes have answered.

In step k, the node asks the crowd for the pedestrians of step k + 1 and, if k is a control step, concurrently asks the navigation
for the twists of step k. Externally driven robots must send a new command after they have seen step k; otherwise their last command
remains in effect.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import rospy
from agora_ros.calls import Call, CallError
from agora_ros.conversions import from_twist, to_pose2d

from agora.core.state import Floats
from agora.node_logic.driver import Driver
from agora_msgs.msg import Pedestrians
from agora_msgs.srv import Plan, PlanRequest, StepCrowd, StepCrowdRequest
from agora_simulators.robots import RobotTopics


class LockStep:
    """The barrier at which the simulator node waits for the other nodes.

    Args:
        patience: maximum wall time to wait for the crowd and the navigation to answer, s.
        command_patience: maximum wall time to wait for a new `cmd_vel` for an externally driven robot, s.
        news: condition that is notified at every command.
        give_up: function that returns whether to stop waiting, because another task was requested in the meantime.

    Attributes:
        missed: number of times that an externally driven robot did not send a new command.
    """

    def __init__(self, patience: float, command_patience: float, news: threading.Condition, give_up: Callable[[], bool]) -> None:
        self._plan = Call("navigation/plan", Plan, patience)
        self._crowd = Call("pedsim_simulator/step", StepCrowd, patience)
        self._news, self._patience, self._give_up = news, command_patience, give_up
        self._driven: dict[str, bool] = {}
        self._has_crowd, self._people = False, Pedestrians()
        self._received: dict[str, int] = {}
        self.missed = 0

    def begin(self, driven: Mapping[str, bool], has_crowd: bool) -> None:
        """Take over an episode's settings: which robots the navigation node drives, and whether there are pedestrians."""
        self._driven, self._has_crowd, self._people, self.missed = dict(driven), has_crowd, Pedestrians(), 0

    def observe(self, topics: Mapping[str, RobotTopics]) -> None:
        """Remember the messages that were sent before the robots saw the current step."""
        self._received = {name: topic.received for name, topic in topics.items()}

    def exchange(
        self, driver: Driver, robots: Any, plans: bool, topics: Mapping[str, RobotTopics]
    ) -> tuple[Any, tuple[Floats, dict[int, str]] | None]:
        """Exchange data with all nodes for the step of ``robots`` (`agora_msgs/Robots`).

        Returns:
            The pedestrians of the next step (None if there are none), and the twists (R, 3) and failures (None unless ``plans``).

        Raises:
            CallError: a node did not answer.
        """
        standing = driver.standing() if plans else ()
        active = [not robot.ended for robot in standing]
        asks = any(on and self._driven.get(name) for on, name in zip(active, driver.names, strict=False))
        if asks:
            goals, targets = [robot.goal for robot in standing], [to_pose2d(robot.target) for robot in standing]
            self._plan.send(PlanRequest(robots, self._people, goals, targets, bytes(active)))
        if self._has_crowd:
            self._crowd.send(StepCrowdRequest(robots))
        if self._has_crowd:
            self._people = self._pedestrians(driver.step + 1)
        pedestrians = self._people if self._has_crowd else None
        if not plans:
            return pedestrians, None
        planned, failures = self._planned(driver.names) if asks else ({}, {})
        waited = [name for name, on in zip(driver.names, active, strict=True) if on and not self._driven.get(name)]
        self._wait_for(waited, topics)
        twists = np.zeros((len(driver.names), 3), np.float32)
        for r, name in enumerate(driver.names):
            if active[r]:
                twists[r] = planned[name] if name in planned else topics[name].command()[0]
        return pedestrians, (twists, failures)

    def _pedestrians(self, step: int) -> Any:
        answer = self._crowd.answer(self._give_up)
        if not answer.success:
            raise CallError(f"the crowd refused a step: {answer.message}")
        if answer.pedestrians.step != step:
            raise CallError(f"the crowd answered for step {answer.pedestrians.step} instead of {step}; start a new episode")
        return answer.pedestrians

    def _planned(self, names: tuple[str, ...]) -> tuple[dict[str, Floats], dict[int, str]]:
        """Return the twists by robot name, and the failures by robot index, of the robots that the navigation drives."""
        answer = self._plan.answer(self._give_up)
        if not answer.success:
            raise CallError(f"the navigation refused to plan: {answer.message}")
        missing = [name for name in names if self._driven.get(name) and name not in answer.robots]
        if missing:
            raise CallError(f"the navigation does not drive {missing}; start a new episode")
        failures = {names.index(name): text for name, text in zip(answer.robots, answer.failures, strict=True) if text}
        return {name: from_twist(twist) for name, twist in zip(answer.robots, answer.twists, strict=True)}, failures

    def _wait_for(self, names: list[str], topics: Mapping[str, RobotTopics]) -> None:
        """Wait until the robots have sent new commands."""
        end = time.monotonic() + self._patience
        with self._news:
            while silent := [name for name in names if topics[name].received <= self._received.get(name, 0)]:
                left = end - time.monotonic()
                if left <= 0 or self._give_up():
                    self.missed += len(silent)
                    rospy.logwarn_throttle(
                        5.0,
                        f"lock step: no new cmd_vel for {silent} within {self._patience:g} s, {self.missed} times so far; "
                        "their last commands continue. Publish one command for every scan",
                    )
                    return
                self._news.wait(min(left, 0.05))

    def close(self) -> None:
        """Close the connections; outstanding answers are discarded."""
        self._plan.drop()
        self._crowd.drop()
