"""``agora validate`` and ``agora calibrate``; imports are made when they run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from agora.registry import Named
    from agora.validation.scores import Instrument, Score

Routes = Annotated[bool, typer.Option("--routes", help="The engine leads people round walls.")]
Careful = Annotated[bool, typer.Option("--careful", help="The engine keeps people from stepping into anybody or anything.")]
_DEFAULT = "on for the experiments on one model, off for tables of models"
RoutesOr = Annotated[
    bool | None, typer.Option("--routes/--no-routes", help="The engine leads people round walls.", show_default=_DEFAULT)
]
CarefulOr = Annotated[
    bool | None,
    typer.Option(
        "--careful/--model-alone", help="The engine's last step acts, as in suites, or the model alone.", show_default=_DEFAULT
    ),
]
Behaviours = Annotated[
    list[str] | None, typer.Option("--behaviour", "-b", help="A behaviour of the people, such as groups; repeat it for several.")
]
Quick = Annotated[bool, typer.Option("--quick", help="A quarter of the recordings only, to look; not for numbers to report.")]
Threads = Annotated[int, typer.Option(help="Threads over worlds.", min=1)]


def validate(
    models: Annotated[
        list[str] | None,
        typer.Argument(help="Crowd models, NAME or NAME:key=value,key=value; anticipation by default. Several make one table."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="One table of all crowd models against recorded people.")] = False,
    table: Annotated[bool, typer.Option("--table", help="The table even of one model.")] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the picture and the numbers.")] = Path(
        "results/validation"
    ),
    seed: Annotated[int, typer.Option(help="Of places and preferred speeds; the table has none.", min=0)] = 0,
    routes: RoutesOr = None,
    careful: CarefulOr = None,
    behaviour: Behaviours = None,
    quick: Quick = False,
    threads: Threads = 2,
) -> None:
    """Compare crowd models with what is known of pedestrians.

    One model, with the engine as suites run it: Weidmann, lanes, stripes, RiMEA, doors, ETH/UCY. Several, or --all: one table of
    distances to recorded people, of the models alone, with a classifier that tries to tell them apart. Takes minutes.
    """
    from agora.registry import available
    from agora.validation.crowd import Crowd

    names = sorted(available("crowd_models")) if every else models or ["anticipation"]
    beside = _behaviours(behaviour)
    several = every or table or len(names) > 1
    engine = [not several if switch is None else switch for switch in (routes, careful)]
    crowds = {name: Crowd(_named("crowd_models", name).part, beside, *engine) for name in names}
    if several:
        from agora.validation.scores import score_all
        from agora.validation.table import write

        told = _Told()
        scores = score_all(crowds, _instrument(quick, threads), told)
        told.end()
        _print(scores)
        typer.echo(f"picture  {write(scores, output)}")
        return
    _validate_one(names[0], crowds[names[0]], output, seed)


def _validate_one(name: str, crowd: object, output: Path, seed: int) -> None:
    """Every experiment on one model."""
    from rich.console import Console
    from rich.table import Table

    from agora.validation.report import validate as run
    from agora.validation.report import write

    console = Console(width=120)
    with console.status("") as shown:
        done = run(name, crowd, seed=seed, progress=lambda what: shown.update(what))
    table = Table("experiment", "expected", "found", "")
    for case in done.cases:
        table.add_row(case.name, case.expected, case.found, "met" if case.met else "missed")
    console.print(table)
    typer.echo(f"picture  {write(done, output)}")


def calibrate(
    model: Annotated[str, typer.Argument(help="A crowd model to begin with, NAME or NAME:key=value,key=value.")],
    trials: Annotated[int, typer.Option(help="Sets of parameters to try.", min=1)] = 64,
    seed: Annotated[int, typer.Option(help="Of the search.", min=0)] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder of the results; results/calibrate_MODEL by default.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was begun in the folder.")] = False,
    routes: Routes = False,
    careful: Careful = False,
    behaviour: Behaviours = None,
    quick: Quick = False,
    threads: Threads = 2,
) -> None:
    """Fit a crowd model's parameters to recorded people of the training scenes, and compare it on scenes that were held out."""
    from agora.cli_stopping import stoppable
    from agora.errors import ResultsError
    from agora.validation.calibrate import Calibration, preset
    from agora.validation.calibrate import calibrate as run
    from agora.validation.scores import score_all
    from agora.validation.table import write

    calibration = Calibration(_named("crowd_models", model), trials, seed, _behaviours(behaviour), routes, careful)
    folder, instrument, told = (
        output or Path("results") / f"calibrate_{calibration.model.name}",
        _instrument(quick, threads),
        _Told(),
    )
    with stoppable(lambda: f"the trials that were finished are kept in {folder}"):
        found = run(
            calibration,
            instrument,
            folder,
            resume=resume,
            progress=lambda done, best: told(f"{done} of {trials} trials, best {best:.4f}"),
        )
    crowds = {model: calibration.crowd()}
    if found.best:
        crowds[f"{model}, calibrated"] = calibration.crowd(found.model)
    scores = score_all(crowds, instrument, told)
    told.end()
    _print(scores)
    typer.echo(f"picture  {write(scores, folder)}")
    if not found.best:
        typer.echo("no trial was better than the model as it is; no parameters are written")
        return
    file = folder / f"{calibration.model.name}_calibrated.yaml"
    try:
        file.write_text(preset(calibration, found), encoding="utf-8")
    except OSError as error:
        raise ResultsError(f"{file}: cannot be written: {error.strerror}") from error
    typer.echo(f"parameters  {file}")


def _named(kind: str, text: str) -> Named:
    from agora.config import parse_component
    from agora.registry import KINDS

    return parse_component(kind, text, f"{KINDS[kind]} {text!r}")


def _behaviours(texts: list[str] | None) -> tuple[Any, ...]:
    return tuple(_named("behaviours", text).part for text in texts or ())


def _instrument(quick: bool, threads: int) -> Instrument:
    from agora.extras import how_to_install
    from agora.validation.classifier import has_scikit_learn
    from agora.validation.scores import Instrument

    classify = has_scikit_learn()
    if not classify:
        typer.echo(f"no classifier tells crowds apart without scikit-learn: {how_to_install('validate')}", err=True)
    parts, most = (4, 100) if quick else (1, 400)
    return Instrument.of_scenes(parts=parts, most=most, threads=threads, classify=classify)


class _Told:
    """Says what is done next, on a terminal in one line."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()

    def __call__(self, what: str) -> None:
        typer.echo(f"\r\033[K{what} ..." if self._terminal else what, err=True, nl=not self._terminal)

    def end(self) -> None:
        """Leave the line."""
        if self._terminal:
            typer.echo("\r\033[K", err=True, nl=False)


def _print(scores: list[Score]) -> None:
    """The table as wide as it is."""
    from rich.console import Console
    from rich.table import Table

    from agora.validation.scores import COLUMNS, SPLITS
    from agora.validation.table import words

    shown = [score for split in SPLITS for score in scores if score.split == split]
    for first in range(0, len(COLUMNS), 5):
        columns = list(COLUMNS.items())[first : first + 5]
        table = Table("", "scenes", *(f"{name}\n{unit}" for name, unit in columns))
        for score in shown:
            table.add_row(score.name, score.split.replace("_", " "), *(words(score.values.get(name)) for name, _ in columns))
        Console(width=150).print(table)
