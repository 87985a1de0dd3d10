"""RRT*: a tree of random places, whose ways to the goal become ever shorter."""

from agora.planners.global_.rrt_star._planner import RrtStar as RrtStar
