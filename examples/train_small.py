"""Train a policy with Stable-Baselines3's PPO in the hall of the suite demo, keep it in a file, and drive with it.

So it trains for seconds. The policy ``hall``, which comes with Agora, had WORLDS = 128, EPISODES = 768, STEPS = 6_000_000, and took
five minutes on two cores.
"""

from pathlib import Path

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecMonitor

from agora.learning.env import AgoraVectorEnv
from agora.learning.rewards import Reward
from agora.learning.sb3 import Sb3VecEnv
from agora.policies.encoding import Observe
from agora.policies.policy import Policy

WORLDS, EPISODES, STEPS = 16, 32, 4096
SEED = 1  # not the suite's own, on which planners are compared
FILE = Path("policy.safetensors")


def main() -> None:
    """Train, then drive through other episodes and say how they ended."""
    torch.set_num_threads(1)  # two layers of 128 are too small for more
    reward = Reward(progress=0.3, reached=2.0, collision=-2.0, discomfort=-1.0, discomfort_distance=0.3)
    observe = Observe(beams=36, pedestrians=6)
    worlds = AgoraVectorEnv("demo", "hall", WORLDS, episodes=EPISODES, seed=SEED, observe=observe, reward=reward)
    settings = {"n_steps": 64, "batch_size": 16 * WORLDS, "n_epochs": 5, "policy_kwargs": {"net_arch": [128, 128]}}
    model = PPO("MlpPolicy", VecMonitor(Sb3VecEnv(worlds)), seed=SEED, device="cpu", verbose=1, **settings)
    model.learn(STEPS)

    about = {"trained on": "demo/hall", "steps": str(model.num_timesteps), "seed": str(SEED), "algorithm": "PPO"}
    policy = Policy.of_torch(observe, [model.policy.mlp_extractor.policy_net, model.policy.action_net], about)
    policy.save(FILE)

    observations, _ = worlds.reset(seed=SEED + 1)  # episodes that the training has not seen
    each = EPISODES // WORLDS  # as many of every world: of all episodes those that end first are the failures
    outcomes: list[list[str]] = [[] for _ in range(WORLDS)]
    while min(map(len, outcomes)) < each:
        observations, _, _, _, infos = worlds.step(policy(observations))
        if "final_info" in infos:
            for ended, label in zip(outcomes, infos["final_info"]["outcome"], strict=True):
                ended += [label] if label else []
    for label, count in zip(*np.unique([ended[:each] for ended in outcomes], return_counts=True), strict=True):
        print(f"{label:22} {count}")
    print(f"drive with it: agora bench demo --planner policy:file={FILE}")
    worlds.close()


if __name__ == "__main__":
    main()
