"""RRT*: grows a tree of random positions; the path through it to the goal becomes ever shorter."""

from agora.planners.global_.rrt_star._planner import RrtStar as RrtStar
