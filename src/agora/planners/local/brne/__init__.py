"""BRNE: the robot and the pedestrians around it choose paths together, as in a game."""

from agora.planners.local.brne._planner import Brne as Brne
