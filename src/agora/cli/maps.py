"""The commands ``agora map`` and ``agora import``: viewing, generating, checking, exporting and importing places."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agora.cli.given import refuse

if TYPE_CHECKING:
    from agora.datasets.imported import Imported
    from agora.maps.place import Place

maps = typer.Typer(help="Worlds and map generators: list, show, generate, check, export.", no_args_is_help=True)
import_ = typer.Typer(help="Import worlds and scenarios from other projects.", no_args_is_help=True)


@import_.callback()
def _import() -> None:
    """Import worlds and scenarios from other projects."""


PlaceName = Annotated[
    str, typer.Argument(help="A world (see agora map list), a folder path with a slash, or GENERATOR:key=value,key=value.")
]
Seed = Annotated[int, typer.Option(help="Seed for a map generator.", min=0)]
Height = Annotated[float, typer.Option(help="Height of walls in 3-D files, m.")]
Kinds = Annotated[str, typer.Option("--export", help="Also write 3-D files: any of sdf,mjcf,glb,obj,unity, separated by commas.")]


@maps.command("list")
def list_() -> None:
    """List the worlds included in Agora, the imported worlds, and the map generators."""
    from agora.registry import available, load
    from agora.tasks.worlds.folder import imported_names, world_names

    typer.echo(f"worlds: {', '.join(world_names())}")
    typer.echo(f"imported: {', '.join(imported_names()) or '-'}")
    typer.echo("generators:")
    for name in sorted(available("map_generators")):
        first = (load("map_generators", name).__doc__ or "").strip().partition("\n\n")[0]
        typer.echo(f"  {name:20s} {' '.join(first.split())}")


@maps.command()
def generate(
    generator: Annotated[str, typer.Argument(help="A map generator, NAME or NAME:key=value,key=value.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="World folder to create; must be empty or not exist.")],
    seed: Seed = 0,
    count: Annotated[
        int, typer.Option(help="Number of worlds; if more than one, they are written to subfolders NAME-0, NAME-1, ...", min=1)
    ] = 1,
    kinds: Kinds = "",
    height: Height = 2.5,
) -> None:
    """Generate worlds with map, zones and furniture, and optionally 3-D files."""
    from agora.maps.save import whole, write_world
    from agora.maps.world3d.export import check_kinds

    wanted = _split(kinds)
    check_kinds(wanted)
    if not wanted:
        refuse("without --export, because a map has no height", "height")
    made = _generated(generator, seed, count)
    with whole(output, "--output") as folder:
        for place in made:
            here = folder if count == 1 else folder / place.map.name
            here.mkdir(exist_ok=True)
            write_world(place, here, wanted, height=height, name=output.absolute().name if count == 1 else "")
    for path in (output,) if count == 1 else (output / place.map.name for place in made):
        typer.echo(path)


@maps.command()
def show(
    place: PlaceName,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Picture (.png, .pdf or .svg); NAME.png by default.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Draw a place from above: walls, furniture and zones. Gaps and steps are drawn as walls, because wheels cannot cross them."""
    from dataclasses import replace

    from agora.maps.ground import met_by
    from agora.viewer.figures import save
    from agora.viewer.places import place_figure

    name, shown = _named(place, seed)
    typer.echo(
        save(place_figure([replace(shown, map=met_by(shown.map, 0.0, 0.0))], columns=1, width=7.0), output or Path(f"{name}.png"))
    )


@maps.command()
def validate(
    folder: Annotated[str, typer.Argument(help="The path of a world folder, with a slash, or the name of a world.")],
    radius: Annotated[float, typer.Option(help="Radius of the robot that must be able to pass, m.", min=0.0)] = 0.3,
) -> None:
    """Check a world's files, and that robots can get from the starts to the goals in its scenarios."""
    from agora.tasks.world_check import check_world
    from agora.tasks.worlds.folder import world_folder

    found = check_world(world_folder(folder), radius)
    for line in found.notes:
        typer.echo(line)
    for line in found.problems:
        typer.echo(f"error: {line}", err=True)
    raise typer.Exit(2 if found.problems else 0)


@maps.command()
def export(
    place: PlaceName,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the files; must be empty or not exist.")],
    kinds: Annotated[str, typer.Option("--export", help="Any of sdf,mjcf,glb,obj,unity, separated by commas.")] = "glb",
    seed: Seed = 0,
    height: Height = 2.5,
) -> None:
    """Write a place as 3-D files for Gazebo (sdf), MuJoCo (mjcf), viewers and engines (glb, obj), or Unity (unity)."""
    from agora.errors import InputError
    from agora.maps.save import whole
    from agora.maps.world3d.export import KINDS
    from agora.maps.world3d.export import export as write
    from agora.maps.world3d.solids import solids

    wanted = _split(kinds)
    if not wanted:
        raise InputError(f"--export: expected one or more of {', '.join(KINDS)}, got nothing")
    name, shown = _named(place, seed)
    world = solids(shown, height=height, name=name)
    with whole(output, "--output") as folder:
        files = [path.name for path in write(world, folder, wanted)]
    cells = f"{world.boxes} boxes of cells ({world.runs} if merged along one axis)"
    typer.echo(f"{name}: {cells}, {len(world.walls) - bool(world.boxes)} shapes, {len(world.furniture)} pieces of furniture")
    for file in files:
        typer.echo(output / file)


@import_.command("arena")
def arena(
    source: Annotated[Path, typer.Argument(help="Arena's arena_simulation_setup, or a folder that contains it and arena_bringup.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder to import to instead of the data folder; its worlds are then named by path."),
    ] = None,
) -> None:
    """Copy worlds, scenarios, robots, obstacle models and benchmarks from an Arena 3.0 installation, after checking them."""
    from agora.datasets.arena import import_arena
    from agora.share import data_home

    target = output or data_home()
    report = import_arena(source, target)
    for line in report.skipped:
        typer.echo(f"skipped  {line}")
    for kind, names in report.taken.items():
        typer.echo(f"{kind}: {len(names)} ({', '.join(names)})" if names else f"{kind}: 0")
    typer.echo(target)


