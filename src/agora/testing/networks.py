"""The contract for networks."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agora.core.state import Floats
from agora.errors import AgoraError
from agora.interfaces import Encoding, Network, Shape
from agora.policies.onnx_file import export_onnx
from agora.policies.policy import Policy, load_policy
from agora.testing.errors import ContractError

_ROWS, _STEPS, _ALMOST = 5, 4, 1e-4


def check_network(network: Network, observe: Encoding, *, actions: int = 2, period: float = 0.1) -> None:
    """Check a network against the contract of `agora.interfaces.Network`; requires the packages torch and onnx.

    The network's PyTorch twin can be converted to a policy whose weights have the names and shapes that the network declares. The
    policy takes the same actions as the twin over several steps with memory. Each row depends only on itself, bit for bit, and a
    policy read from its file is bit-identical. The outputs ``action`` and ``next_memory`` of its ONNX file agree up to rounding.

    Args:
        network: network to check.
        observe: encoding of the network's observations.
        actions: number of values in an action, A.
        period: control period, s.

    Raises:
        ContractError: the network breaks a clause.
    """
    import torch

    torch.manual_seed(3)
    name = type(network).__name__
    try:
        learner = network.learner(Shape(observe, actions, period))
        check = _Check(name, learner, learner.policy({"label": "own"}))
        check.steps()
        check.files()
    except AgoraError as error:
        raise error if isinstance(error, ContractError) else ContractError(f"{name}: {error}") from error


@dataclass(frozen=True)
class _Check:
    """The clauses of the contract."""

    name: str
    learner: Any
    policy: Policy

    def fail(self, clause: str) -> ContractError:
        """Return the error for a violated clause."""
        return ContractError(f"{self.name}: {clause}")

    @property
    def seen(self) -> Floats:
        """Random input vectors (T, N, D) within the bounds of the encoding."""
        observe, rng = self.policy.observe, np.random.default_rng(5)
        low, high = np.maximum(observe.low, -1.0), np.minimum(observe.high, 1.0)
        return rng.uniform(low, high, (_STEPS, _ROWS, observe.length)).astype(np.float32)

    def steps(self) -> None:
        """Check that the policy gives the same results as its twin, row by row."""
        seen, policy = self.seen, self.policy
        state = np.zeros((_ROWS, policy.state_size), np.float32)
        told = self._told(seen)
        for t in range(_STEPS):
            actions, after = policy.step(seen[t], state)
            if actions.dtype != np.float32 or after.shape != state.shape or not np.isfinite(actions).all():
                raise self.fail(f"its actions are {actions.dtype} of shape {actions.shape}, and its memory has shape {after.shape}")
            if told is not None and not np.allclose(actions, told[t], atol=_ALMOST):
                raise self.fail(f"step {t}: the policy returns {actions[0]}, but its PyTorch twin returns {told[t][0]}")
            for n in range(_ROWS):
                alone, kept = policy.step(seen[t, n : n + 1], state[n : n + 1])
                if alone.tobytes() != actions[n].tobytes() or kept.tobytes() != after[n].tobytes():
                    raise self.fail(f"row {n} gives a different result when evaluated alone than in a batch")
            state = after

    def _told(self, seen: Floats) -> Floats | None:
        """Return the most likely actions (T, N, A) of the twin if it is an actor-critic network; otherwise None."""
        import torch

        from agora.policies.learners.actor_critic import ActorCritic

        if not isinstance(self.learner, ActorCritic):
            return None
        begins = torch.zeros(_STEPS, _ROWS, dtype=torch.bool)
        begins[0] = True
        with torch.no_grad():
            answers, values, after = self.learner(torch.from_numpy(seen), torch.zeros(_ROWS, self.learner.state_size), begins)
            likeliest: Floats = self.learner.distribution.likeliest(answers).numpy()
        if values.shape != (_STEPS, _ROWS) or after.shape != (_ROWS, self.policy.state_size):
            raise self.fail(f"its PyTorch twin returns values {tuple(values.shape)} and a memory {tuple(after.shape)}")
        return likeliest

    def files(self) -> None:
        """Check the policy's file and its ONNX file."""
        seen, state = self.seen[0], np.zeros((_ROWS, self.policy.state_size), np.float32)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "one.safetensors"
            self.policy.save(path)
            again = load_policy(path)
            if again.network != self.policy.network:
                raise self.fail(
                    f"loading the saved file gives {again.network}, which differs from the original; the network's "
                    "fields must hold its whole state"
                )
            for mine, theirs in zip(self.policy.step(seen, state), again.step(seen, state), strict=True):
                if mine.tobytes() != theirs.tobytes():
                    raise self.fail("the policy loaded from its file returns different actions")
            self.onnx(Path(folder) / "one.onnx")

    def onnx(self, path: Path) -> None:
        """Check that the ONNX file gives the same actions and memory, if it has outputs with these names."""
        export_onnx(self.policy, path)
        from onnx.reference import ReferenceEvaluator

        model = ReferenceEvaluator(str(path))
        state = np.random.default_rng(7).uniform(-0.5, 0.5, (_ROWS, self.policy.state_size)).astype(np.float32)
        given = dict(zip(model.input_names, (self.seen[0], state), strict=False))
        with np.errstate(all="ignore"):  # values of absent people must have no effect
            found = dict(zip(model.output_names, model.run(None, given), strict=True))
        for output, mine in zip(("action", "next_memory"), self.policy.step(self.seen[0], state), strict=True):
            theirs = found.get(output, mine)
            cut = (lambda values: np.clip(values, -1.0, 1.0)) if output == "action" else np.asarray
            if not np.allclose(cut(theirs), cut(mine), atol=_ALMOST):
                raise self.fail(f"the output {output} of its ONNX file is {theirs[0]}, but the policy returns {mine[0]}")
