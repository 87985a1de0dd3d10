"""Lines about driving with policies: time per row in batches of 64 on one core, compared with the same network in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from measure import Bench, Effort, Line, paired

ROWS = 64


def _line(ours: Callable[[], object], theirs: Callable[[], object], effort: Effort) -> Line:
    """Return the line with microseconds per row of both; the value is ours."""
    pair = paired(ours, theirs, effort)
    mine, its = (1e6 * seconds / ROWS for seconds in (pair.ours, pair.other))
    return Line(f"{mine:.1f} us", f"{its:.1f} us", mine, f"{pair.spread[0]:.3g} .. {pair.spread[1]:.3g}")


def mlp(effort: Effort) -> Line:
    """Time two layers of 256 units, with 36 beams and 6 pedestrians."""
    import torch

    from agora.policies.encoding import Observe
    from agora.policies.policy import Policy

    torch.set_num_threads(1)
    observe = Observe(36, pedestrians=6)
    sizes = (observe.length, 256, 256, 2)
    layers = [part for a, b in zip(sizes, sizes[1:], strict=False) for part in (torch.nn.Linear(a, b), torch.nn.ReLU())][:-1]
    network = torch.nn.Sequential(*layers)
    policy = Policy.of_torch(observe, network)
    seen = np.random.default_rng(3).uniform(-1.0, 1.0, (ROWS, observe.length)).astype(np.float32)
    with torch.no_grad():
        off = float(np.abs(policy(seen) - network(torch.from_numpy(seen)).numpy()).max())
        if off > 1e-3:
            raise RuntimeError(f"a row differs from PyTorch by {off:.2g}")
        return _line(lambda: policy(seen), lambda: network(torch.from_numpy(seen)), effort)


def sarl(effort: Effort) -> Line:
    """Time the 81 look-aheads of the policy sarl among five people."""
    import torch

    from agora.interfaces import Shape
    from agora.policies.joint_state import JointState
    from agora.policies.look_ahead import look_ahead
    from agora.policies.networks.sarl import SarlNetwork
    from agora.policies.policy import load_policy
    from agora.testing.scenes import observation

    torch.set_num_threads(1)
    policy = load_policy("sarl")
    states = JointState()(observation(rows=ROWS, pedestrians=9, max_vy=0.4, seed=3))
    sarl = policy.network
    assert isinstance(sarl, SarlNetwork)
    network = sarl.learner(Shape(policy.observe, 2))
    present = torch.ones(ROWS * len(sarl.ahead.velocities), JointState().people, dtype=torch.bool)

    def theirs() -> object:
        pairs, _, _ = look_ahead(states, sarl.ahead)
        return network(torch.from_numpy(pairs.reshape(-1, *pairs.shape[2:])), present)

    with torch.no_grad():
        return _line(lambda: sarl.returns(policy.arrays, states), theirs, effort)


def benches() -> list[Bench]:
    """Return the lines of the table."""
    return [
        Bench("policy-mlp-row", "PyTorch", 20.0, mlp, most=True, unit="us"),
        Bench("policy-sarl-row", "PyTorch", 100.0, sarl, most=True, unit="us"),
    ]
