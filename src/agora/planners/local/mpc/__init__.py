"""Model predictive control: solves an optimal control problem at every call, with fatrop."""

from agora.planners.local.mpc._planner import Mpc as Mpc
