"""Model predictive control: an optimal control problem at every call, solved by fatrop."""

from agora.planners.local.mpc._planner import Mpc as Mpc
