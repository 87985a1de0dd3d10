"""Commands for episodes that run elsewhere: ``agora bag``, and ``bench`` in ROS. Modules are imported only when a command runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agora.cli import numbers

if TYPE_CHECKING:
    from agora.datasets.played import PlayedEpisode
    from agora.interfaces import Metric


def bag(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Bags, MCAP files, folders that contain them, or folders written by Arena's recorder.", metavar="PATH..."
        ),
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder for the results and a report.")] = None,
    robot: Annotated[str, typer.Option(help="Robot model, if the recording does not specify it.")] = "",
    goal: Annotated[str, typer.Option(help="Goal to use instead of the recorded goals: x,y on the map, m.")] = "",
    odometry: Annotated[str, typer.Option(help="Odometry topic to read, if a bag has several.")] = "",
    people: Annotated[str, typer.Option(help="People topic to read, if a bag has several.")] = "",
    planner: Annotated[
        str, typer.Option("--planner", "-p", help="Name of the planner that drove the robot, to use instead of the recorded name.")
    ] = "",
    replay: Annotated[Path | None, typer.Option(help="Write a page that replays the episodes (.html).")] = None,
    demonstrations: Annotated[
        Path | None, typer.Option(help="Write observations and commands to a folder, as demonstrations for training.")
    ] = None,
    metric: numbers.Named = None,
    every: numbers.All = False,
) -> None:
    """Compute the metrics of episodes from rosbags (without ROS), MCAP files, or Arena's CSV folders."""
    from agora.datasets.recorded import Unsaid, files_of, read_all
    from agora.errors import InputError

    shown = numbers.measures(metric or (), every)
    unread: list[str] = []
    episodes = read_all(paths, Unsaid.of(robot, goal, planner, odometry, people), unread)
    for note in dict.fromkeys(note for played in episodes for note in played.notes):
        typer.echo(note)
    for played in episodes:
        _say(played, shown if metric or every or (len(episodes) == 1 and output is None) else [])
    if len(episodes) == 1 and output is None and not metric and not every:
        typer.echo(numbers.MORE)
    if replay is not None:
        from agora.viewer.replay import write_replay

        named = {f"{p.entry}/{r.planner}/{n}": r.recording for p in episodes for n, r in enumerate(p.robots)}
        typer.echo(f"replay  {write_replay(replay, named)}")
    if demonstrations is not None:
        from agora.learning.demonstrations import write_demonstrations

        written, left_out = write_demonstrations(dict.fromkeys(file for path in paths for file in files_of(path)), demonstrations)
        for path in written:
            typer.echo(f"demonstration  {path}")
        for reason in left_out:
            typer.echo(f"left out  {reason}", err=True)
    if output is not None:
        from agora.benchmark.external_results import write_played
        from agora.reporting.report import report

        rows = write_played(output, episodes)
        typer.echo(f"rows    {len(rows)}")
        if rows:
            typer.echo(f"report  {report(output)}")
    if unread:
        raise InputError("\n".join([f"left out {len(unread)} recordings that cannot be read:", *unread]))


def _say(played: PlayedEpisode, shown: Sequence[Metric]) -> None:
    """Print the result of an episode: its outcome and metrics."""
    for number, robot in enumerate(played.robots):
        outcome = "unknown" if "outcome" in robot.missing else robot.recording.outcome.label
        typer.echo(f"{played.entry}/{robot.planner}/{number}: {played.interrupted or outcome}, {robot.recording.time[-1]:.1f} s")
        for line in numbers.lines(shown, robot.measure):
            typer.echo(line)


def bench_in_ros(suite: str, folder: Path, resume: bool, launch: str) -> None:
    """Run a suite through a ROS graph, using the ``bench`` node of agora_evaluation in a separate process.

    Raises:
        InputError: ROS or a workspace is missing. ResultsError: the node failed and has printed the reason.
    """
    import shutil
    import signal
    import subprocess

    from agora.errors import InputError, ResultsError

    if shutil.which("rosrun") is None or subprocess.run(["rospack", "find", "agora_evaluation"], capture_output=True).returncode:
        raise InputError(
            "--planner ros needs ROS 1 and Agora's workspace: run make ros, then source its devel/setup.bash. Without "
            "ROS, agora bag can still evaluate bags"
        )
    command = ["rosrun", "agora_evaluation", "bench", suite, "--output", str(folder), "--launch", launch]
    node = subprocess.Popen([*command, *(["--resume"] if resume else [])])
    before = {  # the node handles Ctrl-C itself, reports which results are kept, and ends the processes that it launched
        signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN),
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: node.terminate()),
    }
    try:
        code = node.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if code in (128 + signal.SIGINT, 128 + signal.SIGTERM):
        raise typer.Exit(code)
    if code:
        raise ResultsError(f"{folder}: the suite was not run; see the reason above")
