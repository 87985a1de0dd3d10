"""Hybrid A*: plans paths that a car can drive."""

from agora.planners.global_.hybrid_astar._planner import HybridAStar as HybridAStar
