"""Train a small policy with Stable-Baselines3's PPO: 16 worlds at once, a few updates, in seconds.

A policy that is any good takes some million steps: raise WORLDS, EPISODES and STEPS.
"""

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecMonitor

from agora.learning.env import AgoraVectorEnv
from agora.learning.observations import Observe
from agora.learning.rewards import Reward
from agora.learning.sb3 import Sb3VecEnv

WORLDS, EPISODES, STEPS = 16, 32, 4096


def main() -> None:
    """Train, then drive through the episodes and say how they ended."""
    torch.set_num_threads(1)  # two layers of 64 are too small for more
    worlds = AgoraVectorEnv(
        "demo",
        "hall",
        WORLDS,
        episodes=EPISODES,
        seed=1,  # not the suite's own, on which planners are compared
        observe=Observe(beams=36, pedestrians=3),
        reward=Reward(progress=0.2, collision=-1.0),
    )
    model = PPO("MlpPolicy", VecMonitor(Sb3VecEnv(worlds)), n_steps=64, batch_size=512, n_epochs=4, seed=0, device="cpu")
    model.learn(STEPS)

    observations, _ = worlds.reset(seed=0)
    outcomes: list[str] = []
    while len(outcomes) < EPISODES:
        actions, _ = model.predict(observations, deterministic=True)
        observations, _, _, _, infos = worlds.step(actions)
        if "final_info" in infos:
            outcomes += [label for label in infos["final_info"]["outcome"] if label]
    for label, count in zip(*np.unique(outcomes, return_counts=True), strict=True):
        print(f"{label:22} {count}")
    worlds.close()


if __name__ == "__main__":
    main()
