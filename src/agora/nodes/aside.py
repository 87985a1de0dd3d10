"""Global paths that are made again and again while the robots of one world go on along the ones before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future

from agora.core.state import Array, Floats
from agora.engine.paths import Paths

__all__ = ["Aside"]


class Aside:
    """Asks for one path of a robot after the other.

    Args:
        paths: makes them.
        goal_of: says the goal (3,) of a robot, if it has one.
        executor: its thread; without one a path is there at once.
    """

    def __init__(self, paths: Paths, goal_of: Callable[[int], Array | None], executor: Executor | None) -> None:
        self._paths, self._goal_of, self._executor = paths, goal_of, executor
        self._coming: dict[int, tuple[Array, Future[Floats]]] = {}

    def ask(self, robot: int) -> None:
        """Have a robot's path from where it is made anew, unless one is under way."""
        goal = self._goal_of(robot)
        if goal is None or robot in self._coming:
            return
        question = self._paths.question(0, robot, self._paths.pose(0, robot), goal)
        if self._executor is not None:
            self._coming[robot] = goal, self._executor.submit(question)
        else:
            future: Future[Floats] = Future()
            future.set_result(question())
            self._coming[robot] = goal, future

    def drop(self, robot: int) -> None:
        """Do not wait for the path of a robot any more: it has got another one."""
        self._coming.pop(robot, None)

    def answered(self) -> Iterator[tuple[int, Floats]]:
        """Robots and the paths that have been made for them; a path to another goal than the robot has now is left out."""
        for robot, (goal, path) in list(self._coming.items()):
            if path.done():
                del self._coming[robot]
                now = self._goal_of(robot)
                if now is not None and (now == goal).all():
                    yield robot, path.result()
