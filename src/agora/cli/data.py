"""``agora data``: real-world data sets and their import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

data = typer.Typer(help="Real data: list and import it.", no_args_is_help=True)


@data.command("status")
def data_status() -> None:
    """List the data sets and whether they are installed."""
    from agora.datasets.catalogue import CATALOGUE, status

    for name in CATALOGUE:
        there = status(name)
        typer.echo(f"{name:14s} {there.state:11s} {there.folder}")


@data.command("import")
def data_import(
    name: Annotated[str, typer.Argument(help="Name of the data set (agora data status).")],
    source: Annotated[Path, typer.Argument(help="Folder of the data set; for a scene, its folder or its TrajNet++ file.")],
    scene: Annotated[str, typer.Option(help="Only eth_ucy: import the folder as an additional scene of this name.")] = "",
    frame_rate: Annotated[float | None, typer.Option(help="Frames per second of the scene.")] = None,
    scale: Annotated[float | None, typer.Option(help="Metres per unit of the scene's positions, such as a pixel.")] = None,
    columns: Annotated[str, typer.Option(help="Columns of the scene: 'pedestrian frame x y' or 'frame pedestrian x y'.")] = "",
) -> None:
    """Check a data set, or an additional scene of recorded pedestrians, and copy it to Agora's data folder."""
    from agora.config import build
    from agora.datasets.catalogue import import_folder
    from agora.datasets.scene_import import import_scene
    from agora.datasets.scenes import SceneFile
    from agora.errors import InputError

    if not scene and (frame_rate, scale, columns) != (None, None, ""):
        raise InputError(
            "--frame-rate, --scale and --columns describe one scene; name it: agora data import eth_ucy FOLDER --scene NAME"
        )
    if scene and name != "eth_ucy":
        raise InputError(f"--scene {scene}: the data set {name!r} has no scenes of its own; expected eth_ucy")
    said = build({"frame_rate": frame_rate, "scale": scale, "columns": columns or None}, SceneFile, "options of the scene")
    typer.echo(import_scene(source, scene, said) if scene else import_folder(name, source))
