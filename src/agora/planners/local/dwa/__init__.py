"""The dynamic window approach, as the navigation stack of ROS drives it."""

from agora.planners.local.dwa._planner import Dwa as Dwa
