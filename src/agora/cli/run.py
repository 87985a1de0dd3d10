"""``agora run``: runs a single episode, and shows its metrics, pictures and videos."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agora.cli import numbers
from agora.cli.given import refuse
from agora.cli.options import InterPlannerName, Seed, Simulator, SuiteName

if TYPE_CHECKING:
    from agora.cli.unanswered import Unanswered
    from agora.core.recording import Recording
    from agora.draft.stage import Stage
    from agora.perception.perception import Level
    from agora.registry import Named
    from agora.world.start import Start


def run(
    suite: SuiteName,
    planner: Annotated[
        str,
        typer.Option(
            "--planner",
            "-p",
            help="Planner: NAME, NAME:key=value,key=value, PLANNER+INTERPLANNER, or informed.",
        ),
    ],
    interplanner: InterPlannerName = "",
    stage: Annotated[str | None, typer.Option(help="Stage of the suite; the first by default.")] = None,
    episode: Annotated[int, typer.Option(help="Index of the episode in its stage, from 0.")] = 0,
    picture: Annotated[Path | None, typer.Option(help="Write a picture (.png, .pdf or .svg).")] = None,
    video: Annotated[Path | None, typer.Option(help="Write a video (.mp4).")] = None,
    replay: Annotated[Path | None, typer.Option(help="Write a page that replays the episode (.html).")] = None,
    live: Annotated[bool, typer.Option("--live", help="Show the episode in a window.")] = False,
    pedestrians: Annotated[
        str | None,
        typer.Option(
            help="The planner's knowledge of people: truth, view, visible, tracked or camera; by default, as in the stage."
        ),
    ] = None,
    seed: Seed = None,
    simulator: Simulator = "",
    metric: numbers.Named = None,
    every: numbers.All = False,
) -> None:
    """Run one episode, print nine metrics, and write the requested files; exits with code 1 if the planner or simulator failed."""
    from agora.benchmark.contest import read_benchmark
    from agora.benchmark.informed import Informed
    from agora.benchmark.knowledge import blind, unaware
    from agora.cli.unanswered import Unanswered
    from agora.config import parse_component
    from agora.core.recording import Outcome
    from agora.errors import InputError
    from agora.reporting.failures import unread_note
    from agora.tasks.suite import with_seed
    from agora.viewer.scene import title_of
    from agora.viewer.why import why

    written = {"picture": picture, "video": video, "replay": replay}
    _check_outputs(live, picture=(picture, (".png", ".pdf", ".svg")), video=(video, (".mp4",)), replay=(replay, (".html",)))
    shown = numbers.measures(metric or (), every)
    chosen = with_seed(read_benchmark(suite)[0], seed)
    chosen = chosen.under(parse_component("simulators", simulator, "simulator") if simulator else None)
    place = chosen.stage(stage) if stage is not None else chosen.stages[0]
    if not 0 <= episode < place.count:
        raise InputError(f"--episode: stage {place.name!r} has episodes 0 to {place.count - 1}, got {episode}")
    label, named = _planner(planner, interplanner)
    start = chosen.start(place.name, episode)
    told = place if pedestrians is None else _told(place, pedestrians, named)
    with Unanswered(label) as calls:
        recordings = _recorded(named, start, told, calls)
    recording, *others = recordings
    told_of = (label, chosen.name, place.name, episode, chosen.seed_of(place.name))
    mine = {} if isinstance(named.part, Informed) else {label: named}
    _show(recordings, title_of(*told_of, blind=bool(blind(mine))), picture, video, replay)
    said = list(numbers.lines(shown, lambda measure: measure(recording)))
    typer.echo(f"{start.entry}  seed {chosen.seed}  {label}: {recording.outcome.label}")
    if recording.outcome is not Outcome.REACHED and not recording.failure:
        typer.echo(why(recording).words + unread_note(blind(mine), unaware(mine), label, recording.outcome.label))
    if others:
        typer.echo(f"other robots: {', '.join(other.outcome.label for other in others)}; the metrics are those of the first robot")
    for number, each in enumerate(recordings):
        if each.failure:
            who = "the simulator" if each.outcome is Outcome.SIMULATOR_FAILED else "its planner"
            typer.echo(f"robot {number}: {who} failed after {each.time[-1]:.2f} s: {each.failure}")
    for line in [*said, *([] if metric or every else [numbers.MORE])]:
        typer.echo(line)
    for kind, path in written.items():
        if path is not None:
            typer.echo(f"{kind:8s} {path}")
    if live:
        from agora.viewer.live import play

        play(recording, others=others)
    if any(each.failure for each in recordings):
        raise typer.Exit(1)


def _recorded(planner: Named, start: Start, stage: Stage, calls: Unanswered) -> list[Recording]:
    """Return the recordings of an episode's robots, driven by a planner or as the informed robot."""
    from agora.benchmark.informed import Informed
    from agora.episode import Conditions, Episodes
    from agora.interfaces import Watch

    conditions = Conditions.of(stage)
    if isinstance(planner.part, Informed):
        _, recordings = next(iter(planner.part.episodes([start], conditions, Watch(calls.before, calls.after))))
    else:
        _, recordings = next(iter(Episodes([start], planner.part, conditions, before=calls.before, after=calls.after)))
    return recordings


