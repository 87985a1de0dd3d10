"""SocNavBench's sampling planner: drives the cheapest of many splines."""

from agora.planners.local.sampling._planner import Sampling as Sampling
