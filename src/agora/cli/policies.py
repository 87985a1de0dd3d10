"""``agora policy``: what a policy sees and does, and its network for other programs; imports are made when a command runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from agora.core.state import Floats
    from agora.learning.card import PolicyCard
    from agora.policies.load import AnyPolicy

policies = typer.Typer(help="Trained policies: show what they see and do, export them as ONNX.", no_args_is_help=True)

PolicyName = Annotated[str, typer.Argument(help="A policy's name (agora list policies) or a safetensors file.")]


@policies.command()
def export(
    policy: PolicyName,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write, with the ending .onnx.")],
) -> None:
    """Write a policy and its post-processing as an ONNX file, for programs without Agora."""
    from agora.errors import InputError
    from agora.policies.load import load_any
    from agora.policies.onnx_file import export_onnx

    if output.suffix.lower() != ".onnx":
        raise InputError(f"--output {output}: expected a name that ends in .onnx")
    export_onnx(load_any(policy), output)
    typer.echo(output)


@policies.command()
def show(policy: PolicyName) -> None:
    """Print what a policy sees, what it does and what it was trained on, with the results of its card if there is one."""
    from agora.policies.load import load_any

    lines = [*_described(load_any(policy)), *_of_card(_card(policy))]
    width = max(len(name) for name, _ in lines)
    for name, text in lines:
        typer.echo(f"{name:{width}s}  {text}")


def _described(policy: AnyPolicy) -> Iterator[tuple[str, str]]:
    """Lines of a policy: a name and a text each."""
    from dataclasses import fields

    from agora.policies.ga3c import CHOICES, Ga3c
    from agora.policies.policy import Policy
    from agora.policies.value import ValuePolicy

    if isinstance(policy, Policy):
        sizes = [policy.observe.length, *(len(layer.bias) for layer in policy.layers)]
        yield "kind", f"layers of {' - '.join(map(str, sizes))} values"
        yield "does", f"{'vx, vy and omega' if sizes[-1] == 3 else 'vx and omega'}, from limit to limit of the robot"
        if policy.body is not None:
            yield "robot", _listed({one.name: getattr(policy.body, one.name) for one in fields(policy.body)})
    elif isinstance(policy, ValuePolicy):
        yield "kind", f"value network {policy.network}, {_weights(policy.arrays)} weights"
        yield "does", f"the best of {len(policy.ahead.velocities)} velocities by a look-ahead of {policy.ahead.step:g} s"
        yield "look-ahead", _listed({one.name: getattr(policy.ahead, one.name) for one in fields(policy.ahead)})
    elif isinstance(policy, Ga3c):
        yield "kind", f"network ga3c, {_weights(policy.arrays)} weights"
        yield "does", f"the best of {len(CHOICES)} speeds and changes of heading every {policy.observe.period:g} s"
    else:
        yield "kind", f"network {policy.network} with a memory of {policy.state_size} values, {_weights(policy.arrays)} weights"
        yield "does", f"a velocity in the goal frame every {policy.period:g} s"
    sees = {one.name: getattr(policy.observe, one.name) for one in fields(policy.observe) if one.name != "sensors"}
    yield "sees", f"{policy.observe.length} values of {type(policy.observe).__name__}: {_listed(sees)}"
    yield "label", policy.label
    yield from ((name, text) for name, text in policy.about.items() if name != "label")


def _weights(arrays: Mapping[str, Floats]) -> str:
    """Return the number of a network's weights."""
    return f"{sum(array.size for array in arrays.values()):,}"


def _card(policy: str) -> PolicyCard | None:
    """The card beside the file of a policy; None where there is none."""
    from agora.config import load
    from agora.learning.card import CARD, PolicyCard
    from agora.learning.run import POLICY
    from agora.policies.weights import weights_file

    path = weights_file(policy)
    card = path.with_name(CARD) if path.name == POLICY else path.with_suffix(".yaml")
    return load(card, PolicyCard) if card.is_file() else None


def _of_card(card: PolicyCard | None) -> Iterator[tuple[str, str]]:
    """Lines of a card: a name and a text each."""
    if card is None:
        yield "card", "none"
        return
    said = card.training
    yield "method", " ".join(str(said["method"]).split())
    yield "cannot", " ".join(str(said["cannot"]).split())
    yield "trained on", f"suite {said['suite']}, stage {said['stage']}"
    for one in card.seeds:
        for result in one.results:
            yield "test", f"{said['test']}/{result.stage}, seed {one.seed}: {result}"
    for number in said.get("published") or ():
        yield "published", f"{said['test']}/{number['stage']}: success {number['success']:.3f} ({number['source']})"


def _listed(values: dict[str, object]) -> str:
    """Parameters in one line."""
    return ", ".join(f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in values.items())
