"""A Gymnasium vector environment on top of the engine: a batch of worlds. `agora.learning.single` has a single world.

Worlds are stepped exactly as in `agora.episode.Episodes` (by `agora.episode.Batch`). ``import agora.learning`` registers both
environments with Gymnasium: ``gymnasium.make("agora/Navigation-v0")`` then creates a single world, and `gymnasium.make_vec` creates
a batch.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from agora.config import build_component, parse_component
from agora.core.recording import Outcome
from agora.core.state import Array, Bools, Floats, Ints
from agora.episode import Conditions
from agora.errors import InputError
from agora.interfaces import Encoding, Limits, Rewarding
from agora.learning.entries import Entries
from agora.learning.env_part import EnvPart
from agora.learning.facts import channels_of, empty
from agora.learning.film import HUMAN, RGB, Camera, Screen
from agora.learning.rewards import Reward, rewarded
from agora.planners.adapters import declaration_of
from agora.policies.encoding import Observe
from agora.registry import Named
from agora.tasks.drawn import Drawn
from agora.tasks.modules.staged import Staged
from agora.tasks.suite import Suite, load_suite
from agora.viewer.live import has_screen
from agora.viewer.scene import Scene
from agora.world.records import RUNNING
from agora.world.start import Start

__all__ = ["AgoraVectorEnv"]

_EXAMPLES = 8  # number of episodes from which the initial array sizes are determined
_CUT_OFF = np.zeros(max(Outcome) + 2, np.bool_)  # indexed by outcome; the last entry is for RUNNING
_CUT_OFF[[Outcome.TIMEOUT, Outcome.SIMULATOR_FAILED]] = True  # every other outcome terminates
_REACHED = int(Outcome.REACHED)


class AgoraVectorEnv(VectorEnv[Floats, Floats, Array]):
    """W worlds with R robots each, stepped together; environment ``w * R + r`` is robot r of world w. R is usually 1.

    One step is one control period. The episodes are entries of one stage of a suite. Without a seed, the stage's own entries are
    played, i.e. the entries on which planners are compared. World w plays entries w, w + W, w + 2 W, ..., so no result depends on
    when other episodes end. After the last entry, the sequence starts again at the first. Each seed passed to `reset` has separate
    entries (`agora.learning.entries`), which are shared neither with other seeds nor with the stage, so pass a seed for training.
    The random parts of a stage are redrawn for each entry; parts that are fixed in files, such as a scenario, stay the same.

    When an episode ends, the next episode begins in the same step (`AutoresetMode.SAME_STEP`): the returned observation belongs to
    the new episode; ``infos["final_obs"]`` and ``infos["final_info"]`` belong to the previous episode. ``infos["entry"]`` is the
    entry number of an episode that has just begun. For an episode that has just ended, ``outcome`` (a label of `Outcome`),
    ``is_success`` (bool), ``entry`` and ``time`` (s) describe its end. ``infos["rewards"]`` holds the terms of the step's rewards
    by name, each (N,).

    If R is above 1, a robot whose episode has ended waits until the last robot of its world has ended; the stage's ``after_end``
    specifies how. The world's next episode begins in that step, for all its robots. ``infos["waiting"]`` (N,) is True for a robot
    that had ended before the step: its action is ignored, its reward is 0, and it is neither terminated nor truncated. Exclude such
    steps from learning.

    Args:
        suite: the suite, its name or its file.
        stage: name of the stage. All its robots must be of one model, and its crowd and sensor periods must divide the control
            period.
        num_envs: number of worlds, W.
        episodes: number of entries of the stage and of each seed. With 0, the stage keeps the number of entries given in the suite,
            and each seed has `agora.learning.entries.OF_A_SEED`. An entry is generated when it begins. If the stage has at most
            `agora.tasks.drawn.KEPT` entries, they are kept in memory. Entries whose people or robots cannot be placed are skipped.
        workers: number of processes that generate each world's next episode in advance. A script that uses them needs the usual
            ``if __name__ == "__main__":``.
        seed: seed that replaces the suite's seed. With another seed, every entry is a different episode; this includes the entries
            of seeds passed to `reset`.
        threads: number of threads among which the worlds are divided; results do not depend on the number of threads.
        observe: encoding of observations and actions: an object, a string such as ``observe:beams=36``, or a dictionary of its
            parameters. A dictionary without ``name`` describes the ``observe`` encoding.
        reward: reward for each control period, in the same forms as ``observe``. A dictionary without ``name`` describes the
            ``weighted`` reward; parameters that are missing from the dictionary have their default values.
        simulator: simulator that replaces the stage's simulator: a component, or a string such as ``native``.
        teacher: planner whose actions `teach` returns.
        autoreset: whether the next episode begins automatically; if not, call `reset` with ``options={"reset_mask": mask}``.
        render_mode: ``rgb_array`` to get images from `render`; ``human`` for a window that shows the first environment.

    Attributes:
        starts: the stage's episodes, by number.
        observe: the encoding, as an object.
        reward: the reward, as an object.
        robot: model of the robots.
        actions: number of values of an action, A.
        num_envs: number of environments, N = W R.
        robots: number of robots per world, R.
        metadata: metadata for Gymnasium; ``render_modes`` contains the modes available on this machine, which may have no screen.

    Raises:
        InputError: the stage does not meet the requirements above, ``observe`` needs a lidar but the robot has none, a name or a
            parameter does not exist, or a window was requested but there is no screen.
    """

    metadata: dict[str, Any] = {"render_modes": [HUMAN, RGB], "render_fps": 10, "autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(
        self,
        suite: Suite | str | Path = "demo",
        stage: str = "hall",
        num_envs: int = 1,
        *,
        episodes: int = 0,
        seed: int | None = None,
        threads: int = 1,
        workers: int = 0,
        observe: Encoding | Mapping[str, Any] | str | None = None,
        reward: Rewarding | Mapping[str, Any] | str | None = None,
        simulator: Named | str | None = None,
        teacher: Any = None,
        autoreset: bool = True,
        render_mode: str | None = None,
    ) -> None:
        mover = parse_component("simulators", simulator, "simulator") if isinstance(simulator, str) else simulator
        whole = (suite if isinstance(suite, Suite) else load_suite(suite)).under(mover)
        self._suite = whole if seed is None else replace(whole, seed=seed)
        self._stage, self._episodes, self._threads, self._workers = stage, episodes, threads, workers
        self.observe: Encoding = _chosen("encodings", "observe", observe) or Observe()
        self.reward: Rewarding = _chosen("rewards", "weighted", reward) or Reward()
        self.teacher = teacher
        self._worlds, self.robots = num_envs, 0
        self._entry = np.full(num_envs, -1, np.int64)
        self._autoreset = autoreset
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError(f"render_mode must be {RGB!r}, {HUMAN!r} or None, got {render_mode!r}")
        self.render_mode = render_mode
        self._begun = np.zeros(num_envs, np.int64)
        self._parts: list[EnvPart] = []
        self._examples: list[Start] = []
        self._draw()
        self.num_envs = self._worlds * self.robots
        self._seen, self._before = (np.zeros((self.num_envs, self.observe.length), np.float32) for _ in range(2))
        self.actions = self.observe.action_size(self.robot.limits(1))
        self.single_observation_space = Box(self.observe.low, self.observe.high)
        self.single_action_space = Box(-1.0, 1.0, (self.actions,))
        self.metadata = self.metadata | {
            "render_modes": [HUMAN, RGB] if has_screen() else [RGB],
            "render_fps": round(1.0 / self.period),
            "autoreset_mode": AutoresetMode.SAME_STEP if autoreset else AutoresetMode.DISABLED,
        }
        title = f"{self._suite.name}: {stage}"
        self._cameras = [Camera(title) for _ in range(self.num_envs)] if render_mode == RGB else []
        self._screen = Screen(title) if render_mode == HUMAN else None
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def _draw(self) -> None:
        """Set up the episodes of the stage as it is currently defined."""
        stage = self._suite.stage(self._stage)
        self._conditions = Conditions.of(stage)
        self.starts = Drawn(self._suite, self._stage, self._episodes, workers=self._workers)
        self._entries = Entries(self.starts, self._worlds, finite=self._episodes > 0)
        some = self._entries.some(min(self._worlds, _EXAMPLES))
        self.robots = _check(self._suite.entry(self._stage, 0), some, self._conditions, self.observe, self.robots)
        self.robot = some[0].robots[0].model
        self._limits = self.robot.limits(self._worlds * self.robots)
        for part in self._parts:
            part.batch.starts = self.starts
        if not self._parts or not all(map(self._parts[-1].holds, some)):
            self._make_room(some)
        self._entries.soon(range(len(some), self._worlds))

    def _make_room(self, starts: Sequence[Start]) -> None:
        """Add arrays that are large enough for the given episodes; running episodes continue in the old arrays."""
        self._examples += starts
        needs = {
            *self.observe.needs,
            *channels_of(self.reward.asks),
            *(() if self.teacher is None else declaration_of(self.teacher).needs),
        }
        chosen = (self._examples, self._conditions, needs, self._worlds, self._threads, self.observe, self.reward.asks)
        self._parts.append(EnvPart(self.starts, *chosen, filmed=self.render_mode is not None))

    @property
    def limits(self) -> Limits:
        """Limits of the robots in episodes that begin now, each an array (N,)."""
        return self._limits

    @property
    def period(self) -> float:
        """Control period, s."""
        return self._conditions.periods.control

    @property
    def curriculum_stage(self) -> int:
        """Index of the current curriculum stage, from the ``staged`` module; raises `InputError` if the suite's stage has none."""
        index: int = self._staged().index
        return index

    @property
    def curriculum_stages(self) -> int:
        """Number of stages in the curriculum; raises the same error as `curriculum_stage`."""
        return len(self._staged().stages())

    def change_stage(self, by: int = 1) -> int:
        """Move the curriculum forward by ``by`` stages, or back if negative, clamped to its first and last stage.

        Call `reset` afterwards. An `InputError` is raised if the suite's stage has no ``staged`` module.

        Returns:
            The index of the new curriculum stage.
        """
        moved = self._staged().moved(by)
        if moved.index != self.curriculum_stage:
            stage = self._suite.stage(self._stage)
            modules = tuple(Named(m.name, moved) if isinstance(m.part, Staged) else m for m in stage.modules)
            stages = tuple(replace(s, modules=modules) if s.name == self._stage else s for s in self._suite.stages)
            self._suite = replace(self._suite, stages=stages)
            self.starts.close()
            self._draw()
            for world in range(self._worlds):
                self._leave(world)
        return self.curriculum_stage

    def refuse_several(self, who: str) -> None:
        """Raise an `InputError` if worlds have several robots, because ``who`` cannot exclude the steps of waiting robots."""
        if self.robots > 1:
            raise InputError(f"{who}: stage {self._stage!r} must have one robot per world, got {self.robots}")

    def _staged(self) -> Staged:
        for module in self._suite.stage(self._stage).modules:
            if isinstance(module.part, Staged):
                return module.part
        raise InputError(f"stage {self._stage!r} has no module 'staged'")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Begin the next episode in all environments, or in the selected ones.

        Args:
            seed: seed whose entries are played from now on; world w starts at the seed's entry w. Without a seed, the current
                sequence of entries continues.
            options: ``reset_mask``, (N,) bool: environments to reset; it must be equal for all robots of a world, and other
                environments are left unchanged. ``entry``: number of the stage's own entry at which world 0 starts; world w starts
                at ``entry + w``.
        """
        super().reset(seed=seed)
        options = options or {}
        mask = np.asarray(options.get("reset_mask", True))
        if mask.dtype != np.bool_ or mask.shape not in ((), (self.num_envs,)):
            raise InputError(f"reset_mask must be {self.num_envs} booleans, got {mask.dtype} of shape {mask.shape}")
        of_world = np.broadcast_to(mask, self.num_envs).reshape(self._worlds, self.robots)
        if (of_world.any(1) != of_world.all(1)).any():
            raise InputError(f"reset_mask must be the same for the {self.robots} robots of a world")
        worlds = np.flatnonzero(of_world.all(1))
        if seed is not None:
            self._entries.of_seed(worlds, seed)
        if "entry" in options:
            self._entries.from_entry(worlds, int(options["entry"]))
        infos = self._begin(worlds.tolist())
        observations = self._observe(infos["_entry"])
        self._show()
        return observations, infos

    def step(self, actions: Array) -> tuple[Floats, Array, Bools, Bools, dict[str, Any]]:
        """Advance all worlds by one control period.

        Args:
            actions: (N, A) in [-1, 1], which ``observe.twists`` converts to twists. For most encodings they are (N, 2) vx, omega or
                (N, 3) vx, vy, omega, which span the robot's limits and are clipped. A non-finite action ends its episode with
                ``planner_failed``.

        Returns:
            Observations (N, D), rewards (N,), terminated (N,), truncated (N,) and infos.

        Raises:
            ComponentError: the reward raised, or returned something other than finite numbers (N,).
        """
        if (self._entry < 0).any():
            raise ResetNeeded("an environment without a running episode must be reset before it is stepped")
        if np.shape(actions) != self.action_space.shape:
            raise InputError(f"actions must be of shape {self.action_space.shape}, got {np.shape(actions)}")
        waiting = self._waiting() if self.robots > 1 else None
        facts: dict[str, Floats] = {}
        brought = empty(self.num_envs, self._conditions.periods.control, facts)
        outcome = brought.outcome
        for part in self._parts:
            part.step(actions, brought, facts)
        rewards, terms = rewarded(self.reward, brought)
        if waiting is not None:
            rewards, *others = (np.where(waiting, np.float32(0.0), each) for each in (rewards, *terms.values()))
            terms = dict(zip(terms, others, strict=True))
        self._before = self._seen
        observations = self._observe(np.zeros(self.num_envs, np.bool_))
        ended, truncated = outcome != RUNNING, _CUT_OFF[outcome]
        infos = self._end(observations, outcome) if ended.any() else {}
        every = np.ones(self.num_envs, np.bool_)
        infos |= {"rewards": terms | {f"_{name}": every for name in terms}, "_rewards": every}
        if waiting is not None:
            infos |= {"waiting": waiting, "_waiting": every}
        terminated: Bools = ended & ~truncated
        self._show()
        return observations, rewards, terminated, truncated, infos

    def _waiting(self) -> Bools:
        """Return, for each robot (N,), whether it has ended and is waiting for other robots in its world."""
        under_way: Bools = np.logical_or.reduce([part.rows & part.batch.world.under_way for part in self._parts])
        return ~under_way

    def teach(self) -> Floats:
        """Return the teacher's actions (N, A) for the current observations, for imitation; call this method once per step.

        If the teacher fails, the action is to stop.
        """
        if self.teacher is None:
            raise InputError("the environment has no teacher")
        actions = np.zeros((self.num_envs, self.observe.action_size(self.limits)), np.float32)
        for part in self._parts:
            part.teach(self.teacher, self.limits, actions)
        return actions

    def render(self) -> tuple[Array, ...] | None:
        """Return an image (height, width, 3) uint8 of every environment; None unless ``render_mode`` is ``rgb_array``.

        All images of an environment have the same size. Each image shows all walls, or the whole map if there are no walls.
        """
        if self.render_mode != RGB:
            return None
        return tuple(camera.picture(*self._filmed(n)) for n, camera in enumerate(self._cameras))

    def _show(self) -> None:
        """Show the first environment in the window, if there is one."""
        if self._screen is not None and self._worlds:
            self._screen.show(*self._filmed(0))

    def _filmed(self, n: int) -> tuple[int, Scene]:
        """Return how many episodes environment ``n`` has begun, and the scene of its current episode so far."""
        w, r = divmod(n, self.robots)
        part = next((part for part in self._parts if part.mine[w]), None)
        if part is None or part.film is None:
            raise ResetNeeded("an environment must be reset before it is rendered")
        return int(self._begun[w]), part.film.scene(w, r)

    def close_extras(self, **kwargs: Any) -> None:
        """Stop the threads and the workers, and close the window."""
        if self._screen is not None:
            self._screen.close()
        self.starts.close()
        for part in self._parts:
            part.batch.close()

    def _begin(self, worlds: list[int]) -> dict[str, Any]:
        began = len(self._parts) - 1
        for w in worlds:
            number, start = self._entries.draw(w)
            if not self._parts[-1].holds(start):
                self._make_room([start])
            self._leave(w)
            self._parts[-1].begin(w, number, start)
            self._entry[w] = number
            self._begun[w] += 1
        self._entries.soon(worlds)
        for part in self._parts[began:]:
            part.look([w for w in worlds if part.mine[w]])
        for part in [part for part in self._parts[:-1] if not part.mine.any()]:
            part.batch.close()
            self._parts.remove(part)
        mask = np.zeros(self._worlds, np.bool_)
        mask[worlds] = True
        return {"entry": self._each(np.where(mask, self._entry, 0)), "_entry": self._each(mask)}

    def _each(self, of_worlds: Array) -> Array:
        """Repeat the value of each world (W,) for each of its robots (N,)."""
        return np.repeat(of_worlds, self.robots)

    def _leave(self, world: int) -> None:
        """Stop the current episode of a world."""
        self._entry[world] = -1
        for part in self._parts:
            part.leave(world)

    def _end(self, observations: Floats, outcome: Ints) -> dict[str, Any]:
        """Return the infos for the robots whose episodes ended; with autoreset, also begin the next episodes and write their
        observations.
        """
        ended = outcome != RUNNING
        labels, final = (np.full(self.num_envs, None, object) for _ in range(2))
        times = np.zeros(self.num_envs)
        for n in np.flatnonzero(ended).tolist():
            w, r = divmod(n, self.robots)
            world = self._part_of(w).batch.world
            labels[n], final[n] = Outcome(outcome[n]).label, observations[n].copy()
            times[n] = world.status.ends.step[w, r] * world.dt
        last = {"outcome": labels, "is_success": outcome == _REACHED}
        last |= {"entry": np.where(ended, self._each(self._entry), 0), "time": times}
        last |= {f"_{key}": ended.copy() for key in last}
        touched = np.flatnonzero(ended.reshape(self._worlds, self.robots).any(1)).tolist()
        done = [w for w in touched if self._part_of(w).batch.world.status.clock.done[w]]
        self._entry[done] = -1
        if not self._autoreset:
            return last
        infos = {"final_obs": final, "_final_obs": ended.copy(), "final_info": last, "_final_info": ended.copy()}
        if done:
            infos |= self._begin(done)
            self._write(observations, infos["_entry"], done)
        return infos

    def _part_of(self, world: int) -> EnvPart:
        return next(part for part in self._parts if part.mine[world])

    def _observe(self, begins: Bools) -> Floats:
        """Return the current observations of all robots; for robots whose episodes begin, earlier observations are discarded."""
        observations = np.zeros((self.num_envs, self.observe.length), np.float32)
        self._write(observations, begins)
        return observations

    def _write(self, out: Floats, begins: Bools, worlds: Collection[int] | None = None) -> None:
        """Write the observations of the robots in all or the given worlds into their rows."""
        for part in self._parts:
            part.write(out, np.flatnonzero(part.mine) if worlds is None else [w for w in worlds if part.mine[w]])
        self.observe.remember(out, self._before, begins)
        self._seen = out.copy()


def _chosen(kind: str, default: str, given: Any) -> Any:
    """Build a component of a kind from a string or a dictionary of its parameters; any other object is returned unchanged."""
    if isinstance(given, str):
        return parse_component(kind, given, kind).part
    return build_component(kind, {"name": default} | dict(given), kind).part if isinstance(given, Mapping) else given


def _check(entry: str, starts: list[Start], conditions: Conditions, observe: Encoding, before: int) -> int:
    """Reject a stage that is unsuitable for training, or whose number of robots differs from ``before``; return its number of
    robots.
    """
    where, periods = entry.rsplit("/", 1)[0], conditions.periods
    counts = {len(start.robots) for start in starts} | ({before} if before else set())
    if len(counts) > 1:
        raise InputError(f"{where}: training requires the same number of robots in every world, got {sorted(counts)}")
    models = {robot.model.name for start in starts for robot in start.robots}
    if len(models) > 1:
        raise InputError(f"{where}: training requires all robots to be of the same model, got {', '.join(sorted(models))}")
    if periods.common != periods.steps("control"):
        raise InputError(
            f"{where}: training requires crowd and sensor periods that divide control = {periods.control} s, got {periods}"
        )
    observe.check(starts[0].robots[0].model)
    return counts.pop()
