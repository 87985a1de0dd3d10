"""Model predictive path integral control: drives the mean of a thousand roll-outs, in which low costs have high weights."""

from agora.planners.local.mppi._planner import Mppi as Mppi
