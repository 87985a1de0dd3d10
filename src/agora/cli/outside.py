"""``agora bench`` with an external planner: a ROS graph, or a SocNavBench joystick."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agora.cli.given import given, refuse
from agora.errors import InputError

if TYPE_CHECKING:
    from agora.benchmark.request_form import RequestForm


def run_outside(form: RequestForm, ros_launch: str) -> Path | None:
    """Run a suite with an external planner if one is named, and return the results folder; None if no external planner is named.

    Args:
        form: request made by the command.
        ros_launch: value of the ``--ros-launch`` option.
    """
    if "ros" in form.planners:
        from agora.cli.bags import bench_in_ros

        if form.planners != ("ros",):
            raise InputError("--planner ros cannot be combined with other planners: one program drives all robots of the ROS graph")
        why = "the suite sets seed and pedestrians; the ROS graph sets the simulator, runs one episode at a time and records bags"
        _refuse_unused("ros", why, "ros_launch")
        folder = form.folder(form.chosen()[0])
        bench_in_ros(form.suite, folder, form.resume, ros_launch)
        return folder
    if any(text.partition(":")[0] == "socnavbench" for text in form.planners):
        from agora.cli.serve import bench_by_sockets

        if len(form.planners) > 1:
            raise InputError(
                "--planner socnavbench cannot be combined with other planners: a single joystick drives the robot in all episodes"
            )
        why = "a single joystick drives the episodes one at a time and receives true pedestrian states; all recordings are kept"
        _refuse_unused("socnavbench", why, "seed")
        suite, _ = form.chosen()
        bench_by_sockets(suite, form.planners[0], form.folder(suite), form.resume)
        return form.folder(suite)
    if ros_launch:
        raise InputError("--ros-launch needs --planner ros")
    return None


def _refuse_unused(planner: str, why: str, *used: str) -> None:
    """Reject options that an external planner does not use.

    Args:
        planner: NAME of ``--planner NAME``.
        why: reason why options are not used.
        used: options that the planner uses, in addition to ``--output``, ``--resume`` and ``--video``.
    """
    known = {"planner", "output", "resume", "video", *used}
    refuse(f"with --planner {planner}: {why}", *(name for name in given() if name not in known))
