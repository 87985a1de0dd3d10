"""Dragon: gaps in the laser scan, and a cone to drive through them."""

from agora.planners.local.dragon._planner import Dragon as Dragon
