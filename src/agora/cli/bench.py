"""``agora bench``: runs a suite with planners."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agora.benchmark.defaults import BATCH, THREADS, TRAJECTORIES, WORKERS
from agora.cli.given import refuse
from agora.cli.options import InterPlannerName, Seed, Simulator, SuiteName, VideoCount
from agora.cli.results import finish, follow, wanted_videos

if TYPE_CHECKING:
    from agora.benchmark.request_form import RequestForm

_QUICK = 12
"""Number of episodes per stage with ``--quick``."""

PlannerNames = Annotated[
    list[str] | None,
    typer.Option(
        "--planner",
        "-p",
        help="A planner: NAME, NAME:key=value,key=value or PLANNER+INTERPLANNER; repeat the option to compare several. "
        "NAME:key=1,2,3 is a parameter sweep. "
        "By default, all registered planners.",
    ),
]


def bench(
    suite: SuiteName,
    planner: PlannerNames = None,
    interplanner: InterPlannerName = "",
    stage: Annotated[list[str] | None, typer.Option(help="A stage to run; repeat the option for several. All by default.")] = None,
    episodes: Annotated[
        int | None, typer.Option(help="Maximum number of episodes per stage, starting with the first; all by default.", min=1)
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help=f"Same as --episodes {_QUICK}, for a first look. In a stage with an axis, they cover it evenly."
        ),
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder for the results; results/SUITE by default.")] = None,
    workers: Annotated[
        int,
        typer.Option(
            help="Number of worker processes; with 0, episodes run in this process, "
            "where a planner that hangs or crashes ends the run."
        ),
    ] = WORKERS,
    executor: Annotated[
        str,
        typer.Option(
            help="Executor to use instead of these workers, with its parameters, such as processes:workers=4,deadline=60."
        ),
    ] = "",
    threads: Annotated[int, typer.Option(help="Threads per worker; the worlds are divided among them.")] = THREADS,
    batch: Annotated[int, typer.Option(help="Maximum number of episodes simulated side by side.")] = BATCH,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in the results folder.")] = False,
    add: Annotated[
        bool,
        typer.Option(
            "--add", help="Add the planners to the run in the results folder, on the same episodes; existing rows are kept."
        ),
    ] = False,
    trajectories: Annotated[str, typer.Option(help="Recordings to keep: all, failed or none.")] = TRAJECTORIES,
    record: Annotated[
        list[str] | None, typer.Option(help="A channel to record, such as scan; repeat the option for several.")
    ] = None,
    video: VideoCount = "0",
    pedestrians: Annotated[
        list[str] | None,
        typer.Option(
            help="Planners' knowledge of pedestrians: truth, view, visible, tracked or camera; repeat the option for several."
        ),
    ] = None,
    seed: Seed = None,
    simulator: Simulator = "",
    counterfactual: Annotated[
        bool,
        typer.Option("--counterfactual", help="Run each episode again without robots, to measure the effect of robots on people."),
    ] = False,
    no_control: Annotated[
        bool,
        typer.Option("--no-control", help="Leave out pure_pursuit, the control that does not see people."),
    ] = False,
    ros_launch: Annotated[
        str,
        typer.Option(help="With --planner ros: arguments of the roslaunch to start, e.g. 'agora_bringup start_arena.launch'."),
    ] = "",
) -> None:
    """Run a suite with one or more planners and write a report; exits with code 1 if a planner or the simulator failed.

    The suite limits makes episodes harder along several axes and measures the difficulty at which each planner succeeds half the
    time. The informed robot, which knows the future, and pure_pursuit, which does not see people, run in addition to the planners.
    -p informed adds the informed robot to any suite. A folder with Arena's config.yaml, suites and contests is run with the
    planners of its contest unless planners are named. The planner ros stands for the planner of a running ROS graph;
    socnavbench:address=PATH is a SocNavBench joystick that connects to PATH_recv (agora serve).
    """
    from agora.cli.outside import run_outside

    films = wanted_videos(video)
    if quick:
        refuse(f"with --quick, which means --episodes {_QUICK}", "episodes")
        episodes = _QUICK
    if executor:
        refuse("with --executor, which has its own parameters: --executor processes:workers=4", "workers")
    if trajectories == "none":
        refuse("with --trajectories none, which keeps no recordings", "video", "record")
    form = _form(
        suite=suite,
        planners=tuple(planner or ()),
        interplanner=interplanner,
        output=output,
        resume=resume,
        add=add,
        stages=tuple(dict.fromkeys(stage or ())),
        episodes=episodes,
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
    if (folder := run_outside(form, ros_launch)) is not None:
        finish(folder, films)
    else:
        finish(_played(form), films, partial(_again, form))


def _played(form: RequestForm) -> Path:
    """Run the request in this process and its workers, and return the results folder."""
    from agora.benchmark.bench import bench as events_of
    from agora.benchmark.results.run_folder import episodes_kept
    from agora.cli.stopping import stoppable

    form.prepare()
    for name, reason in form.left_out().items():
        typer.echo(f"left out: {name}: {reason}", err=True)
    request = form.request()
    folder = form.folder(request.suite)
    with stoppable(lambda: episodes_kept(folder)):
        follow(events_of(request), f"{request.suite.name}: {', '.join(request.planners)}")
    return folder


def _again(form: RequestForm, row: Mapping[str, Any]) -> str:
    """Return the command that repeats the episode of a row; empty for the planners of a contest, which cannot be named on the
    command line.
    """
    from agora.benchmark.labels import name_of

    if not form.planners and form.chosen()[1]:
        return ""
    level = row["pedestrians"] if form.pedestrians else None
    given = {"--pedestrians": level, "--simulator": form.simulator or None, "--seed": form.seed}
    words = ["agora", "run", form.suite, "--stage", row["stage"], "--episode", row["episode"]]
    label = str(row["key"]).split("/")[3]
    words += ["--planner", name_of(label, level).replace("|", "/")]
    words += [word for option, value in given.items() if value is not None for word in (option, value)]
    return shlex.join(map(str, words))


def _form(**fields: Any) -> RequestForm:
    """Return the request; errors about a field name the corresponding option."""
    from agora.benchmark.request_form import RequestForm
    from agora.errors import InputError

    try:
        return RequestForm(**fields)
    except InputError as error:
        raise InputError(f"--{error}") from error
