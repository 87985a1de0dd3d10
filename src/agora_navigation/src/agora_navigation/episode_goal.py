"""Sets goals of the ``move_base`` action in an episode. The simulator owns every robot's goal, so this module asks the simulator to
set it.
"""

from __future__ import annotations

from typing import NamedTuple

import rospy
from agora_ros.calls import Call, CallError
from agora_ros.conversions import to_pose2d

from agora.core.state import Array
from agora_msgs.srv import SetGoal, SetGoalRequest

_PATIENCE = 5.0  # s of wall time


class Answer(NamedTuple):
    """The simulator's answer.

    Attributes:
        asked: whether a simulator was available.
        number: number of the goal in the episode; 0 if the goal was rejected.
        reason: reason for the rejection.
    """

    asked: bool
    number: int = 0
    reason: str = ""


class EpisodeGoals:
    """Calls ``simulator/set_goal``; the task generator announces the goal, and the episode status distributes it to all nodes."""

    def __init__(self) -> None:
        self._call = Call("simulator/set_goal", SetGoal, _PATIENCE)

    def set(self, robot: str, goal: Array) -> Answer:
        """Ask the simulator to set a robot's goal (3,)."""
        try:
            self._call.send(SetGoalRequest(robot, to_pose2d(goal)))
        except CallError as error:
            return Answer(asked=False, reason=str(error))
        try:
            answer = self._call.answer(rospy.is_shutdown)
        except CallError as error:
            return Answer(asked=True, reason=str(error))
        return Answer(True, answer.goal if answer.success else 0, answer.message)
