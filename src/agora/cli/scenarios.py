"""``agora scenario``: the scenario library and scenario files. Each command imports what it needs when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agora.cli.given import refuse

if TYPE_CHECKING:
    from agora.draft.task import Task
    from agora.interfaces import Card, Situation
    from agora.tasks.faults import Fault
    from agora.tasks.suite import Suite

scenarios = typer.Typer(help="Scenario cards and scenario files: list, show, write, check.", no_args_is_help=True)

Which = Annotated[str, typer.Argument(help="A card (agora scenario list), or a scenario file (.json).")]
Seed = Annotated[int, typer.Option(help="Seed for drawing the card's parameters.", min=0)]
Values = Annotated[str, typer.Option("--set", help="Parameters to fix instead of drawing them: key=value,key=value.")]
Robot = Annotated[str, typer.Option(help="Robot model of the scenario.")]
ROBOT = "tiago"
_ENDINGS = (".png", ".pdf", ".svg")


@scenarios.command("list")
def list_() -> None:
    """List the cards, and the scenario files of the worlds included in Agora."""
    from agora.share import folder
    from agora.tasks.cards.card import card_names, load_card

    for name in card_names():
        card = load_card(name)
        typer.echo(f"{name:26s} {card.figure or '-':3s} {card.title}")
    place = folder("scenarios") / "worlds"
    for path in sorted(place.glob("*/scenarios/*.json")):
        typer.echo(path)


@scenarios.command()
def show(
    which: Which,
    seed: Seed = 0,
    values: Values = "",
    robot: Robot = ROBOT,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write a picture (.png, .pdf or .svg).")] = None,
) -> None:
    """Describe in words what each robot and person in a card or file will do, and draw the situation."""
    from agora.errors import InputError
    from agora.tasks.told import told

    if output is not None and (output.suffix.lower() not in _ENDINGS or not output.absolute().parent.is_dir()):
        raise InputError(f"--output {output}: expected a name that ends in {', '.join(_ENDINGS)}, in an existing folder")
    if _is_file(which):
        refuse("on a scenario file, which has no random parameters", "seed", "values")
        task, situation = _file(Path(which), robot), None
        typer.echo(f"{which}: {len(task.robots)} robots, {len(task.pedestrians)} pedestrians, map {task.map.name}")
    else:
        card, suite, situation, task = _drawn(which, seed, values, robot)
        _describe(card, suite, seed)
    for sentence in told(task):
        typer.echo(f"  {sentence}")
    if output is not None:
        _picture(task, situation, (), which, output)
        typer.echo(output)


@scenarios.command()
def generate(
    card: Annotated[str, typer.Argument(help="A card (agora scenario list).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the world to write; must not exist.")],
    seed: Seed = 0,
    values: Values = "",
) -> None:
    """Draw a situation from a card at random, and write it as a world folder with map and scenario files in Arena's formats."""
    from agora.tasks.cards.export import write_world

    _, _, situation, _ = _drawn(card, seed, values, ROBOT)
    path, lost = write_world(situation, card, output)
    typer.echo(path)
    for text in lost:
        typer.echo(f"not written to the file: {text}", err=True)


@scenarios.command()
def validate(
    which: Annotated[list[str], typer.Argument(help="Cards and scenario files (.json).")],
    seed: Seed = 0,
    values: Values = "",
    robot: Robot = ROBOT,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for pictures of the problems.")] = Path("."),
) -> None:
    """Check that starts are free, that goals and waypoints can be reached, and that a card's interaction can occur.

    If there are faults, they are marked in a picture, NAME.faults.png, and the command exits with code 2.
    """
    from agora.errors import InputError
    from agora.tasks.faults import faults

    if not output.is_dir():
        raise InputError(f"--output {output}: the folder does not exist")
    if all(map(_is_file, which)):
        refuse("on scenario files, which have no random parameters", "seed", "values")
    wrong = []
    for name in which:
        situation = None
        if _is_file(name):
            task = _file(Path(name), robot)
            found = faults(task)
        else:
            card, suite, situation, task = _drawn(name, seed, values, robot)
            found = faults(task) or _unsolved(card, suite, situation)
        if not found:
            typer.echo(f"{name}: fine")
            continue
        picture = output / f"{Path(name).stem}.faults.png"
        _picture(task, situation, found, name, picture)
        wrong += [f"{_where(name, fault)}: {fault.text}" for fault in found] + [f"{name}: marked in {picture}"]
    if wrong:
        raise InputError("\n".join(wrong))


