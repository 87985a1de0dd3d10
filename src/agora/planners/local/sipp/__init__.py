"""Safe interval path planning among people who walk as predicted."""

from agora.planners.local.sipp._planner import Sipp as Sipp
