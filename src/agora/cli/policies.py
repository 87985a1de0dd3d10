"""``agora policy``: shows what a policy sees and does, and exports its network for other programs. Modules are imported only when a
command runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from agora.core.state import Floats
    from agora.learning.card import PolicyCard
    from agora.policies.policy import Policy

policies = typer.Typer(help="Trained policies: show their observations and actions, export them as ONNX.", no_args_is_help=True)

PolicyName = Annotated[str, typer.Argument(help="A policy's name (agora list policies) or a safetensors file.")]


@policies.command()
def export(
    policy: PolicyName,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write (.onnx).")],
) -> None:
    """Write a policy and its post-processing as an ONNX file, for programs that do not use Agora."""
    from agora.errors import InputError
    from agora.policies.onnx_file import export_onnx
    from agora.policies.policy import load_policy

    if output.suffix.lower() != ".onnx":
        raise InputError(f"--output {output}: expected a name that ends in .onnx")
    export_onnx(load_policy(policy), output)
    typer.echo(output)


@policies.command()
def show(policy: PolicyName) -> None:
    """Print a policy's observations, actions and training suite, and the results on its card, if it has one."""
    from agora.policies.policy import load_policy

    lines = [*_described(load_policy(policy)), *_of_card(_card(policy))]
    width = max(len(name) for name, _ in lines)
    for name, text in lines:
        typer.echo(f"{name:{width}s}  {text}")


def _described(policy: Policy) -> Iterator[tuple[str, str]]:
    """Yield the lines that describe a policy, each as a name and a text."""
    from agora.config import plain
    from agora.registry import name_of

    network, encoding = name_of("networks", policy.network), name_of("encodings", policy.observe)
    yield "network", f"{network} with {_weights(policy.arrays)} weights: {_listed(plain(policy.network))}"
    if policy.state_size:
        yield "memory", f"{policy.state_size} values"
    yield "sees", f"{policy.observe.length} values, encoded by {encoding}: {_listed(plain(policy.observe))}"
    yield "does", f"{policy.observe.notes().get('actions', 'the actions of its encoding')}{_often(policy.period)}"
    if policy.body is not None:
        yield "robot", _listed(plain(policy.body))
    yield "label", policy.label
    yield from ((name, text) for name, text in policy.about.items() if name != "label")


def _often(period: float) -> str:
    """Return a text that states the period of a policy; empty if the policy has no period."""
    return f"; every {period:g} s" if period else ""


def _weights(arrays: Mapping[str, Floats]) -> str:
    """Return a text with the number of weights in a network."""
    return f"{sum(array.size for array in arrays.values()):,}"


def _card(policy: str) -> PolicyCard | None:
    """Return the card in the folder of a policy's file; None if there is no card."""
    from agora.config import load
    from agora.learning.card import CARD, PolicyCard
    from agora.learning.run import POLICY
    from agora.policies.weights import weights_file

    path = weights_file(policy)
    card = path.with_name(CARD) if path.name == POLICY else path.with_suffix(".yaml")
    return load(card, PolicyCard) if card.is_file() else None


def _of_card(card: PolicyCard | None) -> Iterator[tuple[str, str]]:
    """Yield the lines that describe a card, each as a name and a text."""
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


def _listed(values: Mapping[str, object]) -> str:
    """Return parameters as a single line."""
    texts = {name: f"{value:g}" if isinstance(value, float) else value for name, value in values.items()}
    return ", ".join(f"{name}=({_listed(v)})" if isinstance(v, dict) else f"{name}={v}" for name, v in texts.items())
