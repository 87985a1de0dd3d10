"""Trajectory roll-out, the older of the two local planners in the ROS navigation stack."""

from agora.planners.local.trajectory_rollout._planner import TrajectoryRollout as TrajectoryRollout
