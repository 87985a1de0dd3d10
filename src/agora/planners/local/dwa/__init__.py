"""The dynamic window approach as implemented in the ROS navigation stack."""

from agora.planners.local.dwa._planner import Dwa as Dwa