def _planner(text: str, interplanner: str) -> tuple[str, Named]:
    """Return the label and the planner that the options select, or the informed robot."""
    from agora.benchmark.control import entrant
    from agora.benchmark.informed import INFORMED
    from agora.planners.presets import names_interplanner

    if names_interplanner(text):
        refuse(f"with --planner {text}, which already names an interplanner", "interplanner")
    if interplanner and text == INFORMED:
        refuse(f"with --planner {text}, which is not a planner", "interplanner")
    return entrant(text, interplanner)


def _told(stage: Stage, level: str, planner: Named) -> Stage:
    """Return the stage with a different level of perception."""
    from dataclasses import replace

    from agora.engine.conditions import Conditions
    from agora.engine.observers import wiring_of
    from agora.planners.adapters import declaration_of
    from agora.robots.model import load_robot

    told = replace(stage, pedestrians=replace(stage.perception, source=_level(level)))
    needs, robots = declaration_of(planner.part).needs, [load_robot(name) for name in stage.models]
    if not any(wiring_of(needs, Conditions.of(told), one.lidar, one.sensors).tells_of_people for one in robots):
        refuse(f"on planner {planner.name!r}, which receives no pedestrians", "pedestrians")
    return told


def _level(text: str) -> Level:
    """Return the level of perception with a given name."""
    from agora.errors import InputError
    from agora.perception.perception import LEVELS

    for level in LEVELS:
        if level == text:
            return level
    raise InputError(f"--pedestrians: expected {', '.join(LEVELS)}, got {text!r}")


def _check_outputs(live: bool, **files: tuple[Path | None, tuple[str, ...]]) -> None:
    """Check that all outputs can be written or opened before the episode runs."""
    from agora.errors import InputError

    for option, (path, endings) in files.items():
        if path is None:
            continue
        if path.suffix.lower() not in endings:
            raise InputError(f"--{option} {path}: expected a name that ends in {' or '.join(endings)}")
        if path.is_dir() or not path.absolute().parent.is_dir() or not os.access(path.absolute().parent, os.W_OK):
            raise InputError(f"--{option} {path}: cannot be written; expected a file name in an existing, writable folder")
    if live:
        from agora.viewer.live import check_screen

        check_screen()


def _show(recordings: Sequence[Recording], title: str, picture: Path | None, video: Path | None, replay: Path | None) -> None:
    """Write the picture, the video and the replay that were requested."""
    recording, *others = recordings
    if picture is not None:
        from agora.viewer.figures import save, trajectory_figure

        save(trajectory_figure(recording, others=others, title=title), picture)
    if video is not None:
        from agora.viewer.video import write_video

        write_video(video, recording, title=title, others=others)
    if replay is not None:
        from agora.viewer.replay import write_replay

        named = {f"robot {k}": one for k, one in enumerate(recordings)}
        write_replay(replay, named, title=title, titles={name: f"{title}, {name}" if others else title for name in named})
