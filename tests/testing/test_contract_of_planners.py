"""The contract suite is worth something only if bad planners fail it, each for its own reason."""

from __future__ import annotations

import dataclasses
import random
import threading
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from agora.core.recording import Reason
from agora.costmap.window import Window
from agora.errors import UnknownNameError
from agora.interfaces import Answer, Declaration, Span
from agora.testing import ContractError, Move, check_bad_input, check_planner, observation


@dataclass(frozen=True)
class Decent:
    """Drives to the goal, a little away from the nearest pedestrian, slower at every call."""

    declares: ClassVar[Declaration] = Declaration(needs=("pedestrians", "path"), top_speed=0.3)

    def act(self, o: Any, memory: Any) -> Any:
        heading = o.pose[:, 2].astype(float)
        delta = (o.goal - o.pose).astype(float)
        side = np.cos(heading) * delta[:, 1] - np.sin(heading) * delta[:, 0]
        near = o.pedestrians.position.astype(float) - o.pose[:, None, :2]
        gap = np.where(o.pedestrians.present, np.hypot(near[..., 0], near[..., 1]), 9.0).min(axis=1, initial=9.0)
        steps = memory.get("steps", np.zeros(len(side), np.int32)) + 1
        turn = np.clip(0.1 * side, -0.4, 0.4) * (o.limits.turning_radius <= 0)
        forward = np.clip(0.03 * (gap - 0.8), 0.0, np.minimum(0.3, o.limits.max_vx))
        twists = np.stack((forward / steps, 0.0 * turn, turn / steps), axis=1).astype(np.float32)
        return Answer(twists, {"steps": steps})


def bad(**methods: Any) -> Any:
    """A planner that spoils what `Decent` answers."""

    @dataclass(frozen=True)
    class Bad(Decent):
        def act(self, o: Any, memory: Any) -> Any:
            def good(seen: Any = o) -> Any:
                answer = super(Bad, self).act(seen, memory)
                return answer.twists, answer.memory

            return Answer(*methods["act"](o, memory, good))

    return Bad()


def not_finite(o, memory, good):
    twists, after = good()
    twists[o.pose[:, 0] > 0] = np.nan
    return twists, after


def tied_to_the_origin(o, memory, good):
    twists, after = good()
    return twists * np.float32(1.0) + np.float32(0.01) * np.sin(o.pose[:, :1]) * (1, 0, 0), after


def tied_to_north(o, memory, good):
    twists, after = good()
    return twists + np.float32(0.05) * np.cos(o.pose[:, 2:]) * (1, 0, 0), after


def prefers_its_left(o, memory, good):
    twists, after = good()
    return twists * np.float32(0.9) + np.float32(0.01) * np.sign(np.abs(twists[:, :1])) * np.array((0, 0, 1), np.float32), after


def crashes_on_nobody(o, memory, good):
    o.pedestrians.position[:, 0]
    return good()


def crashes_when_nobody_is_present(o, memory, good):
    for n in range(len(o.pose)):
        min(np.flatnonzero(o.pedestrians.present[n])) if o.pedestrians.position.shape[1] else 0
    return good()


def crashes_without_a_path(o, memory, good):
    [o.path[n, : o.path_count[n]][0] for n in range(len(o.pose))]
    return good()


def writes_to_its_input(o, memory, good):
    o.pose[:, 2] += 0.1
    return good()


def writes_to_its_input_with_force(o, memory, good):
    o.goal.flags.writeable = True
    o.goal[:, 0] += 0.1
    return good()


def writes_to_its_memory(o, memory, good):
    if memory:
        memory["steps"] += 1
    return good()


def draws_from_numpy(o, memory, good):
    np.random.uniform()  # noqa: NPY002
    return good()


def draws_from_python(o, memory, good):
    random.random()
    return good()


def draws_from_nowhere(o, memory, good):
    twists, after = good()
    return twists + np.random.default_rng().normal(0, 1e-4, twists.shape), after


def mixes_rows(o, memory, good):
    twists, after = good()
    return twists - 1e-3 * twists.mean(axis=0), after


def mixes_memory(o, memory, good):
    twists, after = good()
    return twists, {"steps": after["steps"] + np.int32(len(twists) > 1)}


def looks_into_empty_slots(o, memory, good):
    return good(dataclasses.replace(o, pedestrians=dataclasses.replace(o.pedestrians, present=np.ones_like(o.pedestrians.present))))


