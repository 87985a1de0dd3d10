"""The timed elastic band planner.

`agora.planners.local.cohan`, in which the robot has the same kind of band, also uses `plan` and `scene`. The band itself, its costs
and its solver are in `agora.planners._bands`.
"""

from agora.planners.local.teb._planner import Teb as Teb
