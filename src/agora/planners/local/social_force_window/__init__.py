"""The social force window planner: a window of velocities, scored by social work."""

from agora.planners.local.social_force_window._planner import SocialForceWindow as SocialForceWindow
