"""Model predictive path integral control: drives the mean of a thousand roll-outs, weighted by their costs."""

from agora.planners.local.mppi._planner import Mppi as Mppi
