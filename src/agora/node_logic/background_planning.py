"""Background planning: computes new global paths while the robots in one world follow their current paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future

from agora.core.state import Array, Floats
from agora.engine.paths import Paths

__all__ = ["BackgroundPlanner"]


class BackgroundPlanner:
    """Plans new paths for robots, at most one per robot at a time.

    Args:
        paths: global paths of the robots, which plan each new path.
        goal_of: function that returns the goal (3,) of a robot, or None.
        executor: executor that runs the planning; without an executor, `request` plans before it returns.
    """

    def __init__(self, paths: Paths, goal_of: Callable[[int], Array | None], executor: Executor | None) -> None:
        self._paths, self._goal_of, self._executor = paths, goal_of, executor
        self._pending: dict[int, tuple[Array, Future[Floats]]] = {}

    def request(self, robot: int) -> None:
        """Plan a new path from a robot's position, unless one is already being planned."""
        goal = self._goal_of(robot)
        if goal is None or robot in self._pending:
            return
        question = self._paths.question(0, robot, self._paths.pose(0, robot), goal)
        if self._executor is not None:
            self._pending[robot] = goal, self._executor.submit(question)
        else:
            future: Future[Floats] = Future()
            future.set_result(question())
            self._pending[robot] = goal, future

    def cancel(self, robot: int) -> None:
        """Discard the path that is being planned for a robot, because the robot has received another path."""
        self._pending.pop(robot, None)

    def take_paths(self) -> Iterator[tuple[int, Floats]]:
        """Yield each robot with a new path, and the path; paths to goals that the robot no longer has are skipped."""
        for robot, (goal, path) in list(self._pending.items()):
            if path.done():
                del self._pending[robot]
                now = self._goal_of(robot)
                if now is not None and (now == goal).all():
                    yield robot, path.result()
