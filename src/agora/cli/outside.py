"""``agora bench`` under a planner outside of this process: a ROS graph, or a joystick of SocNavBench."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from agora.errors import InputError

if TYPE_CHECKING:
    from agora.benchmark.form import RequestForm


def run_outside(context: typer.Context, form: RequestForm, ros_launch: str) -> Path | None:
    """Run a suite under a planner outside of this process, if one is named; return the folder of the results, None where none was.

    Args:
        context: context of the command.
        form: request of the command.
        ros_launch: option of the command.
    """
    if "ros" in form.planners:
        from agora.cli.bags import bench_in_ros

        if form.planners != ("ros",):
            raise InputError("--planner ros goes alone: whatever drives the robots of the graph, drives in all episodes")
        why = "seed and pedestrians are the suite's, the simulator is the graph's, which plays episodes one by one and keeps bags"
        _refuse_unused(context, "ros", why, "ros_launch")
        folder = form.folder(form.chosen()[0])
        bench_in_ros(form.suite, folder, form.resume, ros_launch)
        return folder
    if any(text.partition(":")[0] == "socnavbench" for text in form.planners):
        from agora.cli.serve import bench_by_sockets

        if len(form.planners) > 1:
            raise InputError("--planner socnavbench goes alone: one joystick drives in all episodes")
        why = "one joystick drives, told of true pedestrians, one episode after the other, and all recordings are kept"
        _refuse_unused(context, "socnavbench", why, "seed")
        suite, _ = form.chosen()
        bench_by_sockets(suite, form.planners[0], form.folder(suite), form.resume)
        return form.folder(suite)
    if ros_launch:
        raise InputError("--ros-launch goes with --planner ros alone")
    return None


def _refuse_unused(context: typer.Context, planner: str, why: str, *used: str) -> None:
    """Refuse options that a planner outside of this process leaves unused.

    Args:
        context: context of the command.
        planner: NAME of ``--planner NAME``.
        why: reason for it.
        used: options that it uses beside ``--output``, ``--resume`` and ``--video``.
    """
    known = {"suite", "planner", "output", "resume", "video", *used}
    given = [name for name in context.params if (source := context.get_parameter_source(name)) and source.name != "DEFAULT"]
    if unused := [f"--{name.replace('_', '-')}" for name in given if name not in known]:
        raise InputError(f"--planner {planner} goes alone, without {', '.join(unused)}: {why}")
