"""Compiles the kernels of a graph before any of its nodes are started, and reports progress.

Otherwise, every node would compile its own kernels while other nodes wait for it, and the first episode would begin only two
minutes after RViz opens.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import yaml

from agora.config import load
from agora.draft.stage import Stage
from agora.errors import AgoraError
from agora.node_logic.warm import Compiled, warm_episode
from agora.planners.presets import named_planner
from agora.registry import Named, available
from agora.share import folder
from agora.tasks.settings import Settings
from agora.world.start import Start
from agora_task_generator.parameters import Parameters
from agora_task_generator.playlist import playlist_of


def main() -> int:
    """Compile the kernels for the arguments ``name:=value`` on the command line; the nodes report errors in these arguments."""
    given = dict(argument.split(":=", 1) for argument in sys.argv[1:])
    compiled = Compiled(repr(sorted(given.items())))
    config, simulator = (given.pop(name, "") for name in ("config", "simulator"))
    try:
        parameters = Parameters.of({name: yaml.safe_load(text) for name, text in given.items() if text})
        if not compiled:
            begin, driven = partial(first_episode, parameters, config), planners(parameters)
            warm_episode(begin, driven, tell, observed=simulator not in available("simulators"))
            compiled.mark()
    except (AgoraError, OSError):
        print("no")
    else:
        print("yes")
    return 0


def tell(text: str) -> None:
    """Print a text for the user who called roslaunch; roslaunch itself reads the standard output."""
    print(f"agora: {text}", file=sys.stderr, flush=True)


def planners(parameters: Parameters) -> list[Named]:
    """Return the planners of the robots that the library drives, without duplicates.

    Raises:
        InputError: a planner, robot or robot setup file does not exist.
    """
    robots = [robot for robot in parameters.robots() if robot.planned_here]
    return list(dict(named_planner(robot.local_planner, robot.inter_planner, parameters.agent_name) for robot in robots).values())


def first_episode(parameters: Parameters, config: str) -> tuple[Start, Stage]:
    """Return the first episode that the task generator would begin; ``config`` is the path of the task generator's configuration
    file, empty for the default.

    Raises:
        InputError: no episode can be created from the parameters.
    """
    settings = load(Path(config) if config else folder("configs") / "task_generator.yaml", Settings)
    turn = playlist_of(parameters, settings.with_parameters(parameters.over_settings())).next()
    return turn.start, turn.stage
