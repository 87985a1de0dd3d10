"""CoHAN's human-aware timed elastic bands: the robot plans for itself and for the people around it."""

from agora.planners.local.cohan._planner import Cohan as Cohan
