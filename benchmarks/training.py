"""Lines about training: our PPO and that of Stable-Baselines3 in the same worlds with two threads, including simulation."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from types import SimpleNamespace

from measure import Bench, Effort, Line, Pair, paired, wait_for_cores

from agora.config import build
from agora.tasks.suite import Suite

WORLDS, STEPS, BATCHES, EPOCHS, EPISODES, THREADS = 1024, 32, 8, 2, 1024, 2
_PUBLISHED = "157..950"  # environment steps per second and core: robot_sf 157 to 533, AG-RL's authors 176, DS-RNN's 950
_ROBOT = """
name: small
kinematics: differential
radius: 0.2
vx: [0.0, 1.0]
omega: 2.0
ax: 2.5
alpha: 5.0
lidar: {beams: 36, angle_min: -3.14159265, angle_max: 2.96705973, range_max: 10.0, rate: 10.0}
base_frame: base
sensor_frame: scan
height: 0.3
mass: 10.0
source: of the benchmark alone
"""


def _suite(folder: Path) -> Suite:
    """Return a suite with a hall, six pedestrians, and a robot with 36 beams."""
    (folder / "small.yaml").write_text(_ROBOT)
    hall = {
        "name": "hall",
        "world": {"name": "folder", "path": "hall"},
        "robots": {"name": "random", "distance": 4.0},
        "obstacles": {"name": "random", "dynamic": [6, 6]},
        "crowd": {"model": "helbing"},
        "robot": str(folder / "small.yaml"),
        "timeout": 30.0,
        "episodes": EPISODES,
    }
    return build({"name": "training", "seed": 3, "split": "training", "stages": [hall]}, Suite)


class _Ours:
    """Training rounds with our trainer."""

    def __init__(self, suite: Suite) -> None:
        import torch

        from agora.learning.trainers.ppo import Ppo, _Worlds
        from agora.learning.trainers.shares import Shares
        from agora.policies.learners.actor_critic import actor_critic

        settings = {"worlds": WORLDS, "horizon": STEPS, "batches": BATCHES, "epochs": EPOCHS, "episodes": EPISODES}
        self._ppo = Ppo(**settings, threads=THREADS, divergence=0.0)
        self._worlds = _Worlds(self._ppo, SimpleNamespace(suite=suite, stage="hall", seed=1))  # type: ignore[arg-type]
        self._network = actor_critic(self._ppo.network, self._worlds.shape(self._ppo))
        self._descent = torch.optim.Adam(self._network.parameters(), eps=1e-5)
        self._chance = torch.Generator().manual_seed(1)
        self._worlds.begin(self._network, 0, 0)
        self._shares = Shares(THREADS)

    def round(self) -> None:
        """Run episodes and learn."""
        import torch

        torch.set_num_threads(1)  # as in `Shares`; the other side sets its own value
        played, _ = self._worlds.play(self._network, self._chance, self._shares)
        self._ppo._learn(self._network, self._descent, played, 0, self._chance, self._shares)

    def close(self) -> None:
        """Stop the threads."""
        self._worlds.close()


class _Theirs:
    """Training rounds with Stable-Baselines3's PPO, with the same network, batch and passes."""

    def __init__(self, suite: Suite) -> None:
        import torch
        from stable_baselines3 import PPO

        from agora.learning.env import AgoraVectorEnv
        from agora.learning.sb3 import Sb3VecEnv
        from agora.policies.encoding import Observe

        observe = Observe(36, pedestrians=6)
        worlds = AgoraVectorEnv(suite, "hall", WORLDS, episodes=EPISODES, seed=1, observe=observe, threads=THREADS)
        shape = {"net_arch": [128, 128], "activation_fn": torch.nn.ReLU, "log_std_init": -0.5}
        settings = {"n_steps": STEPS, "batch_size": WORLDS * STEPS // BATCHES, "n_epochs": EPOCHS}
        self._model = PPO("MlpPolicy", Sb3VecEnv(worlds), **settings, policy_kwargs=shape, device="cpu", verbose=0)
        _, self._callback = self._model._setup_learn(10**9)

    def round(self) -> None:
        """Run episodes and learn."""
        import torch

        torch.set_num_threads(THREADS)
        model = self._model
        model.collect_rollouts(model.env, self._callback, model.rollout_buffer, n_rollout_steps=STEPS)
        model.train()

    def close(self) -> None:
        """Stop the threads."""
        self._model.env.close()


@functools.cache
def _timed(effort: Effort) -> Pair:
    """Time a round: a few rounds of each side in turn, after a warm-up."""
    import torch

    torch.set_num_threads(THREADS)
    with tempfile.TemporaryDirectory() as folder:
        suite = _suite(Path(folder))
        ours, theirs = _Ours(suite), _Theirs(suite)
        if effort.waits:
            wait_for_cores()
        pair = paired(ours.round, theirs.round, effort, pairs=(9, 3), most=1)
        ours.close()
        theirs.close()
    torch.set_num_threads(1)
    return pair


def _rate(seconds: float) -> float:
    """Return the environment steps per second for a round of this duration."""
    return WORLDS * STEPS / seconds


def against_stable_baselines3(effort: Effort) -> Line:
    """Measure the steps per second of both, and the ratio."""
    pair = _timed(effort)
    return Line(
        f"{_rate(pair.ours):.0f}/s", f"{_rate(pair.other):.0f}/s", pair.ratio, f"{pair.spread[0]:.3g} .. {pair.spread[1]:.3g}"
    )


def rate(effort: Effort) -> Line:
    """Measure our steps per second, shown next to published values."""
    steps = _rate(_timed(effort).ours)
    return Line(f"{steps:.0f}/s", f"{_PUBLISHED}/s", steps / 1000.0)


def benches() -> list[Bench]:
    """Return the lines of the table."""
    return [
        Bench("train-ppo", "SB3 PPO", 1.0, against_stable_baselines3),
        Bench("train-ppo-rate", "published", 40.0, rate, unit="k/s"),
    ]
