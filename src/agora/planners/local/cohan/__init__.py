"""CoHAN's human-aware timed elastic bands: the robot plans for the people around it as well as for itself."""

from agora.planners.local.cohan._planner import Cohan as Cohan
