"""``agora validate`` and ``agora calibrate``. Modules are imported only when a command runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agora.cli.given import refuse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agora.registry import Named
    from agora.validation.calibrate import Calibrated, Calibration
    from agora.validation.crowd import SimulatedCrowd
    from agora.validation.scores import Instrument, Score

Alone = Annotated[
    bool,
    typer.Option(
        "--model-alone",
        help="Validate the model alone, without routes, the last step or groups. By default, it is validated as suites run it.",
    ),
]
Fluctuates = Annotated[
    bool, typer.Option("--unsteady", help="Let walking speed and direction fluctuate as they do in recorded people.")
]
Behaviours = Annotated[
    list[str] | None,
    typer.Option("--behaviour", "-b", help="A behaviour of the people, such as groups; repeat the option for several."),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="Use only a quarter of the recordings, for a first look; not for reported numbers.")
]
Fits = Annotated[
    bool,
    typer.Option("--motion", help="Fit turning, fluctuation and walking groups instead of the model's own parameters."),
]
Threads = Annotated[int, typer.Option(help="Number of threads; the worlds are divided among them.", min=1)]


def validate(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            help="Crowd models, NAME or NAME:key=value,key=value; anticipation by default. Several are compared in one table."
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Compare all crowd models with recorded people, in one table.")] = False,
    table: Annotated[bool, typer.Option("--table", help="Write the table even for a single model.")] = False,
    predictor: Annotated[
        list[str] | None,
        typer.Option(
            "--predictor",
            help="A predictor to validate instead of crowd models, NAME or NAME:key=value; repeat the option for several.",
        ),
    ] = None,
    places: Annotated[
        bool,
        typer.Option(
            "--places",
            help="Measure the motion of people in the worlds of every map generator, or in the suites given with --suite.",
        ),
    ] = False,
    scene: Annotated[
        list[str] | None,
        typer.Option(
            help="With a table: another scene in the data folder eth_ucy, in a separate part. The classifier is tested on it "
            "but not trained on it. Repeat the option for several scenes."
        ),
    ] = None,
    suite: Annotated[
        list[str] | None, typer.Option(help="With --places: suites to measure; repeat the option for several.")
    ] = None,
    episodes: Annotated[
        int | None,
        typer.Option(help="With --places: number of episodes per generator (12 by default), or per stage of a suite.", min=1),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the picture and the numbers.")] = Path(
        "results/validation"
    ),
    seed: Annotated[int, typer.Option(help="Seed of positions and preferred speeds; not used for the table.", min=0)] = 0,
    alone: Alone = False,
    unsteady: Fluctuates = False,
    behaviour: Behaviours = None,
    quick: Quick = False,
    threads: Threads = 2,
) -> None:
    """Compare crowd models with what is known about pedestrians.

    With one model: Weidmann, lanes, stripes, RiMEA, doors, ETH/UCY. With several models or --all: a table of distances to recorded
        people, with a classifier that tries to distinguish simulated from recorded people in unseen scenes. This takes minutes.
        With --predictor: the errors of predictors over 4.8 s, compared with constant velocity. With --places: jams, wedged people,
        U-turns, turning and overlaps in whole episodes without a planner. Each episode is stored in the folder, and an interrupted
        run continues from there.
    """
    from agora.errors import InputError
    from agora.registry import available

    if models and (predictor or every):
        raise InputError(f"{'--predictor' if predictor else '--all'} cannot be combined with crowd models, got {', '.join(models)}")
    if places and (models or predictor or every):
        raise InputError("--places measures the crowds in suites; leave out crowd models, --all and --predictor")
    several = every or table or len(models or ()) > 1
    if places:
        refuse("with --places", "table", "scene", "alone", "unsteady", "behaviour", "quick", "threads")
        if suite:
            refuse("with --suite, whose seed is used", "seed")
    elif predictor:
        refuse("with --predictor", "every", "table", "scene", "seed", "alone", "unsteady", "behaviour", "quick", "threads")
    elif several:
        refuse("on the table, which uses no random numbers", "seed")
    else:
        refuse("on a single crowd model without --table", "scene", "quick", "threads")
    if not places:
        refuse("without --places", "suite", "episodes")
    _check_folder(output)
    if places:
        _validate_places(suite or (), episodes, output, seed)
        return
    if predictor:
        _validate_predictors(predictor, output)
        return
    names = sorted(available("crowd_models")) if every else models or ["anticipation"]
    crowds = {name: _crowd(_named("crowd_models", name).part, alone, unsteady, behaviour) for name in names}
    if several:
        from agora.validation.scores import LEFT_OUT, TESTED
        from agora.validation.table import write

        if own := {*(scene or ())} & {name for names in LEFT_OUT.values() for name in names}:
            raise InputError(f"--scene {min(own)}: the table always contains this scene; name another one")
        parts = LEFT_OUT | ({TESTED: tuple(dict.fromkeys(scene))} if scene else {})
        scores = _scores(crowds, _instrument(parts, quick, threads, tested=scene or ()))
        _print(scores)
        typer.echo(f"picture  {write(scores, output)}")
        return
    _validate_one(names[0], crowds[names[0]], output, seed)


def _check_folder(folder: Path) -> None:
    """Check that a folder can be written to before anything is measured."""
    from agora.errors import InputError

    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise InputError(f"--output {folder}: cannot write to this folder")


def _validate_predictors(names: Sequence[str], output: Path) -> None:
    """Measure predictors, and write the table."""
    from agora.validation.events import Measuring
    from agora.validation.prediction import PredictionScore, markdown, score_predictors, write

    told, scores = _Told(), []
    chosen = {name: _named("predictors", name).part for name in dict.fromkeys(("constant_velocity", *names))}
    for event in score_predictors(chosen):
        match event:
            case Measuring(what):
                told(what)
            case PredictionScore():
                scores.append(event)
    told.end()
    typer.echo(markdown(scores), nl=False)
    typer.echo(f"table  {write(scores, output)}")


def _validate_places(names: Sequence[str], episodes: int | None, output: Path, seed: int) -> None:
    """Measure how people move in places, and write the table."""
    from agora.files import write_whole
    from agora.tasks.suite import load_suite
    from agora.validation.places import generators, markdown, measure_places

    suites = [load_suite(name) for name in names] or [generators(episodes or 12, seed)]
    output.mkdir(parents=True, exist_ok=True)
    told, rows = _Told(), []
    for row in measure_places(suites, output / "places.jsonl", only=episodes if names else None):
        rows.append(row)
        told(f"{len(rows)} episodes, {row.entry}")
    told.end()
    table = markdown(rows)
    write_whole(output / "places.md", table.encode())
    typer.echo(table, nl=False)
    typer.echo(f"table  {output / 'places.md'}")


def _validate_one(name: str, crowd: object, output: Path, seed: int) -> None:
    """Run every experiment on a single model."""
    from rich.console import Console
    from rich.table import Table

    from agora.validation.events import Measuring
    from agora.validation.report import Validation, write
    from agora.validation.report import validate as run

    told = _Told()
    for event in run(name, crowd, seed=seed):
        match event:
            case Measuring(what):
                told(what)
            case Validation():
                done = event
    told.end()
    table = Table("experiment", "expected", "found", "")
    for case in done.cases:
        table.add_row(case.name, case.expected, case.found, "met" if case.met else "missed")
    picture = write(done, output)
    Console(width=120).print(table)
    if done.left_out:
        typer.echo(done.left_out)
    typer.echo(f"picture  {picture}")


def calibrate(
    model: Annotated[str, typer.Argument(help="A crowd model to start from, NAME or NAME:key=value,key=value.")],
    trials: Annotated[int, typer.Option(help="Number of parameter sets to try.", min=1)] = 64,
    seed: Annotated[int, typer.Option(help="Seed of the search.", min=0)] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the results; results/calibrate_MODEL by default.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the calibration in the results folder.")] = False,
    leave_one_out: Annotated[
        bool,
        typer.Option("--leave-one-out", help="For each scene, fit the model to all other scenes, and compare it with that scene."),
    ] = False,
    alone: Alone = False,
    motion: Fits = False,
    unsteady: Fluctuates = False,
    behaviour: Behaviours = None,
    quick: Quick = False,
    threads: Threads = 2,
) -> None:
    """Fit a crowd model's parameters to the recorded people in some scenes, and evaluate it on held-out scenes.

    With --motion, the model itself is unchanged, and the command fits how people move: limits on turning, fluctuations of pace and
    direction, and spacing and drift in walking groups. A second table then shows, for each held-out scene, the accuracy of the
    classifier, the percentiles of turning and the mean position error.
    """
    from agora.cli.stopping import stoppable
    from agora.registry import Named
    from agora.validation.calibrate import Calibrated, Calibration, Fitted, trials_kept
    from agora.validation.calibrate import calibrate as run
    from agora.validation.calibrate import leave_one_out as run_each
    from agora.validation.motion import MOTION, Motion, held_out
    from agora.validation.scores import HALVES, LEFT_OUT, Recorded
    from agora.validation.table import write

    if motion:
        refuse("with --motion, which needs steps, groups and fluctuations", "alone", "unsteady")
        crowd = _crowd(_named("crowd_models", model).part, False, False, behaviour)
        calibration = Calibration(Named("motion", Motion()), crowd, trials, seed, dict(MOTION))
    else:
        calibration = Calibration(_named("crowd_models", model), _crowd(None, alone, unsteady, behaviour), trials, seed)
    folder, told = output or Path("results") / f"calibrate_{calibration.model.name}", _Told()
    instrument = _instrument(LEFT_OUT if leave_one_out else HALVES, quick, threads)
    people: Recorded = next(iter(instrument.parts.values()))
    found: dict[str, Calibrated] = {}
    with stoppable(lambda: trials_kept(folder)):
        for event in (run_each if leave_one_out else run)(calibration, people, folder, threads=threads, resume=resume):
            match event:
                case Fitted(_, done, _, best, scene):
                    told(f"{f'without {scene}: ' if scene else ''}{done} of {trials} trials, best {best:.4f}")
                case Calibrated():
                    found[event.scene] = event
    told.end()
    crowds: dict[str, Any] = {model: calibration.crowd()}
    if any(one.best for one in found.values()):
        better = {scene: calibration.crowd(one.model) for scene, one in found.items()}
        crowds[f"{model}, calibrated"] = better if leave_one_out else better[""]
    scores = _scores(crowds, instrument)
    _print(scores)
    typer.echo(f"picture  {write(scores, folder)}")
    if motion:
        typer.echo(held_out(people, crowds, scores, threads), nl=False)
    for scene, one in found.items():
        _write_preset(calibration, one, folder / scene, f"all scenes except {scene}" if scene else "training scenes")


def _write_preset(calibration: Calibration, found: Calibrated, folder: Path, scenes: str) -> None:
    """Write the fitted parameters if they are better than the model's own."""
    from agora.errors import ResultsError
    from agora.files import write_whole
    from agora.validation.calibrate import preset

    if not found.best:
        typer.echo(f"{scenes}: no trial was better than the original model; no parameters are written")
        return
    file = folder / f"{calibration.model.name}_calibrated.yaml"
    try:
        write_whole(file, preset(calibration, found, scenes))
    except OSError as error:
        raise ResultsError(f"{file}: cannot be written: {error.strerror}") from error
    typer.echo(f"parameters  {file}")


