"""Dragon: finds gaps in the laser scan, and uses a cone to drive through them."""

from agora.planners.local.dragon._planner import Dragon as Dragon
