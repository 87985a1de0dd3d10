"""The timed elastic band planner.

`plan` and `scene` also serve `agora.planners.local.cohan`, whose robot uses the same band; the band itself, its costs and its
solver are in `agora.planners._bands`.
"""

from agora.planners.local.teb._planner import Teb as Teb