@import_.command("arena-reward")
def arena_reward(
    source: Annotated[Path, typer.Argument(help="An Arena 3.0 or rosnav-rl reward file (reward_functions/NAME.yaml).")],
    safe_distance: Annotated[float, typer.Option(help="safety_distance from Arena's training_config.yaml, m.", min=0.0)] = 0.5,
    subgoals: Annotated[bool, typer.Option("--subgoals", help="Measure progress towards sub-goals (subgoal_mode).")] = False,
) -> None:
    """Print an Arena 3.0 reward file as the ``reward`` key of a training file, and list the differences on the error stream."""
    from agora.learning.arena_reward_file import read_arena_reward

    taken = read_arena_reward(source, safe_distance=safe_distance, subgoals=subgoals)
    for note in taken.notes:
        typer.echo(note, err=True)
    typer.echo(taken.text, nl=False)


@import_.command("arena-training")
def arena_training(
    source: Annotated[Path, typer.Argument(help="An Arena 3.0 training_config.yaml file.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Training file to write; must not exist. The training is named after the file."),
    ],
    reward: Annotated[
        Path | None, typer.Option(help="Arena's reward file; by default, reward_functions/NAME.yaml next to the source file.")
    ] = None,
) -> None:
    """Convert an Arena 3.0 training configuration for agora train, and report what is omitted or substituted."""
    from agora.errors import InputError
    from agora.files import write_whole
    from agora.learning.arena_training_file import read_arena_training

    if output.exists():
        raise InputError(f"--output {output}: already exists; expected a new file")
    taken = read_arena_training(source, output.stem, reward)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        write_whole(output, taken.text)
    except OSError as error:
        raise InputError(f"--output {output}: cannot be written: {error}") from error
    for note in taken.notes:
        typer.echo(note)
    typer.echo(output)


NewWorld = Annotated[Path, typer.Option("--output", "-o", help="World folder to create; must be empty or not exist.")]


@import_.command("pedsim")
def pedsim(
    source: Annotated[Path, typer.Argument(help="A pedsim_ros scenario file (.xml).")],
    output: NewWorld,
    seed: Annotated[int, typer.Option(help="Seed of the people's random positions in their boxes.", min=0)] = 0,
) -> None:
    """Create a world folder from a pedsim_ros scenario: obstacles, agents and their waypoints."""
    from agora.datasets.pedsim_scenario import import_pedsim

    _say_imported(import_pedsim(source, output, seed), output)


@import_.command("hunav")
def hunav(
    source: Annotated[Path, typer.Argument(help="A HuNavSim agents.yaml file.")],
    output: NewWorld,
    map: Annotated[
        Path | None, typer.Option(help="The map (.yaml); by default, the map named in the file, searched for in nearby folders.")
    ] = None,
) -> None:
    """Create a world folder from a HuNavSim agents.yaml: its map, and its agents with goals and reactions."""
    from agora.datasets.hunav_agents import import_hunav

    _say_imported(import_hunav(source, output, map), output)


@import_.command("irsim")
def irsim(
    source: Annotated[Path, typer.Argument(help="An ir-sim YAML world file.")],
    output: NewWorld,
    seed: Annotated[int, typer.Option(help="Seed of random positions and shapes.", min=0)] = 0,
) -> None:
    """Create a world folder from an ir-sim YAML world: static obstacles as the map, moving obstacles as people, and robots."""
    from agora.datasets.irsim_world import import_irsim

    _say_imported(import_irsim(source, output, seed), output)


def _say_imported(read: Imported, output: Path) -> None:
    """Print the notes and counts for an imported world."""
    for note in read.notes:
        typer.echo(note)
    people, robots = len(read.scenario.obstacles.dynamic), len(read.scenario.robots)
    shapes = len(read.map.segments) + len(read.map.discs) + len(read.map.polygons)
    typer.echo(f"people {people}, robots {robots}, obstacles {shapes}")
    typer.echo(output)


def _split(kinds: str) -> list[str]:
    return [kind.strip() for kind in kinds.split(",") if kind.strip()]


def _generated(text: str, seed: int, count: int) -> list[Place]:
    """Return the first places from a generator, given as NAME or NAME:key=value,key=value, as in a stage whose world is
    ``generated``.
    """
    from agora.config import parse_component
    from agora.maps.place import Place
    from agora.seeds import Stream
    from agora.tasks.worlds.generated import Generated

    source = Generated(parse_component("map_generators", text, f"map generator {text!r}"), count, seed)
    worlds = [source.world(name, Stream(name, seed, "unused")) for name in source.names()]
    return [Place(world.map, world.furniture, world.zones) for world in worlds]


def _named(text: str, seed: int) -> tuple[str, Place]:
    """Return the name and the place for a world, a folder, or a generator with parameters."""
    from agora.errors import UnknownNameError
    from agora.maps.place import read_place
    from agora.registry import available
    from agora.tasks.worlds.folder import imported_names, world_folder, world_names

    worlds, generators = {*world_names(), *imported_names()}, available("map_generators")
    name = text.partition(":")[0]
    if "/" in name or text in worlds or (name not in generators and Path(text).exists()):
        refuse("on an existing world, only on a map generator", "seed")
        folder = world_folder(text)
        return folder.absolute().name, read_place(folder)
    if name not in generators:
        raise UnknownNameError("world or map generator", name, worlds | set(generators))
    return name, _generated(text, seed, 1)[0]
