"""Runs all experiments on a crowd model and writes the results as JSON and as a figure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.benchmark.stop_token import StopToken
from agora.datasets.catalogue import missing
from agora.errors import InputError
from agora.files import write_whole
from agora.validation.doors import counterflow, evacuation
from agora.validation.events import Measuring
from agora.validation.flow import FundamentalDiagram, Streams, fundamental_diagram, lanes, stripes, weidmann
from agora.validation.recorded import QUANTITIES, PairedSamples, against_recorded
from agora.validation.rimea import CASES, Case, finite
from agora.viewer.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIRST, SECOND = "#c44e27", "#2b6cb0"
_SEEDS = 6


@dataclass(frozen=True, eq=False)
class Validation:
    """The results of all experiments on a crowd model.

    Attributes:
        model: name of the model.
        cases: results of all cases, one row per case.
        diagram: speed as a function of density.
        lanes: result for opposite streams.
        stripes: result for crossing streams.
        recorded: comparison with ETH/UCY; None if the data is missing.
        left_out: one line that names the omitted part, the reason, and how to get the data; empty if nothing was omitted.
    """

    model: str
    cases: tuple[Case, ...]
    diagram: FundamentalDiagram
    lanes: Streams
    stripes: Streams
    recorded: PairedSamples | None
    left_out: str = ""


def validate(name: str, model: Any, *, seed: int = 0, token: StopToken | None = None) -> Iterator[Measuring | Validation]:
    """Run every experiment on a crowd model; yield events that name the measured quantity, and finally the result.

    All experiments together take a few minutes, most of which RiMEA's case 9 needs. To stop, close the iterator, or call
    ``token.stop()`` from another thread; the function stops after the current experiment.

    Args:
        name: name of the model.
        model: crowd model, or a `SimulatedCrowd`.
        seed: seed used to sample positions and preferred speeds.
        token: token with which another thread can stop the experiments.

    Raises:
        InputError: a file of the data set is invalid. If the data set is missing, the comparison with recorded crowds is omitted
            instead.
        StoppedError: a stop was requested through ``token``.
    """
    token = token or StopToken()
    recorded, lacking = None, missing("eth_ucy")
    if not lacking:
        yield Measuring("recorded crowds")
        token.check()
        recorded = against_recorded(model)
    yield Measuring("speed against density")
    token.check()
    diagram = fundamental_diagram(model, seed=seed)
    yield Measuring("lanes and stripes")
    token.check()
    opposite, crossing = ([meet(model, seed=seed + k) for k in range(_SEEDS)] for meet in (lanes, stripes))
    cases = [
        _weidmann_case(diagram),
        _stream_case(
            "lanes of opposite streams", opposite, "twice the order of people who do not see each other", lambda blind: 2.0 * blind
        ),
        _stream_case("stripes of crossing streams", crossing, "order above 0.67", lambda blind: 0.67),
    ]
    for case in CASES:
        yield Measuring(f"RiMEA {case.__name__.replace('_', ' ')}")
        token.check()
        cases.append(case(model))
    yield Measuring("doors")
    token.check()
    cases += [evacuation(model, seed=seed), counterflow(model, seed=seed)]
    if recorded is not None:
        cases += [_recorded_case(recorded, quantity) for quantity in QUANTITIES]
    left_out = f"not compared with recorded people: {lacking}" if lacking else ""
    yield Validation(name, tuple(cases), diagram, opposite[0], crossing[0], recorded, left_out)


def _weidmann_case(diagram: FundamentalDiagram) -> Case:
    found = diagram.unseen or f"{diagram.error:.2f} m/s root mean square over {len(diagram.density)} densities"
    return Case("Weidmann's speeds", "within 0.2 m/s", found, diagram.error <= 0.2, {"error": finite(diagram.error)})


def _stream_case(name: str, runs: list[Streams], expected: str, least: Callable[[float], float]) -> Case:
    order, blind = float(np.median([r.order for r in runs])), float(np.median([r.blind for r in runs]))
    apart = int(np.isnan([r.order for r in runs]).sum())
    found = f"order {order:.2f}, {blind:.2f} for people who do not see each other (medians of {len(runs)})"
    said = f"the streams did not meet in {apart} of {len(runs)} runs" if apart else found
    return Case(name, expected, said, order >= least(blind), {"order": finite(order), "blind": finite(blind)})


def _recorded_case(recorded: PairedSamples, quantity: str) -> Case:
    ks, moved = recorded.distance(quantity)
    unit = QUANTITIES[quantity]
    medians = float(np.median(recorded.recorded[quantity])), float(np.median(recorded.simulated[quantity]))
    found = f"KS {ks:.3f}, W1 {moved:.3f} {unit}; medians {medians[0]:.2f} recorded, {medians[1]:.2f} simulated"
    return Case(f"{quantity} in ETH/UCY", "KS at most 0.2", found, ks <= 0.2, {"ks": ks, "w1": moved})


def write(validation: Validation, folder: Path) -> Path:
    """Write ``validation.json`` and ``validation.png`` to a folder, and return the path of the figure.

    Raises:
        InputError: the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        cases = [asdict(case) | {"met": bool(case.met)} for case in validation.cases]
        numbers = {"model": validation.model, "cases": cases, "left_out": validation.left_out}
        write_whole(folder / "validation.json", json.dumps(numbers, indent=2, allow_nan=False) + "\n")
        figure(validation).savefig(folder / "validation.png", dpi=130)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error}") from error
    return folder / "validation.png"


