"""Optimal reciprocal collision avoidance (ORCA), with NH-ORCA for robots that turn on the spot."""

from agora.planners.local.orca._planner import OrcaPlanner as OrcaPlanner
