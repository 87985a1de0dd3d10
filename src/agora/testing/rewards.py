"""The contract for rewards."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from agora.config import build, plain
from agora.core.state import Floats
from agora.errors import AgoraError
from agora.interfaces import Rewarding, Transition
from agora.learning.env import AgoraVectorEnv
from agora.policies.encoding import Observe
from agora.registry import Plug
from agora.testing.errors import ContractError
from agora.testing.guard import pure

_HELD = dict[str, Annotated[Rewarding, Plug("rewards")]]
_WORLDS, _STEPS = 3, 40


def check_reward(reward: Rewarding, suite: Any = "demo", stage: str = "hall") -> None:
    """Check a reward against the contract of `agora.interfaces.Rewarding`, in worlds whose robots drive at random.

    The reward and its parameters can be stored in a file. Its facts exist; rewards are finite and equal the sum of their terms; a
    robot's reward depends only on its own transition. Inputs are not written.

    Args:
        reward: reward to check.
        suite: suite to drive in (`agora.tasks.suite.Suite`), or its name.
        stage: name of the stage to drive in.

    Raises:
        ContractError: the reward breaks a clause.
    """
    name = type(reward).__name__
    watched = _Watched(reward, name)
    try:
        held = build({"reward": plain(reward, Annotated[Rewarding, Plug("rewards")])}, _HELD)["reward"]
        if held != reward:
            raise ContractError(f"{name}: loading the saved file gives a different object; the fields must hold its whole state")
        env = AgoraVectorEnv(suite, stage, _WORLDS, observe=Observe(0), reward=watched)
        env.reset(seed=3)
        rng = np.random.default_rng(3)
        for _ in range(_STEPS):
            env.step(rng.uniform(-1.0, 1.0, env.action_space.shape).astype(np.float32))
        env.close()
    except AgoraError as error:
        raise error if isinstance(error, ContractError) else ContractError(f"{name}: {error}") from error


class _Watched:
    """A reward whose results are checked at every call.

    Args:
        reward: reward to call.
        name: name of the reward in messages.
    """

    def __init__(self, reward: Rewarding, name: str) -> None:
        self._reward, self._name = reward, name
        self.asks, self.terms = reward.asks, reward.terms

    def __call__(self, transition: Transition) -> Floats:
        """Return the rewards after checking them."""
        count = len(transition.outcome)
        with pure(self._name, transition=transition):
            rewards, terms = self._reward(transition), self._reward.terms(transition)
        for what, values in {"the reward": rewards, **terms}.items():
            if values.shape != (count,) or values.dtype != np.float32 or not np.isfinite(values).all():
                raise ContractError(f"{self._name}: {what} is {values.dtype} of shape {values.shape}, or not finite")
        if not np.allclose(sum(terms.values()), rewards, atol=1e-4):
            raise ContractError(f"{self._name}: the rewards are not the sums of their terms {', '.join(terms)}")
        for n in range(count):
            if self._reward(_row(transition, n)).tobytes() != rewards[n].tobytes():
                raise ContractError(f"{self._name}: the reward of robot {n} depends on other robots")
        return rewards


def _row(t: Transition, n: int) -> Transition:
    """Return the transition of robot n alone."""
    facts = {name: fact[n : n + 1] for name, fact in t.facts.items()}
    return Transition(t.outcome[n : n + 1], t.progress[n : n + 1], t.clearance[n : n + 1], t.dt, facts)