def counts_slots(o, memory, good):
    twists, after = good()
    return twists * np.float32(1.0 / (1.0 + 0.01 * o.pedestrians.present.shape[1])), after


def too_fast(o, memory, good):
    twists, after = good()
    return twists + np.float32(0.9) * np.array((1, 0, 0), np.float32), after


def strafes(o, memory, good):
    twists, after = good()
    return twists + np.float32(0.2) * np.array((0, 1, 0), np.float32), after


def turns_like_no_car(o, memory, good):
    twists, after = good()
    return np.where(o.limits.turning_radius[:, None] > 0, np.array((0.1, 0.0, 0.4), np.float32), twists), after


def wrong_shape(o, memory, good):
    twists, after = good()
    return twists[:, :2], after


def memory_without_rows(o, memory, good):
    return good()[0], {"steps": np.zeros(())}


def memory_that_is_not_fresh_when_zero(o, memory, good):
    twists, after = good()
    return twists * np.float32(1.0 if memory else 0.5), after


def drives_into_people(o, memory, good):
    twists, after = good()
    return twists + np.float32(0.02) * np.array((1, 0, 0), np.float32), after


def gives_up_in_a_crowd(o, memory, good):
    if (o.pedestrians.present.sum(axis=1) > 100).any():
        raise RuntimeError("too many")
    return good()


def remembers_in_itself(calls=[]):  # noqa: B006 - the point
    def act(o, memory, good):
        calls.append(1)
        twists, after = good()
        return twists * np.float32(1.0 / len(calls)), after

    return act


BAD = {
    not_finite: "the twist is",
    tied_to_the_origin: "shifted",
    tied_to_north: "turned",
    prefers_its_left: "mirrored",
    crashes_on_nobody: "without pedestrian slots: raises IndexError",
    crashes_when_nobody_is_present: "raises ValueError",
    crashes_without_a_path: "without a path: raises IndexError",
    writes_to_its_input: "read-only",
    writes_to_its_input_with_force: "writes to observation.goal",
    writes_to_its_memory: "read-only",
    draws_from_numpy: "global random generator",
    draws_from_python: "global random generator",
    draws_from_nowhere: "not deterministic",
    mixes_rows: "rows affect each other",
    mixes_memory: "rows affect each other through the memory",
    looks_into_empty_slots: "empty slots of pedestrians change the result",
    counts_slots: "number of slots of pedestrians changes the result",
    too_fast: r"vx .* beyond the robot's limits",
    strafes: r"vy .* beyond the robot's limits",
    turns_like_no_car: "turning radius",
    wrong_shape: "twists of shape",
    memory_without_rows: "memory 'steps' is not an array",
    memory_that_is_not_fresh_when_zero: "does not restart",
    drives_into_people: r"a pedestrian in the robot: the robot drives farther into it at 0\.0\d+ m/s",
    gives_up_in_a_crowd: "500 pedestrians: fails: RuntimeError: too many",
    remembers_in_itself(): "not deterministic",
}


def test_a_decent_planner_passes():
    check_planner(Decent())


def test_one_that_says_that_it_prefers_a_side_may_do_so():
    check_planner(bad(act=prefers_its_left), handed=True, kinds=("differential",))


