"""``agora serve`` and ``agora bench --planner socnavbench``: simulate worlds for external planners. Modules are imported only when
a command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agora.cli.options import VideoCount
from agora.cli.results import finish, wanted_videos

if TYPE_CHECKING:
    from agora.benchmark.socnavbench.joystick import Meeting
    from agora.tasks.suite import Suite

serve = typer.Typer(help="Simulate worlds for planners in other processes.", no_args_is_help=True)


@serve.callback()
def _serve() -> None:
    """Simulate worlds for planners in other processes."""


@serve.command()
def socnavbench(
    episodes: Annotated[
        list[str] | None,
        typer.Option("--episodes", "-e", help="An episode, or several separated by commas; all 33 by default."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("results/serve_socnavbench"),
    address: Annotated[
        str | None,
        typer.Option(
            help="PATH for the sockets PATH_recv and PATH_send, or 127.0.0.1:PORT for PORT and PORT + 1; SocNavBench's "
            "sockets by default."
        ),
    ] = None,
    recv: Annotated[str, typer.Option(help="Socket of the simulator, a path or 127.0.0.1:PORT (recv_ID in SocNavBench).")] = "",
    send: Annotated[str, typer.Option(help="Socket of the joystick, a path or 127.0.0.1:PORT (send_ID in SocNavBench).")] = "",
    asynchronous: Annotated[bool, typer.Option("--asynchronous", help="Run in real time, whether commands arrive or not.")] = False,
    repeats: Annotated[
        int | None, typer.Option(help="With --asynchronous: maximum number of repeated commands in an episode; 50 by default.")
    ] = None,
    patience: Annotated[
        float | None,
        typer.Option(help="Without --asynchronous: time without a command after which the run ends, s; 3600 by default."),
    ] = None,
    render_mode: Annotated[
        str, typer.Option(help="schematic, or full-render to also send colour and depth images from a camera on the robot.")
    ] = "schematic",
    camera: Annotated[
        str,
        typer.Option(
            help="With full-render: key=value,key=value, or ROBOT,key=value, of the camera; SocNavBench's own settings by default."
        ),
    ] = "",
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in the results folder.")] = False,
    video: VideoCount = "0",
) -> None:
    """Act as SocNavBench's simulator for one of its joysticks, and write results and a report.

    The episodes are those of the suite socnavbench, under its rules. The joystick provides the planner's name for the results.
    """
    from agora.tasks.suite import load_suite

    films = wanted_videos(video)
    asked = {"address": address, "recv": recv, "send": send, "asynchronous": asynchronous, "repeats": repeats, "patience": patience}
    asked |= {"render_mode": render_mode, "camera": camera}
    meeting = {name: value for name, value in asked.items() if value is not None}
    suite = with_episodes(load_suite("socnavbench"), [name for text in episodes or () for name in text.split(",")])
    _play(suite, output, _meeting(meeting, "serve"), resume)
    finish(output, films)


def bench_by_sockets(suite: Suite, planner: str, folder: Path, resume: bool) -> None:
    """Let a SocNavBench joystick drive through a suite.

    Args:
        suite: suite to run.
        planner: ``socnavbench``, optionally with a colon and fields of `agora.benchmark.socnavbench.joystick.Meeting`.
        folder: folder of the results.
        resume: whether to continue the run in the folder.
    """
    from agora.config import parse_parameters

    _play(suite, folder, _meeting(parse_parameters(planner.partition(":")[2], "--planner socnavbench"), "--planner"), resume)


def with_episodes(suite: Suite, names: list[str]) -> Suite:
    """Return the suite with only the named SocNavBench episodes; without names, the whole suite.

    Raises:
        UnknownNameError: an episode is unknown.
    """
    from dataclasses import replace

    from agora.datasets.socnavbench import episode_names
    from agora.errors import UnknownNameError

    known = episode_names() if names else []
    for name in names:
        if name not in known:
            raise UnknownNameError("SocNavBench episode", name, known)
    if not names:
        return suite
    (stage,) = suite.stages
    world = replace(stage.world, part=replace(stage.world.part, episodes=tuple(dict.fromkeys(names))))
    return replace(suite, stages=(replace(stage, world=world),))


def _meeting(given: dict[str, Any], where: str) -> Meeting:
    from agora.benchmark.socnavbench.joystick import Meeting
    from agora.config import build

    return build(given, Meeting, where)


def _play(suite: Suite, folder: Path, meeting: Meeting, resume: bool) -> None:
    """Run a suite with a joystick, and print the progress."""
    from agora.benchmark.executors.outside import EpisodeLostError
    from agora.benchmark.results.run_folder import episodes_kept
    from agora.benchmark.socnavbench.player import bench_by_joystick
    from agora.cli.stopping import stoppable
    from agora.errors import ResultsError

    def say(line: str) -> None:
        typer.echo(line, err=True)

    try:
        with stoppable(lambda: episodes_kept(folder)):
            for _ in bench_by_joystick(suite, folder, meeting, resume=resume, say=say):
                pass
    except EpisodeLostError as lost:
        raise ResultsError(f"{folder}: no episode was run: {lost}") from lost
