"""The dynamic window approach as implemented in the navigation stack of ROS."""

from agora.planners.local.dwa._planner import Dwa as Dwa
