"""``agora data``: real-world data sets and their import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

data = typer.Typer(help="Recorded data sets: list and import them.", no_args_is_help=True)


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
    scene: Annotated[str, typer.Option(help="For eth_ucy only: import the source as an additional scene with this name.")] = "",
    frame_rate: Annotated[float | None, typer.Option(help="Frame rate of the scene, frames per second.")] = None,
    scale: Annotated[float | None, typer.Option(help="Metres per unit (such as a pixel) of the scene's positions.")] = None,
    columns: Annotated[
        str, typer.Option(help="Columns of the scene's file: 'pedestrian frame x y' or 'frame pedestrian x y'.")
    ] = "",
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
        raise InputError(f"--scene {scene}: scenes can only be added to the data set eth_ucy, got {name!r}")
    said = build({"frame_rate": frame_rate, "scale": scale, "columns": columns or None}, SceneFile, "options of the scene")
    typer.echo(import_scene(source, scene, said) if scene else import_folder(name, source))
