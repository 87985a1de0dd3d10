"""BRNE: the robot and the pedestrians around it agree on their ways, as in a game."""

from agora.planners.local.brne._planner import Brne as Brne
