"""Gymnasium's vector environment over the engine: a batch of worlds in one object. `agora.learning.single` is one world.

It steps exactly as `agora.episode.Episodes` does (`agora.episode.Batch`). ``import agora.learning`` tells Gymnasium of both:
then ``gymnasium.make("agora/Navigation-v0")`` makes one world, and `gymnasium.make_vec` a batch.
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

_EXAMPLES = 8  # episodes that say how large the first arrays must be
_CUT_OFF = np.zeros(max(Outcome) + 2, np.bool_)  # by number of the outcome; the last is that of RUNNING
_CUT_OFF[[Outcome.TIMEOUT, Outcome.SIMULATOR_FAILED]] = True  # every other outcome terminates
_REACHED = int(Outcome.REACHED)


class AgoraVectorEnv(VectorEnv[Floats, Floats, Array]):
    """W worlds with R robots each, stepped together; environment ``w * R + r`` is robot r of world w, and mostly R is 1.

    A step is one control period. The episodes are entries of one stage of a suite. Without a seed they are the stage's own, on
    which planners are compared: world w plays w, w + W, w + 2 W, ... of them, so that no result depends on when others end; after
    the last comes the first. Each seed of `reset` has entries of its own (`agora.learning.entries`), which neither another seed nor
    the stage has: train with a seed. The random parts of a stage are drawn for each; what its files fix, as a scenario does, is the
    same.

    An episode that ends is followed by the next in the same step (`AutoresetMode.SAME_STEP`): the observation is that of the new
    one, ``infos["final_obs"]`` and ``infos["final_info"]`` hold the old one's. ``infos["entry"]`` is the number of an episode that
    began; ``outcome`` (a label of `Outcome`), ``is_success`` (bool), ``entry`` and ``time`` (s) say how one ended.
    ``infos["rewards"]`` has the terms of the step's rewards by name, each (N,).

    Where R is above 1, robots that have ended wait until the last of their world ends, as the stage's ``after_end`` says. The
    world's next episode begins in that step, for all its robots. ``infos["waiting"]`` (N,) is True where a robot had ended before
    the step: its action counted for nothing, its reward is 0, and nothing ends there. Exclude such steps from learning.

    Args:
        suite: the suite, its name or its file.
        stage: name of the stage; of robots of one model, and with crowd and sensor periods that divide the control period.
        num_envs: W.
        episodes: how many entries there are, of the stage and of each seed; if 0, the stage's own, and of a seed
            `agora.learning.entries.OF_A_SEED`. Each is drawn when it begins; of the stage's up to `agora.tasks.drawn.KEPT` are
            kept, of more none. One for whose people or robots there is no room is left out.
        workers: processes that draw each world's next episode ahead of time. A script that uses them needs the usual
            ``if __name__ == "__main__":``.
        seed: instead of the suite's; with another one every entry is another episode, those of the seeds of `reset` too.
        threads: threads over worlds; results do not depend on it.
        observe: encoding of observations and actions, as an object, as a text such as ``observe:beams=36``, or as a dictionary of
            its parameters; that of a dictionary without ``name`` is ``observe``.
        reward: of a control period, likewise; that of a dictionary without ``name`` is ``weighted``, and what it does not name has
            its default.
        simulator: instead of the stage's, as a component or a text such as ``native``.
        teacher: a planner whose answers `teach` returns.
        autoreset: whether ended episodes are followed at once; if not, `reset` with ``options={"reset_mask": mask}`` does it.
        render_mode: ``rgb_array`` for pictures by `render`; ``human`` for a window that shows the first environment.

    Attributes:
        starts: the stage's episodes, by number. observe, reward: as objects.
        robot: model of the robots. actions: A, values of an action.
        num_envs: N = W R. robots: R.
        metadata: Gymnasium's; ``render_modes`` are those that are possible here, where there may be no screen.

    Raises:
        InputError: a stage that is not as above, a robot without the lidar that ``observe`` asks for, a name or a parameter that is
            not there, a window without a screen.
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
        """Play the episodes of the stage as it now is."""
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
        """Let episodes that begin from now on be as large as these, too; running episodes continue."""
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
        """Limits of the robots that begin now, each an array (N,)."""
        return self._limits

    @property
    def period(self) -> float:
        """Control period, s."""
        return self._conditions.periods.control

    @property
    def curriculum_stage(self) -> int:
        """Number of the stage of the curriculum, which the module ``staged`` plays; an `InputError` where the stage has none."""
        index: int = self._staged().index
        return index

    @property
    def curriculum_stages(self) -> int:
        """Number of stages of the curriculum; raises as `curriculum_stage`."""
        return len(self._staged().stages())

    def change_stage(self, by: int = 1) -> int:
        """Go on to the next stage of the curriculum, or some further, or back; not beyond its ends. `reset` must follow.

        Returns:
            The number of the stage that is played from now on.

        An `InputError` is raised where the suite's stage has no module ``staged``.
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
        """Raise an `InputError` where worlds have several robots: ``who`` cannot leave out those that wait."""
        if self.robots > 1:
            raise InputError(f"{who}: stage {self._stage!r} must have one robot a world, got {self.robots}")

    def _staged(self) -> Staged:
        for module in self._suite.stage(self._stage).modules:
            if isinstance(module.part, Staged):
                return module.part
        raise InputError(f"stage {self._stage!r} has no module 'staged'")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Begin the next episode in every environment, or in some.

        Args:
            seed: whose entries are played from now on; world w begins with the one after w others. Without it they continue.
            options: ``reset_mask``, (N,) bool: environments to reset, the robots of a world together; the others stay as they are.
                ``entry``: number of the stage's own entry at which world 0 begins, world w at that plus w.
        """
        super().reset(seed=seed)
        options = options or {}
        mask = np.asarray(options.get("reset_mask", True))
        if mask.dtype != np.bool_ or mask.shape not in ((), (self.num_envs,)):
            raise InputError(f"reset_mask must be {self.num_envs} bools, got {mask.dtype} of shape {mask.shape}")
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
        """Let one control period pass.

        Args:
            actions: (N, A) in [-1, 1], which ``observe.twists`` turns into twists: by most encodings (N, 2) vx, omega or (N, 3)
                vx, vy, omega from limit to limit of the robot, and cut beyond. One that is not finite ends its episode as
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
        """(N,) robots that have ended, and wait for others of their world."""
        under_way: Bools = np.logical_or.reduce([part.rows & part.batch.world.under_way for part in self._parts])
        return ~under_way

    def teach(self) -> Floats:
        """Return the actions (N, A) that the teacher takes now, for imitation; to be called once in every step.

        Where it fails, its action is to stand.
        """
        if self.teacher is None:
            raise InputError("the environment has no teacher")
        actions = np.zeros((self.num_envs, self.observe.action_size(self.limits)), np.float32)
        for part in self._parts:
            part.teach(self.teacher, self.limits, actions)
        return actions

    def render(self) -> tuple[Array, ...] | None:
        """Return a picture of every environment now, each (height, width, 3) uint8; None if ``render_mode`` asks for none.

        All pictures of an environment have one size. Each shows all walls, or the whole map if it has none.
        """
        if self.render_mode != RGB:
            return None
        return tuple(camera.picture(*self._filmed(n)) for n, camera in enumerate(self._cameras))

    def _show(self) -> None:
        """Show the first environment in the window, if there is one."""
        if self._screen is not None and self._worlds:
            self._screen.show(*self._filmed(0))

    def _filmed(self, n: int) -> tuple[int, Scene]:
        """Number of the episode that an environment plays, and what has happened in it so far."""
        w, r = divmod(n, self.robots)
        part = next((part for part in self._parts if part.mine[w]), None)
        if part is None or part.film is None:
            raise ResetNeeded("an environment must be reset before it is drawn")
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
        """Values of worlds (W,), for each of their robots (N,)."""
        return np.repeat(of_worlds, self.robots)

    def _leave(self, world: int) -> None:
        """End what a world plays."""
        self._entry[world] = -1
        for part in self._parts:
            part.leave(world)

    def _end(self, observations: Floats, outcome: Ints) -> dict[str, Any]:
        """Infos of the robots that ended; where worlds' next episodes begin at once, these and their observations."""
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
        """Return the observations of all robots now; where episodes begin, nothing is remembered."""
        observations = np.zeros((self.num_envs, self.observe.length), np.float32)
        self._write(observations, begins)
        return observations

    def _write(self, out: Floats, begins: Bools, worlds: Collection[int] | None = None) -> None:
        """Write what the robots of worlds see, all or some of them, into their rows."""
        for part in self._parts:
            part.write(out, np.flatnonzero(part.mine) if worlds is None else [w for w in worlds if part.mine[w]])
        self.observe.remember(out, self._before, begins)
        self._seen = out.copy()


def _chosen(kind: str, default: str, given: Any) -> Any:
    """The part of a kind that is given as a text or as a dictionary of its parameters; another is returned as it is."""
    if isinstance(given, str):
        return parse_component(kind, given, kind).part
    return build_component(kind, {"name": default} | dict(given), kind).part if isinstance(given, Mapping) else given


def _check(entry: str, starts: list[Start], conditions: Conditions, observe: Encoding, before: int) -> int:
    """Refuse a stage that cannot be trained on, or has another number of robots than ``before``; return how many it has."""
    where, periods = entry.rsplit("/", 1)[0], conditions.periods
    counts = {len(start.robots) for start in starts} | ({before} if before else set())
    if len(counts) > 1:
        raise InputError(f"{where}: training takes the same number of robots in every world, got {sorted(counts)}")
    models = {robot.model.name for start in starts for robot in start.robots}
    if len(models) > 1:
        raise InputError(f"{where}: training takes robots of one model, got {', '.join(sorted(models))}")
    if periods.common != periods.steps("control"):
        raise InputError(
            f"{where}: training takes crowd and sensor periods that divide control = {periods.control} s, got {periods}"
        )
    observe.check(starts[0].robots[0].model)
    return counts.pop()
