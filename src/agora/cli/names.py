"""``agora list`` and ``agora robot``: everything that has a name."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def list_(
    kind: Annotated[
        str | None,
        typer.Argument(help="Kind to list: suites, robots, planners, policies, trainings, metrics, ...; all by default."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """List the names of suites, robots, worlds, and components of every kind."""
    from agora.errors import UnknownNameError
    from agora.registry import KINDS, available
    from agora.share import names_in  # the modules for suites and policies import the engine

    names = {"suites": names_in("benchmark"), "robots": names_in("robots")} | {k: sorted(available(k)) for k in KINDS}
    names |= {"presets": names_in("planners"), "policies": names_in("policies", ".safetensors"), "trainings": names_in("training")}
    if kind is not None and kind not in names:
        raise UnknownNameError("kind", kind, names)
    shown = names if kind is None else {kind: names[kind]}
    if as_json:
        typer.echo(json.dumps(shown, indent=1))
        return
    if kind is None:
        for title, entries in shown.items():
            typer.echo(f"{title}: {', '.join(entries) or '-'}")
        typer.echo("agora list KIND describes each entry")
        return
    width = max(map(len, names[kind]), default=0)
    for name in names[kind]:
        typer.echo(f"{name:{width}s}  {_said(kind, name)}".rstrip())


def _said(kind: str, name: str) -> str:
    """Return a one-sentence description of a component; empty if there is none."""
    from agora.errors import InputError, in_words
    from agora.registry import KINDS, summary

    try:
        if kind in KINDS:
            return summary(kind, name)
        if kind != "suites":
            return ""
        from agora.tasks.suite import load_suite  # imports the engine

        return load_suite(name).description.partition(". ")[0]
    except InputError as error:
        return f"({in_words(error)})"


def robot(
    name: Annotated[str, typer.Argument(help="A robot's name (agora list robots) or file.")],
    kind: Annotated[str, typer.Option("--format", help="urdf or sdf.")] = "urdf",
) -> None:
    """Print the description of a robot as URDF for RViz and MuJoCo, or as SDF for Gazebo 11."""
    from agora.errors import InputError
    from agora.robots.model import load_robot
    from agora.robots.sdf import sdf
    from agora.robots.urdf import urdf

    if kind not in ("urdf", "sdf"):
        raise InputError(f"--format: expected urdf or sdf, got {kind!r}")
    typer.echo((urdf if kind == "urdf" else sdf)(load_robot(name)), nl=False)