def _crowd(model: Any, alone: bool, unsteady: bool, behaviours: list[str] | None) -> SimulatedCrowd:
    """Return a crowd as suites configure it or, if ``alone``, a crowd with only the model and the given behaviours."""
    from agora.draft.unsteady import Unsteady
    from agora.validation.crowd import SimulatedCrowd

    own, fluctuates = [_named("behaviours", text).part for text in behaviours or ()], Unsteady() if unsteady else None
    return (
        SimulatedCrowd(model, tuple(own), unsteady=fluctuates)
        if alone
        else SimulatedCrowd.of_suites(model, *own, unsteady=fluctuates)
    )


def _named(kind: str, text: str) -> Named:
    from agora.config import parse_component
    from agora.registry import KINDS

    return parse_component(kind, text, f"{KINDS[kind]} {text!r}")


def _instrument(parts: Mapping[str, Sequence[str]], quick: bool, threads: int, tested: Sequence[str] = ()) -> Instrument:
    from agora.extras import how_to_install
    from agora.validation.classifier import has_scikit_learn
    from agora.validation.scores import Instrument

    classify = has_scikit_learn()
    if not classify:
        typer.echo(f"the classifier that distinguishes crowds needs scikit-learn: {how_to_install('validate')}", err=True)
    every, most = (4, 200) if quick else (1, 800)
    return Instrument.of_scenes(parts, every=every, most=most, threads=threads, classify=classify, tested=tested)


