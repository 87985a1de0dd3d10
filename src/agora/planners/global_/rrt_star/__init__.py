"""RRT*: a tree of random places, whose paths to the goal become ever shorter."""

from agora.planners.global_.rrt_star._planner import RrtStar as RrtStar