def _where(name: str, fault: Fault) -> str:
    """Return a text that locates a fault: file, line and key of a robot's pose, or else the name of the file or card."""
    from agora.yaml_tree import location_of

    kind, number = fault.of
    return location_of(Path(name), "robots", number, fault.key) if _is_file(name) and kind == "robot" and fault.key else name


@scenarios.command()
def convert(
    source: Annotated[Path, typer.Argument(help="An arena-tools scenario file, JSON or YAML.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write (.json); must not exist.")],
) -> None:
    """Convert a scenario from arena-tools' old format to the current format."""
    from agora.draft.scenario import write_scenario
    from agora.errors import InputError
    from agora.tasks.arena_tools import convert as converted

    if output.exists():
        raise InputError(f"--output {output}: already exists")
    write_scenario(converted(source), output)
    typer.echo(output)


@scenarios.command()
def happened(folder: Annotated[Path, typer.Argument(help="Results folder of a suite that uses scenario cards.")]) -> None:
    """Print in how many episodes of a run the cards' interactions occurred."""
    from rich.console import Console
    from rich.table import Table

    from agora.benchmark.interactions import interactions
    from agora.errors import InputError

    counted = interactions(folder)
    if not counted:
        raise InputError(f"{folder}: contains no recordings of scenario cards")
    planners = sorted({planner for _, planner in counted})
    table = Table("card", *planners)
    for stage in dict.fromkeys(stage for stage, _ in counted):
        shares = [counted.get((stage, planner), (0, 0)) for planner in planners]
        table.add_row(stage, *(f"{came} of {total}" if total else "-" for came, total in shares))
    Console(width=100).print(table)


def _is_file(which: str) -> bool:
    return which.endswith(".json") or "/" in which


def _file(path: Path, robot: str) -> Task:
    from agora.robots.model import load_robot
    from agora.tasks.faults import task_of_file

    return task_of_file(path, load_robot(robot).radius)


def _drawn(name: str, seed: int, values: str, robot: str) -> tuple[Card, Suite, Situation, Task]:
    """Return a situation drawn from a card, in the form of the first episode of a suite ``scenario`` with a single stage."""
    from agora.config import parse_parameters
    from agora.robots.model import load_robot
    from agora.tasks.cards.card import load_card, situation_of
    from agora.tasks.faults import task_of
    from agora.tasks.suite import Suite

    card, radius = load_card(name), load_robot(robot).radius
    given: dict[str, Any] = parse_parameters(values, "--set")
    suite = Suite("scenario", (card.stage(robot=robot, values=given),), seed)
    situation = situation_of(suite, name, 0)
    return card, suite, situation, task_of(situation, radius)


def _describe(card: Card, suite: Suite, seed: int) -> None:
    from agora.seeds import Stream

    origin = f"{card.origin}, figure {card.figure}" if card.figure else card.origin
    typer.echo(f"{card.name}: {card.title} ({origin})")
    for head, text in (
        ("tests", card.tests),
        ("leaves out", card.leaves_out),
        ("intended", card.intended),
        ("happened when", card.happens),
    ):
        typer.echo(f"  {head}: {text}")
    stage = suite.stages[0]
    drawn = card.settings(Stream(suite.entry(stage.name, 0), seed, "task"), stage.world.part.values)
    for name, limits in card.parameters.items():
        span = f"{limits.low:g} to {limits.high:g} {limits.unit}".rstrip()
        typer.echo(f"  {name:12s} {drawn[name]:8.3g}   {span}: {limits.meaning}")


def _unsolved(card: Card, suite: Suite, situation: Situation) -> list[Fault]:
    """Return the faults found by the oracle: the robot cannot get through, or the card's interaction cannot occur."""
    from agora.benchmark.informed.oracle import solve
    from agora.tasks.faults import Fault

    x, y = situation.area[0].mean(axis=0) if situation.area else situation.start[:2]
    solution = solve(card, suite, 0)
    if not solution.solved:
        return [Fault("no contact-free path to the goal was found", float(x), float(y))]
    if not situation.happened(solution.recording):
        return [Fault("the interaction did not occur in the oracle's solution", float(x), float(y))]
    return []


def _picture(task: Task, situation: Situation | None, found: Any, title: str, path: Path) -> None:
    from agora.viewer.figures import save
    from agora.viewer.situation import situation_figure

    area = () if situation is None else situation.area
    save(situation_figure(task, area=area, faults=found, title=Path(title).stem), path)