class _Told:
    """Shows the current step of the work on a single terminal line."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()

    def __call__(self, what: str) -> None:
        typer.echo(f"\r\033[K{what} ..." if self._terminal else what, err=True, nl=not self._terminal)

    def end(self) -> None:
        """Clear the line."""
        if self._terminal:
            typer.echo("\r\033[K", err=True, nl=False)


def _scores(crowds: Mapping[str, Any], instrument: Instrument) -> list[Score]:
    """Return the rows of the table, reporting the progress before each measurement."""
    from agora.validation.events import Measuring
    from agora.validation.scores import score_all

    told, scores = _Told(), []
    for event in score_all(crowds, instrument):
        match event:
            case Measuring(what):
                told(what)
            case _:
                scores.append(event)
    told.end()
    return scores


def _print(scores: list[Score]) -> None:
    """Print the table at its full width."""
    from rich.console import Console
    from rich.table import Table

    from agora.validation.scores import COLUMNS
    from agora.validation.table import parts, words

    shown = [score for rows in parts(scores).values() for score in rows]
    for first in range(0, len(COLUMNS), 5):
        columns = list(COLUMNS.items())[first : first + 5]
        table = Table("", "", *(f"{name}\n{unit}" for name, unit in columns))
        for score in shown:
            table.add_row(score.name, score.part, *(words(score.values.get(name)) for name, _ in columns))
        Console(width=150).print(table)