def figure(validation: Validation) -> Figure:
    """Return a figure with speed against density, lanes, stripes and, if available, the comparison with recorded crowds."""
    from matplotlib.figure import Figure

    heights = (1.1, 1.0, 0.8) if validation.recorded is not None else (1.1, 1.0)
    with style():
        drawn = Figure((7.2, 2.55 * sum(heights)), layout="constrained")
        grid = drawn.add_gridspec(len(heights), 3, height_ratios=heights)
        _draw_diagram(drawn.add_subplot(grid[0, 0]), validation)
        _draw_streams(
            drawn.add_subplot(grid[0, 1:]), validation.stripes, (-1.0, 11.0), (-1.0, 11.0), "Crossing streams, 10 s", 10.0
        )
        _draw_streams(drawn.add_subplot(grid[1, :]), validation.lanes, (8.0, 32.0), (0.0, 6.0), "Opposite streams, 15 s", 15.0)
        if validation.recorded is not None:
            for k, quantity in enumerate(QUANTITIES):
                _draw_recorded(drawn.add_subplot(grid[2, k]), validation.recorded, quantity)
        drawn.suptitle(validation.model)
    return drawn


def _draw_diagram(axes: Axes, validation: Validation) -> None:
    rho = np.linspace(0.1, 5.4, 200)
    d = validation.diagram
    label = f"simulated; {d.unseen}" if d.unseen else f"simulated, error {d.error:.2f} m/s"
    axes.plot(rho, weidmann(rho), color="black", lw=1, label="Weidmann 1993")
    axes.errorbar(d.density, d.speed, d.spread, fmt="o", ms=3, lw=0.8, color=SECOND, label=label)
    axes.set(xlabel="density (1/m²)", ylabel="speed (m/s)", title="Speed against density")
    axes.legend(fontsize=6.5)


def _draw_streams(axes: Axes, streams: Streams, x: tuple[float, float], y: tuple[float, float], title: str, time: float) -> None:
    k = int(np.argmin(np.abs(streams.walk.time - time)))
    for who, colour in ((~streams.second, FIRST), (streams.second, SECOND)):
        place, velocity = streams.walk.position[k][who], streams.walk.velocity[k][who]
        axes.scatter(place[:, 0], place[:, 1], s=16, color=colour, lw=0)
        axes.quiver(*place.T, *velocity.T, color=colour, angles="xy", scale_units="xy", scale=2.5, width=0.003)
    if not ((streams.walk.position[k] > (x[0], y[0])) & (streams.walk.position[k] < (x[1], y[1]))).all(1).any():
        axes.text(0.5, 0.5, "empty", ha="center", transform=axes.transAxes)
    axes.set(
        xlim=x,
        ylim=y,
        aspect="equal",
        xlabel="x (m)",
        ylabel="y (m)",
        title=f"{title}: order {streams.order:.2f}" if np.isfinite(streams.order) else f"{title}: did not meet",
    )


def _draw_recorded(axes: Axes, recorded: PairedSamples, quantity: str) -> None:
    axes.set(xlabel=f"{quantity} ({QUANTITIES[quantity]})")
    ks, _ = recorded.distance(quantity)
    top = float(np.quantile(np.concatenate([recorded.recorded[quantity], recorded.simulated[quantity]]), 0.98))
    for values, colour, label in ((recorded.recorded, "black", "ETH/UCY"), (recorded.simulated, SECOND, "simulated")):
        axes.hist(values[quantity], list(np.linspace(0.0, top, 30)), density=True, histtype="step", color=colour, label=label)
    axes.set(title=f"KS {ks:.2f}", yticks=[])
    axes.legend(fontsize=6.5)
