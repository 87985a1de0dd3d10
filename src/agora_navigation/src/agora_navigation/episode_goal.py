"""Goals of the action ``move_base`` in an episode: the simulator owns every robot's goal, so it is asked to set them."""

from __future__ import annotations

from typing import NamedTuple

import rospy
from agora_ros.calls import Call, CallError
from agora_ros.conversions import to_pose2d

from agora.core.state import Array
from agora_msgs.srv import SetGoal, SetGoalRequest

_PATIENCE = 5.0  # s of the wall's clock


class Answer(NamedTuple):
    """The simulator's answer.

    Attributes:
        asked: whether a simulator is there.
        number: number of the goal in the episode; 0 if it was refused.
        reason: reason of the refusal.
    """

    asked: bool
    number: int = 0
    reason: str = ""


class EpisodeGoals:
    """Calls ``simulator/set_goal``; the task generator announces the goal, and the status brings it to everybody."""

    def __init__(self) -> None:
        self._call = Call("simulator/set_goal", SetGoal, _PATIENCE)

    def set(self, robot: str, goal: Array) -> Answer:
        """Have a robot's goal (3,) set."""
        try:
            self._call.send(SetGoalRequest(robot, to_pose2d(goal)))
        except CallError as error:
            return Answer(asked=False, reason=str(error))
        try:
            answer = self._call.answer(rospy.is_shutdown)
        except CallError as error:
            return Answer(asked=True, reason=str(error))
        return Answer(True, answer.goal if answer.success else 0, answer.message)
