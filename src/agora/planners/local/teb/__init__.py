"""The timed elastic band planner.

`plan` and `scene` are also used by `agora.planners.local.cohan`, in which the robot has the same kind of band. The band itself, its
costs and its solver are in `agora.planners._bands`.
"""

from agora.planners.local.teb._planner import Teb as Teb
