"""Safe interval path planning among people with predicted motion."""

from agora.planners.local.sipp._planner import Sipp as Sipp