@pytest.mark.parametrize(("act", "reason"), BAD.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_a_bad_planner_fails_for_its_own_reason(act, reason):
    with pytest.raises(ContractError, match=reason):
        check_planner(bad(act=act))


def test_whether_it_gives_way_is_the_author_s_choice():
    check_bad_input(bad(act=drives_into_people), gives_way=False)


@dataclass(frozen=True)
class Watcher(Decent):
    """Slower the nearer the walls about it are, which it says."""

    declares: ClassVar[Declaration] = Declaration(needs=("pedestrians", "path", "scan"), notes=("reason",), top_speed=0.3)
    says: bool = True

    def act(self, o: Any, memory: Any) -> Any:
        answer = super().act(o, memory)
        room = np.where(np.isnan(o.scan), o.scan_range, o.scan).min(axis=1).clip(0.0, 1.0)
        twists = (room[:, None] * answer.twists).astype(np.float32)
        reason = np.where(np.abs(twists).max(axis=1) < 1e-6, np.int8(Reason.WAITING), np.int8(0))
        return Answer(twists, answer.memory, {"reason": reason if self.says else np.zeros_like(reason)})


def test_who_stands_has_to_say_why():
    check_bad_input(Watcher())
    with pytest.raises(ContractError, match="beams of range 0: the robot stops without a noted reason"):
        check_bad_input(Watcher(says=False))


def test_limits_are_the_author_s_choice():
    check_planner(bad(act=too_fast), within_limits=False, gives_way=False)


def test_a_need_that_nothing_answers_is_named():
    @dataclass(frozen=True)
    class Needy(Decent):
        declares: ClassVar[Declaration] = Declaration(needs=("telepathy",))

    with pytest.raises(UnknownNameError, match="telepathy"):
        check_planner(Needy())


def test_a_label_that_is_none_is_named():
    @dataclass(frozen=True)
    class Boastful(Decent):
        declares: ClassVar[Declaration] = dataclasses.replace(Decent.declares, label="best")

    with pytest.raises(ContractError, match="Boastful: label: expected one of faithful, small, reconstruction, own, got 'best'"):
        check_planner(Boastful())


@pytest.mark.parametrize(
    ("parameter", "span", "reason"),
    [
        ("sped", Span(0.1, 1.0), "'sped' is not a numeric field"),
        ("title", Span(0.1, 1.0), "'title' is not a numeric field"),
        ("brave", Span(0.1, 1.0), "'brave' is not a numeric field"),
        ("speed", Span(-1.0, 1.0), "refuses speed = -1.0: too slow"),
    ],
)
def test_what_cannot_be_tuned_is_named(parameter, span, reason):
    @dataclass(frozen=True)
    class Tuned(Decent):
        declares: ClassVar[Declaration] = dataclasses.replace(Decent.declares, tunable={parameter: span})
        speed: float = 0.5
        title: str = "swift"
        brave: bool = True

        def __post_init__(self) -> None:
            if self.speed < 0:
                raise ValueError("too slow")

    with pytest.raises(ContractError, match=reason):
        check_planner(Tuned())


def test_a_planner_that_threads_may_not_ask_at_the_same_time_is_found_out_where_it_says_that_they_may():
    shared: list[Any] = [None]

    @dataclass(frozen=True)
    class Shared(Decent):
        declares: ClassVar[Declaration] = dataclasses.replace(Decent.declares, concurrent=True)

        def act(self, o: Any, memory: Any) -> Any:
            shared[0] = o
            threading.Event().wait(0.01)
            return super().act(shared[0], memory)

    with pytest.raises(ContractError, match="concurrent: two threads give different twists"):
        check_planner(Shared())
    check_planner(type("Own", (Decent,), {"declares": dataclasses.replace(Decent.declares, concurrent=True)})())


def test_what_a_planner_does_not_need_it_does_not_get():
    @dataclass(frozen=True)
    class Nosy:
        declares: ClassVar[Declaration] = Declaration(needs=("path",))

        def plan(self, o: Any, memory: Any) -> Any:
            assert o.scan is None
            assert o.pedestrians is None
            assert o.costmap is None
            assert o.path is not None
            return (0.0, 0.0, 0.0), None

    check_planner(Nosy())


def test_a_moved_scene_is_the_same_scene_elsewhere():
    here, there = observation(3, seed=4), observation(3, seed=4, move=Move(2.0, -5.0, 2.5))
    turn = np.array([[np.cos(2.5), -np.sin(2.5)], [np.sin(2.5), np.cos(2.5)]])
    for points, moved in ((here.path, there.path), (here.pedestrians.position, there.pedestrians.position)):
        assert moved == pytest.approx(points @ turn.T + (2.0, -5.0), abs=1e-5)
    assert there.pedestrians.velocity == pytest.approx(here.pedestrians.velocity @ turn.T, abs=1e-6)
    assert np.array_equal(here.scan, there.scan)
    assert np.all(np.abs(there.pose[:, 2]) <= np.pi)


def test_the_factory_s_scenes_are_crooked():
    seen = observation(5, 6, window=Window(size=4.0))
    assert len(set(seen.path_count.tolist())) > 1
    assert seen.pedestrians.present.any()
    assert not seen.pedestrians.present.all()
    assert seen.costmap.cost.shape == (5, 80, 80)
    assert {0, 253, 254} <= set(np.unique(seen.costmap.cost).tolist())
    centre = seen.costmap.cost[:, 40, 40]
    assert np.all(centre < 253)
    assert np.all(seen.path[:, -1] == seen.goal[:, :2])
