"""Trajectories of JuPedSim's social force model, kept in ``jupedsim_walks.npz``: python -m tests.pedestrians.jupedsim_walks

Made with jupedsim 1.4.2, which is in the extra ``bench``. Tests compare with the kept trajectories, because the package brings vtk
and PySide6, 1.3 GB.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FILE = Path(__file__).with_suffix(".npz")
CASES = {"before contact": (0.005, 0.65), "in contact": (0.001, 0.52)}
"""Step, s, and least distance of two people at first, m, of each case."""
STEPS = 200


def walks(position: np.ndarray, velocity: np.ndarray, goal: np.ndarray, dt: float) -> np.ndarray:
    """Return the ways of people of 0.3 m who want to walk at 1.5 m/s, (STEPS, N, 2)."""
    import jupedsim
    import shapely

    world = jupedsim.Simulation(model=jupedsim.SocialForceModel(), geometry=shapely.box(-60, -60, 60, 60), dt=dt)
    stage = world.add_direct_steering_stage()
    journey = world.add_journey(jupedsim.JourneyDescription([stage]))
    names = []
    for p, v, g in zip(position.tolist(), velocity.tolist(), goal.tolist(), strict=True):
        person = jupedsim.SocialForceModelAgentParameters(
            position=tuple(p), velocity=tuple(v), journey_id=journey, stage_id=stage, radius=0.3, desired_speed=1.5
        )
        names.append(world.add_agent(person))
        world.agent(names[-1]).target = tuple(g)
    out = []
    for _ in range(STEPS):
        world.iterate()
        out.append([world.agent(name).position for name in names])
    return np.array(out)


def main() -> None:
    kept = {}
    for number, (name, (dt, nearest)) in enumerate(CASES.items()):
        rng, position = np.random.default_rng(number), np.zeros((0, 2))
        while len(position) < 7:
            p = rng.uniform(0, 2.4, 2)
            position = np.vstack([position, p]) if np.all(np.hypot(*(position - p).T) > nearest) else position
        scene = {"position": position, "velocity": rng.normal(0, 0.5, (7, 2)), "goal": rng.uniform(-20, 20, (7, 2))}
        scene["walks"] = walks(**scene, dt=dt)
        kept |= {f"{name} {field}": values for field, values in scene.items()}
    np.savez_compressed(FILE, **kept)


if __name__ == "__main__":
    main()
