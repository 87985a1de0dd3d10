"""The command line. Every command imports what it needs when it runs, so that ``--help`` is quick."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agora import __version__
from agora.cli_bags import bag, demonstrations, mcap, socnavbench, socnavdata
from agora.cli_compiling import tell_compiling
from agora.cli_leaderboard import leaderboard, submit
from agora.cli_maps import import_, maps
from agora.cli_policies import policies
from agora.cli_results import finish, follow
from agora.cli_scenarios import scenarios
from agora.cli_serve import serve
from agora.cli_train import train
from agora.cli_tune import tune
from agora.cli_validate import calibrate, validate
from agora.errors import AgoraError, StoppedError, in_words

if TYPE_CHECKING:
    from agora.benchmark.form import RequestForm
    from agora.core.recording import Recording
    from agora.perception.perception import Level

app = typer.Typer(
    name="agora",
    help="Robot navigation among people: run, benchmark, look.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
data = typer.Typer(help="Real data: what is there, and bringing it in.", no_args_is_help=True)
app.add_typer(data, name="data")
app.add_typer(scenarios, name="scenario")
app.add_typer(maps, name="map")
app.add_typer(import_, name="import")
app.add_typer(policies, name="policy")
app.add_typer(serve, name="serve")
app.command()(bag)
app.command()(mcap)
app.command()(socnavbench)
app.command()(socnavdata)
app.command()(demonstrations)
app.command()(train)
app.command()(tune)
app.command()(validate)
app.command()(calibrate)
app.command()(submit)
app.command()(leaderboard)

SuiteName = Annotated[str, typer.Argument(help="A suite's name (agora list suites) or file, or a folder of Arena's benchmark.")]
PlannerNames = Annotated[
    list[str] | None,
    typer.Option(
        "--planner",
        "-p",
        help="A planner, NAME, NAME:key=value,key=value or PLANNER+INTERPLANNER; repeat it to compare several. "
        "Without it, all that are registered.",
    ),
]
InterPlannerName = Annotated[
    str, typer.Option("--interplanner", "-i", help="In front of planners that name none: NAME or NAME:key=value,key=value.")
]
Seed = Annotated[int | None, typer.Option(help="Seed instead of the suite's.", min=0)]


@app.command()
def bench(
    context: typer.Context,
    suite: SuiteName,
    planner: PlannerNames = None,
    interplanner: InterPlannerName = "",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder of the results; results/SUITE by default.")] = None,
    workers: Annotated[
        int,
        typer.Option(help="Worker processes; 0 runs in this one, where a planner that hangs or ends its process ends the run."),
    ] = 2,
    executor: Annotated[
        str, typer.Option(help="Who runs the episodes instead of these workers, with parameters: processes:workers=4,deadline=60.")
    ] = "",
    threads: Annotated[int, typer.Option(help="Threads over worlds, in each worker.")] = 1,
    batch: Annotated[int, typer.Option(help="Most episodes side by side.")] = 64,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was begun in the folder.")] = False,
    trajectories: Annotated[str, typer.Option(help="Recordings to keep: all, failed or none.")] = "all",
    record: Annotated[
        list[str] | None, typer.Option(help="A channel whose readings the recordings keep, such as scan; repeat it.")
    ] = None,
    video: Annotated[int, typer.Option(help="Episodes of each planner to make a video of.")] = 0,
    pedestrians: Annotated[
        list[str] | None,
        typer.Option(help="What planners are told of them: truth, view, visible or tracked; repeat it for several."),
    ] = None,
    seed: Seed = None,
    simulator: Annotated[str, typer.Option(help="What moves the robots, NAME or NAME:key=value; the stage's own by default.")] = "",
    counterfactual: Annotated[
        bool,
        typer.Option("--counterfactual", help="Run each episode once more without robots, and measure what robots did to people."),
    ] = False,
    no_control: Annotated[
        bool, typer.Option("--no-control", help="Without pure_pursuit, the blind control beside planners that see people.")
    ] = False,
    ros_launch: Annotated[
        str, typer.Option(help="With --planner ros: arguments of a roslaunch to start for it; the running graph by default.")
    ] = "",
) -> None:
    """Run a suite under one or more planners and write a report.

    A folder with Arena's config.yaml, suites and contests is run under the planners of its contest where none are named.
    The planner ros is whatever drives the robots of a running ROS graph; socnavbench:address=PATH is a joystick of SocNavBench that
    connects to PATH_recv (agora serve).
    """
    from agora.cli_outside import run_outside

    form = _form(
        suite=suite,
        planners=tuple(planner or ()),
        interplanner=interplanner,
        output=output,
        resume=resume,
        seed=seed,
        simulator=simulator,
        pedestrians=tuple(dict.fromkeys(pedestrians or ())),
        counterfactual=counterfactual,
        control=not no_control,
        executor=executor,
        workers=workers,
        threads=threads,
        batch=batch,
        trajectories=trajectories,
        record=tuple(dict.fromkeys(record or ())),
    )
    finish(run_outside(context, form, ros_launch) or _played(form), video)


def _played(form: RequestForm) -> Path:
    """Run what is asked for in this process and its workers, and return the folder of the results."""
    from agora.benchmark.bench import bench as events_of
    from agora.benchmark.run_folder import episodes_kept
    from agora.cli_stopping import stoppable

    for name, reason in form.left_out().items():
        typer.echo(f"left out: {name}: {reason}", err=True)
    request = form.request()
    folder = form.folder(request.suite)
    with stoppable(lambda: episodes_kept(folder)):
        follow(events_of(request), f"{request.suite.name}: {', '.join(request.planners)}")
    return folder


def _form(**fields: Any) -> RequestForm:
    """What is asked for; what is wrong with a field is said of its option."""
    from agora.benchmark.form import RequestForm
    from agora.errors import InputError

    try:
        return RequestForm(**fields)
    except InputError as error:
        raise InputError(f"--{error}") from error


def _level(text: str) -> Level:
    """A level of perception by its name."""
    from agora.errors import InputError
    from agora.perception.perception import LEVELS

    for level in LEVELS:
        if level == text:
            return level
    raise InputError(f"--pedestrians: expected {', '.join(LEVELS)}, got {text!r}")


@app.command()
def run(
    suite: SuiteName,
    planner: Annotated[
        str, typer.Option("--planner", "-p", help="A planner, NAME, NAME:key=value,key=value or PLANNER+INTERPLANNER.")
    ],
    interplanner: InterPlannerName = "",
    stage: Annotated[str | None, typer.Option(help="Stage of the suite; the first by default.")] = None,
    episode: Annotated[int, typer.Option(help="Number of the episode in its stage.")] = 0,
    picture: Annotated[Path | None, typer.Option(help="Write a picture (.png, .pdf or .svg).")] = None,
    video: Annotated[Path | None, typer.Option(help="Write a video (.mp4).")] = None,
    replay: Annotated[Path | None, typer.Option(help="Write a page that plays the episode (.html).")] = None,
    live: Annotated[bool, typer.Option("--live", help="Show it in a window.")] = False,
    pedestrians: Annotated[
        str | None,
        typer.Option(help="What the planner is told of them: truth, view, visible or tracked; as the stage says by default."),
    ] = None,
    seed: Seed = None,
) -> None:
    """Run one episode and print its metrics; ends with exit code 1 where the planner failed."""
    from dataclasses import replace

    from agora.benchmark.bench import with_seed
    from agora.benchmark.form import read_benchmark
    from agora.benchmark.job import metrics
    from agora.episode import Conditions, Episodes
    from agora.errors import InputError
    from agora.planners.presets import named_planner

    _check_outputs(live, picture=(picture, (".png", ".pdf", ".svg")), video=(video, (".mp4",)), replay=(replay, (".html",)))
    chosen = with_seed(read_benchmark(suite)[0], seed)
    place = chosen.stage(stage) if stage is not None else chosen.stages[0]
    if not 0 <= episode < place.count:
        raise InputError(f"--episode: stage {place.name!r} has episodes 0 to {place.count - 1}, got {episode}")
    label, named = named_planner(planner, interplanner)
    start = chosen.start(place.name, episode)
    told = place
    if pedestrians is not None:
        told = replace(place, pedestrians=replace(place.perception, source=_level(pedestrians)))
    _, recordings = next(iter(Episodes([start], named.part, Conditions.of(told))))
    recording, *others = recordings
    _show(recordings, picture, video, replay)
    typer.echo(f"{start.entry}  seed {chosen.seed}  {label}: {recording.outcome.label}")
    if others:
        typer.echo(f"other robots: {', '.join(other.outcome.label for other in others)}; metrics are those of the first")
    for number, each in enumerate(recordings):
        if each.failure:
            typer.echo(f"robot {number}: its planner failed after {each.time[-1]:.2f} s: {each.failure}")
    for measure in metrics():
        value = measure(recording)
        typer.echo(f"  {measure.name:52s} {'-' if value is None else f'{value:.4g}':>10s} {measure.unit}")
    if live:
        from agora.viewer.live import play

        play(recording, others=others)
    if any(each.failure for each in recordings):
        raise typer.Exit(1)


def _check_outputs(live: bool, **files: tuple[Path | None, tuple[str, ...]]) -> None:
    """Make sure that what is to be shown can be written or opened, before anything is run."""
    from agora.errors import InputError

    for option, (path, endings) in files.items():
        if path is None:
            continue
        if path.suffix.lower() not in endings:
            raise InputError(f"--{option} {path}: expected a name that ends in {' or '.join(endings)}")
        if path.is_dir() or not path.absolute().parent.is_dir() or not os.access(path.absolute().parent, os.W_OK):
            raise InputError(f"--{option} {path}: no file can be written there")
    if live:
        from agora.viewer.live import check_screen

        check_screen()


def _show(recordings: Sequence[Recording], picture: Path | None, video: Path | None, replay: Path | None) -> None:
    """Write the files that are asked for."""
    recording, *others = recordings
    if picture is not None:
        from agora.viewer.figures import save, trajectory_figure

        save(trajectory_figure(recording, others=others), picture)
    if video is not None:
        from agora.viewer.video import write_video

        write_video(video, recording, others=others)
    if replay is not None:
        from agora.viewer.replay import write_replay

        write_replay(replay, {f"robot {k}": one for k, one in enumerate(recordings)} if others else {"episode": recording})


@app.command()
def report(folder: Annotated[Path, typer.Argument(help="Folder of the results.")]) -> None:
    """Write the report of a run again."""
    from agora.benchmark.kept import report as write

    typer.echo(write(folder))


@app.command()
def figures(
    folder: Annotated[Path, typer.Argument(help="Folder of the results.")],
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", help="A metric to compare; repeat it. Arena 3.0's six by default.")
    ] = None,
    kind: Annotated[str, typer.Option("--format", help="png, pdf or svg.")] = "pdf",
) -> None:
    """Write figures for a paper: outcomes with intervals, the distribution of metrics, and an overview of all of these."""
    from agora.benchmark.headline import ARENA
    from agora.benchmark.kept import figures as write
    from agora.errors import InputError

    if kind not in ("png", "pdf", "svg"):
        raise InputError(f"--format: expected png, pdf or svg, got {kind!r}")
    for path in write(folder, metric or list(ARENA), kind):
        typer.echo(path)


@app.command()
def warm() -> None:
    """Compile the kernels of a ROS graph now, so that its first start does not wait; once on a machine, a minute."""
    from agora.simulators.warm import warm as compile_kernels

    typer.echo("compiling kernels; once on a machine, this takes a minute ...")
    compile_kernels()
    typer.echo("done")


@app.command("list")
def list_(
    kind: Annotated[
        str | None, typer.Argument(help="suites, robots, planners, policies, trainings, metrics, ...; all by default.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """List what can be named: suites, robots, worlds and every kind of component."""
    from agora.errors import UnknownNameError
    from agora.learning.training import training_names
    from agora.planners.presets import preset_names
    from agora.policies.weights import policy_names
    from agora.registry import KINDS, available
    from agora.robots.model import robot_names
    from agora.tasks.suite import suite_names

    names = {"suites": suite_names(), "robots": robot_names()} | {k: sorted(available(k)) for k in KINDS}
    names |= {"presets": preset_names(), "policies": policy_names(), "trainings": training_names()}
    if kind is not None and kind not in names:
        raise UnknownNameError("kind", kind, names)
    shown = names if kind is None else {kind: names[kind]}
    if as_json:
        typer.echo(json.dumps(shown, indent=1))
        return
    for title, entries in shown.items():
        typer.echo(f"{title}: {', '.join(entries) or '-'}")


@app.command()
def robot(
    name: Annotated[str, typer.Argument(help="A robot's name (agora list robots) or file.")],
    kind: Annotated[str, typer.Option("--format", help="urdf or sdf.")] = "urdf",
) -> None:
    """Print the description of a robot: URDF for RViz and MuJoCo, SDF for Gazebo 11."""
    from agora.errors import InputError
    from agora.robots.model import load_robot
    from agora.robots.sdf import sdf
    from agora.robots.urdf import urdf

    if kind not in ("urdf", "sdf"):
        raise InputError(f"--format: expected urdf or sdf, got {kind!r}")
    typer.echo((urdf if kind == "urdf" else sdf)(load_robot(name)), nl=False)


@app.command()
def doctor() -> None:
    """Say what this machine has and what is missing."""
    from agora.doctor import examine

    good = True
    for line, fine in examine():
        good &= fine is not False
        typer.echo(f"{'absent' if fine is None else 'ok' if fine else 'MISSING':7s} {line}")
    raise typer.Exit(0 if good else 1)


@data.command("status")
def data_status() -> None:
    """Say which data sets are there."""
    from agora.datasets.catalogue import CATALOGUE, status

    for name in CATALOGUE:
        there = status(name)
        typer.echo(f"{name:14s} {there.state:11s} {there.folder}")


@data.command("import")
def data_import(
    name: Annotated[str, typer.Argument(help="Name of the data set (agora data status).")],
    source: Annotated[Path, typer.Argument(help="Folder that holds it.")],
    scene: Annotated[str, typer.Option(help="Of eth_ucy: the folder is that of one more scene, and this its name.")] = "",
    frame_rate: Annotated[float | None, typer.Option(help="Of the scene: frames per second in its numbering.")] = None,
    scale: Annotated[float | None, typer.Option(help="Of the scene: m of a unit of its places, such as a pixel.")] = None,
) -> None:
    """Check a data set, or one more scene of recorded pedestrians, and copy it to where Agora finds it."""
    from agora.datasets.catalogue import import_folder
    from agora.datasets.scene_import import import_scene
    from agora.datasets.scenes import SceneFile
    from agora.errors import InputError

    if not scene and (frame_rate, scale) != (None, None):
        raise InputError("--frame-rate and --scale are of one scene; name it: agora data import eth_ucy FOLDER --scene NAME")
    if scene and name != "eth_ucy":
        raise InputError(f"--scene {scene}: the data set {name!r} has no scenes of its own; expected eth_ucy")
    typer.echo(import_scene(source, scene, SceneFile(frame_rate, scale)) if scene else import_folder(name, source))


@app.callback(invoke_without_command=True)
def _version(show: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False) -> None:
    if show:
        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line; whoever reads its output may stop reading, which ends it without a word."""
    try:
        _run()
    finally:
        try:
            sys.stdout.flush()
        except BrokenPipeError:  # Python would flush once more at its end, and complain
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run() -> None:
    """Run a command: errors of Agora, and of the files that it was given, are one message and exit code 2.

    A disk that is full, a path that is too long or may not be read, and a machine without memory are nobody's mistake in the code.
    """
    tell_compiling()
    try:
        app()
    except StoppedError as stopped:
        typer.echo(str(stopped), err=True)
        sys.exit(stopped.code)
    except AgoraError as error:
        problem = str(error)
    except OSError as error:
        problem = in_words(error) if error.filename is None else f"{error.filename}: {error.strerror}"
    except MemoryError:
        problem = "the memory of this machine is not enough"
    else:
        return
    typer.echo(f"error: {problem.encode('utf-8', 'backslashreplace').decode()}", err=True)
    sys.exit(2)
