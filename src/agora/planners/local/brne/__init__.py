"""BRNE: the robot and the pedestrians around it choose their paths jointly, as in a game."""

from agora.planners.local.brne._planner import Brne as Brne
