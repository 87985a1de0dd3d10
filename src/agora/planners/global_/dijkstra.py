"""Dijkstra's algorithm over the cells of a map, as in navfn."""

from __future__ import annotations

from dataclasses import dataclass

from agora.planners.global_.astar import AStar


@dataclass(frozen=True)
class Dijkstra(AStar):
    """`AStar` without the heuristic (Dijkstra 1959): slower, but its paths have the same cost; among equally cheap paths, it may
    choose a different one.
    """

    heuristic: bool = False
