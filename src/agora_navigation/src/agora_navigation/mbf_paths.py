"""Serves Move Base Flex's action get_path with the library's global planners."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import rospy
from agora_ros.conversions import from_pose
from mbf_msgs.msg import GetPathAction, GetPathResult

from agora.core.state import Array
from agora.errors import nearest
from agora.interfaces import GlobalPlanner
from agora.maps.grid import Map
from agora.node_logic.move_base_flex import FlexError, GetPath, path_to
from agora.robots.model import RobotModel
from agora_navigation.actions import Action, is_cancelled
from agora_navigation.messages import to_path


class GetPathServer:
    """Plans one path after another in its own thread, while the robot is being driven.

    Args:
        server: name of the server, which prefixes the action's name.
        planners: global planners, keyed by name; the first planner is used for requests that do not name one.
        model: model of the robot.
        place: function that returns the map.
        here: function that returns the robot's pose (3,) in the map frame; None while the pose is unknown.
    """

    def __init__(
        self,
        server: str,
        planners: Mapping[str, GlobalPlanner],
        model: RobotModel,
        place: Callable[[], Map],
        here: Callable[[], Array | None],
    ) -> None:
        self._planners, self._model, self._place, self._here = planners, model, place, here
        self._action = Action(f"{server}/get_path", GetPathAction)
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            handle = self._action.goals.get()
            if is_cancelled(handle):
                handle.set_canceled(GetPathResult(outcome=GetPath.CANCELED, message="cancelled"))
                continue
            goal = handle.get_goal()
            if goal.planner and goal.planner not in self._planners:
                text = f"no planner called {goal.planner!r}; {nearest(goal.planner, self._planners)}"
                handle.set_rejected(GetPathResult(outcome=GetPath.INVALID_PLUGIN, message=text), text)
                continue
            handle.set_accepted()
            try:
                path = self._answer(goal)
            except FlexError as error:
                handle.set_aborted(GetPathResult(outcome=error.outcome, message=str(error)), str(error))
            except Exception as error:  # noqa: BLE001 of a planner; who asked waits for an answer
                text = f"the planner failed: {error}"
                handle.set_aborted(GetPathResult(outcome=GetPath.INTERNAL_ERROR, message=text), text)
            else:
                result = GetPathResult(outcome=GetPath.SUCCESS, path=to_path(path, rospy.Time.now()))
                result.cost = float(np.hypot(*np.diff(path[:, :2], axis=0).T).sum())
                if is_cancelled(handle):
                    handle.set_canceled(GetPathResult(outcome=GetPath.CANCELED, message="cancelled"))
                else:
                    handle.set_succeeded(result)

    def _answer(self, goal: Any) -> Array:
        """Return the requested path (K, 3).

        Raises:
            FlexError: there is no path.
        """
        here = self._placed(goal.start_pose, GetPath.INVALID_START) if goal.use_start_pose else self._here()
        if here is None:
            raise FlexError(GetPath.TF_ERROR, "the robot's position is unknown: it needs odometry and tf to map")
        there = self._placed(goal.target_pose, GetPath.INVALID_GOAL)
        planner = self._planners[goal.planner or next(iter(self._planners))]
        return path_to(planner, self._model, self._place(), here, there, goal.tolerance)

    @staticmethod
    def _placed(stamped: Any, outcome: GetPath) -> Array:
        if stamped.header.frame_id.lstrip("/") not in ("map", ""):
            raise FlexError(outcome, f"expected a pose in frame map, got {stamped.header.frame_id!r}")
        return from_pose(stamped.pose)
