"""RRT*: grows a tree of random positions; as the tree grows, the path through it to the goal becomes shorter."""

from agora.planners.global_.rrt_star._planner import RrtStar as RrtStar
