"""Searches for better parameters of a component: defines their ranges, and requests trials from Optuna.

The search uses the tree-structured Parzen estimator (Bergstra et al., NeurIPS 2011). The suggested parameter sets depend only on
the seed and the reported values, so a resumed run suggests the same sets again.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from agora.errors import InputError
from agora.extras import missing
from agora.interfaces import Span
from agora.registry import Named

TOGETHER = 8
"""Number of parameter sets that are requested at a time."""

_NEAR = 2 * TOGETHER
"""Number of parameter sets that are tried before the search uses reported values: the component's current set, and sets close to
it.
"""

_STEP = 1 / 3
"""Distance of the initial sets from the component's current values, as a fraction of the distance to values drawn from the spans;
with most values drawn from the spans, planners drive badly.
"""


def space(component: Named, kind: str = "planner") -> dict[str, Span]:
    """Return the parameters to tune: all that the component declares as ``tunable``, except parameters that are unset (None).

    Args:
        component: component to tune.
        kind: type of the component, used in messages.

    Raises:
        InputError: the component has no parameters to tune, or a value is outside its parameter's span.
    """
    spans: Mapping[str, Span] = component.part.declares.tunable
    found = {name: span for name, span in spans.items() if getattr(component.part, name) is not None}
    if not found:
        raise InputError(f"{kind} {component.name!r} declares no parameters to tune (tunable)")
    for name, span in found.items():
        value = getattr(component.part, name)
        if not span.low <= value <= span.high:
            raise InputError(f"{kind} {component.name!r}: {name} is {value}; tuning covers {span.low:g} to {span.high:g}")
    return found


def round_parameters(values: Mapping[str, float]) -> dict[str, float]:
    """Round parameters to four digits, so that the values in a file are exactly the values that were tried."""
    return {name: value if isinstance(value, int) else float(f"{value:.4g}") for name, value in values.items()}


def with_parameters(component: Named, parameters: Mapping[str, float]) -> Named:
    """Return the component with changed parameters."""
    return Named(component.name, dataclasses.replace(component.part, **parameters))


def _near(span: Span, own: float, draw: float) -> float:
    """Return a value between the component's current value ``own`` and a random value from a span."""
    if span.log:
        drawn = math.log(span.low) + draw * math.log(span.high / span.low)
        return min(span.high, max(span.low, math.exp(math.log(own) + _STEP * (drawn - math.log(own)))))
    value = own + _STEP * (span.low + draw * (span.high - span.low) - own)
    return round(value) if isinstance(own, int) else value


class Study:
    """An Optuna study of a component's parameters; the first suggested set contains the component's current values.

    Args:
        component: component to tune.
        seed: seed of the search.
        direction: whether the value is maximised or minimised.
        kind: type of the component, used in messages.

    Raises:
        InputError: Optuna is not installed, or there is nothing to tune.
    """

    def __init__(
        self, component: Named, seed: int, direction: Literal["maximize", "minimize"] = "maximize", kind: str = "planner"
    ) -> None:
        try:
            import optuna
        except ImportError as error:
            raise missing("tuning needs", "optuna", "tune") from error

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        spans = space(component, kind)
        own = {name: getattr(component.part, name) for name in spans}
        self._axes: dict[str, Any] = {
            name: optuna.distributions.IntDistribution(int(span.low), int(span.high), log=span.log)
            if isinstance(own[name], int)
            else optuna.distributions.FloatDistribution(span.low, span.high, log=span.log)
            for name, span in spans.items()
        }
        self._given_up = optuna.trial.TrialState.PRUNED
        self._study = optuna.create_study(
            direction=direction,
            sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=_NEAR, constant_liar=True),
        )
        self._study.enqueue_trial(own)
        draws = np.random.default_rng(seed)
        for _ in range(1, _NEAR):
            self._study.enqueue_trial({name: _near(span, own[name], draws.random()) for name, span in spans.items()})

    def ask(self) -> Any:
        """Return Optuna's next trial; its ``params`` are the parameter set to try."""
        return self._study.ask(self._axes)

    def tell(self, trial: Any, value: float | None) -> None:
        """Report the value of a trial; None if the trial was given up."""
        if value is None:
            self._study.tell(trial, state=self._given_up)
        else:
            self._study.tell(trial, value)
