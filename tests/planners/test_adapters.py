from __future__ import annotations

import dataclasses
import os
import re
import signal
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.engine.test_observers import Compass
from tests.starts import people, start

from agora.core.recording import Outcome
from agora.core.untrusted_calls import Signalled
from agora.episode import Conditions, Episodes
from agora.errors import InputError, PlannerError
from agora.interfaces import Answer, Declaration
from agora.optics.lidar import Lidar
from agora.planners.adapters import as_batch_planner, call, observation_of_row
from agora.planners.memory import reset, without_seen
from agora.testing import observation

EVERYBODY = np.ones(4, np.bool_)


@dataclass(frozen=True)
class Counter:
    """Drives as many centimetres a second as it has been called, and remembers where it was."""

    declares: ClassVar[Declaration] = Declaration()

    def plan(self, seen: Any, memory: Any) -> Any:
        count = 1 if memory is None else int(memory[0]) + 1
        return (0.01 * count, 0.0, float(seen.pose[2])), (np.int64(count), seen.pose[:2])


@dataclass(frozen=True)
class Batch:
    """A batch planner that does what it is told for robots right of x = 0."""

    declares: ClassVar[Declaration] = Declaration()
    trouble: Any = None

    def act(self, seen: Any, memory: Any) -> Any:
        right = seen.pose[:, 0] > 0
        steps = memory.get("steps", np.zeros(len(right), np.int32)) + 1
        twists = np.column_stack((steps, 0.0 * steps, 0.0 * steps)).astype(np.float32)
        return Answer(*(self.trouble(right, twists, {"steps": steps}) if self.trouble else (twists, {"steps": steps})))


def right_and_left(seen):
    return np.flatnonzero(seen.pose[:, 0] > 0), np.flatnonzero(seen.pose[:, 0] <= 0)


def test_one_robot_sees_its_row_without_the_leading_axis_and_cannot_write_to_it():
    whole = observation(4, 5, corners=4)
    seen = observation_of_row(whole, 2)
    assert np.array_equal(seen.pose, whole.pose[2])
    assert seen.path.shape == whole.path.shape[1:]
    assert seen.path_count == whole.path_count[2]
    assert seen.pedestrians.position.shape == (5, 2)
    assert seen.costmap.cost.shape == whole.costmap.cost.shape[1:]
    assert seen.limits.max_vx == np.float32(0.8)
    assert np.array_equal(seen.scan_angles, whole.scan_angles)
    assert np.array_equal(seen.scan_pose, whole.scan_pose)
    assert seen.scan_range == whole.scan_range
    for array in (seen.pose, seen.path, seen.footprint, seen.pedestrians.velocity, seen.scan):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


def test_a_plain_planner_s_rows_each_carry_their_own_memory():
    seen, memory = observation(), {}
    for step in (1, 2, 3):
        answer, failures = call(Counter(), seen, memory, EVERYBODY)
        twists, memory = answer.twists, answer.memory
        assert not failures
        assert twists[:, 0] == pytest.approx(0.01 * step)
        assert twists[:, 2] == pytest.approx(seen.pose[:, 2])
    assert all(len(array) == 4 for array in memory.values())
    assert memory["1"] == pytest.approx(seen.pose[:, :2])


def test_resetting_rows_starts_them_afresh_and_leaves_the_others():
    seen = observation()
    memory = call(Counter(), seen, {}, EVERYBODY)[0].memory
    before = {name: array.copy() for name, array in memory.items()}
    fresh = reset(memory, np.array([True, False, False, True]))
    assert all(np.array_equal(memory[name], before[name]) for name in memory)
    assert call(Counter(), seen, fresh, EVERYBODY)[0].twists[:, 0] == pytest.approx([0.01, 0.02, 0.02, 0.01])


def test_rows_that_are_not_active_are_not_called_stand_still_and_keep_their_memory():
    @dataclass(frozen=True)
    class Touchy(Counter):
        def plan(self, seen, memory):
            if seen.pose[0] == whole.pose[1, 0]:
                raise RuntimeError("called")
            return super().plan(seen, memory)

    whole, active = observation(), np.array([True, False, True, True])
    memory = call(Counter(), whole, {}, EVERYBODY)[0].memory
    answer, failures = call(Touchy(), whole, memory, active)
    twists, after = answer.twists, answer.memory
    assert not failures
    assert twists[:, 0] == pytest.approx([0.02, 0.0, 0.02, 0.02])
    assert after["0"].tolist() == [2, 1, 2, 2]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (((np.nan, 0.0, 0.0), None), "twist"),
        (((1e60, 0.0, 0.0), None), "twist"),
        (((0.1, 0.0), None), "twist"),
        (None, "plan returned None; expected"),
        ((("0.1", "0.0", "0.0"), None), r"twist \('0.1', '0.0', '0.0'\): expected real numbers, got text"),
        (((0.1, "0.0", 0.0), None), "expected real numbers, got text"),
        (((0.1 + 0.0j, 0.0, 0.0), None), "expected real numbers, got complex numbers"),
        ((np.array([b"1", b"0", b"0"]), None), "expected real numbers, got text"),
        ((np.array(["0.1", 0.0, 0.0], object), None), "expected real numbers, got text"),
        ((np.zeros(3, "m8[s]"), None), "expected real numbers, got times"),
        (((0.1, 0.0, 0.0), [1, 2]), "memory is of type list"),
        (((0.1, 0.0, 0.0), (np.zeros(3), np.zeros(2))), r"memory array 1 is float64\(2,\), before it was float32\(2,\)"),
        (((0.1, 0.0, 0.0), (np.int64(3),)), "memory has 1 arrays, before it had 2"),
    ],
)
def test_a_plain_planner_s_bad_row_fails_alone_with_a_reason(answer, reason):
    @dataclass(frozen=True)
    class Bad(Counter):
        def plan(self, seen, memory):
            good = super().plan(seen, memory)
            if seen.pose[0] != whole.pose[2, 0]:
                return good
            return (
                answer
                if answer is None or answer[1] is None or len(answer[1]) != 2 or isinstance(answer[1], list)
                else (
                    answer[0],
                    (good[1][0], answer[1][1]),
                )
            )

    whole = observation()
    answer, failures = call(Bad(), whole, {}, EVERYBODY)
    assert set(failures) == {2}
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(failures[2])
    assert answer.twists[:, 0] == pytest.approx([0.01, 0.01, 0.0, 0.01])
    with pytest.raises(PlannerError, match="row 2"):
        as_batch_planner(Bad()).act(whole, {})


def test_a_batch_that_raises_is_repeated_row_by_row_and_only_the_bad_rows_end():
    def trouble(right, twists, memory):
        if right.any():
            raise ZeroDivisionError("no")
        return twists, memory

    seen = observation()
    memory = call(Batch(), seen, {}, EVERYBODY)[0].memory
    bad_rows, good_rows = right_and_left(seen)
    assert bad_rows.size
    assert good_rows.size
    answer, failures = call(Batch(trouble), seen, memory, EVERYBODY)
    twists, after = answer.twists, answer.memory
    assert set(failures) == set(bad_rows.tolist())
    assert all(
        re.fullmatch(r"ZeroDivisionError: no \(test_adapters.py, line \d+, in trouble: raise .*\)", why)
        for why in failures.values()
    )
    assert twists[good_rows, 0] == pytest.approx(2.0)
    assert not twists[bad_rows].any()
    assert after["steps"][good_rows].tolist() == [2] * len(good_rows)
    first = call(Batch(trouble), seen, {}, EVERYBODY)[0].memory
    assert first["steps"].shape == (4,)
    assert first["steps"].dtype == np.int32


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (lambda right, twists, memory: (np.where(right[:, None], np.inf, twists), memory), "twist"),
        (lambda right, twists, memory: (twists[:, :2] if right.any() else twists, memory), "shape"),
        (lambda right, twists, memory: (twists.astype(str) if right.any() else twists, memory), "expected real numbers, got text"),
        (lambda right, twists, memory: (twists.astype(complex) if right.any() else twists, memory), "got complex numbers"),
        (lambda right, twists, memory: (twists, [memory] if right.any() else memory), "not a dict"),
        (lambda right, twists, memory: (twists, {"steps": memory["steps"][0]} if right.any() else memory), "first axis"),
    ],
)
def test_a_batch_s_bad_rows_fail_alone_whatever_is_wrong(trouble, reason):
    seen = observation()
    bad_rows, good_rows = right_and_left(seen)
    answer, failures = call(Batch(trouble), seen, {}, EVERYBODY)
    twists = answer.twists
    assert sorted(failures) == bad_rows.tolist()
    assert all(reason in text for text in failures.values())
    assert twists[good_rows, 0] == pytest.approx(1.0)
    assert np.isfinite(twists).all()


def arrays_of(record, name=""):
    """Every array of an observation with its name."""
    if isinstance(record, np.ndarray):
        yield name, record
    elif dataclasses.is_dataclass(record) or isinstance(record, dict):
        for key, value in vars(record).items() if dataclasses.is_dataclass(record) else record.items():
            yield from arrays_of(value, f"{name}.{key}")


@dataclass(frozen=True)
class Greedy:
    """Looks for memory to write to in all that it is given, and would like to be there already."""

    found: list
    declares: ClassVar[Declaration] = Declaration(
        needs=("path", "pedestrians", "robots", "scan", "costmap", "semantics", Compass())
    )

    def look(self, seen):
        arrays = dict(arrays_of(seen))
        self.found.append(set(arrays))
        for name, array in arrays.items():
            owner = array
            while owner is not None and not isinstance(owner, bytes):
                assert isinstance(owner, np.ndarray) and not owner.flags.writeable, name
                with pytest.raises(ValueError, match="WRITEABLE"):
                    owner.setflags(write=True)
                owner = owner.base


class OfBatches(Greedy):
    def act(self, seen, memory):
        self.look(seen)
        return Answer(np.zeros((len(seen.pose), 3), np.float32))


class OfOne(Greedy):
    def plan(self, seen, memory):
        self.look(seen)
        return (0.0, 0.0, 0.0), None


@pytest.mark.parametrize("kind", [OfBatches, OfOne])
def test_nothing_that_a_planner_is_given_can_be_written_to_by_any_way(kind):
    found: list = []
    starts = [start(crowd=people([[1.0, 2.0]], [[3.0, 0.0]]), timeout=0.3, goal=(4.0, 1.0, 0.0)) for _ in range(2)]
    for _, (made,) in Episodes(starts, kind(found), Conditions(lidar=Lidar(beams=9))):
        assert made.failure == "" and made.outcome is Outcome.TIMEOUT
    named = {".goal_tolerance", ".limits.max_vx", ".pedestrians.position", ".costmap.cost", ".semantics.evidence", ".scan"}
    named |= {".sensors.compass.place", ".path", ".robots.position"}
    assert named - found[0] == ({".goal_tolerance", ".limits.max_vx"} if kind is OfOne else set())  # which are numbers of one robot


def test_failures_of_rows_that_are_not_active_do_not_count():
    seen = observation()
    bad_rows, _ = right_and_left(seen)
    active = EVERYBODY.copy()
    active[bad_rows] = False
    answer, failures = call(Batch(lambda right, t, m: (np.where(right[:, None], np.nan, t), m)), seen, {}, active)
    assert not failures
    assert not answer.twists[bad_rows].any()


def test_a_batch_planner_is_already_what_rows_returns():
    planner = Batch()
    assert as_batch_planner(planner) is planner
    assert as_batch_planner(Counter()).declares is Counter.declares
    assert dataclasses.is_dataclass(as_batch_planner(Counter()))


def test_a_concurrent_planner_is_asked_for_ranges_of_rows_and_answers_as_for_all():
    whole, sizes = observation(4, 5), []

    @dataclass(frozen=True)
    class Concurrent(Batch):
        declares: ClassVar[Declaration] = Declaration(concurrent=True)

        def act(self, seen: Any, memory: Any) -> Any:
            sizes.append(len(seen.pose))
            return super().act(seen, memory)

    def ranges(ask):
        for first, last in ((3, 4), (0, 3)):
            ask(first, last)

    memory = {"steps": np.arange(4, dtype=np.int32)}
    answer, failures = call(Concurrent(), whole, memory, EVERYBODY, ranges)
    twists, after = answer.twists, answer.memory
    assert sizes == [1, 3]
    assert twists[:, 0].tolist() == after["steps"].tolist() == [1, 2, 3, 4]
    assert failures == {}
    call(Batch(), whole, memory, EVERYBODY, ranges)
    call(Concurrent(), whole, memory, EVERYBODY)
    assert sizes == [1, 3, 4]


def test_memories_of_planners_inside_planners_are_cut_joined_and_reset_with_their_rows():
    @dataclass(frozen=True)
    class Around:
        """Asks another planner, whose memory has an array of the same name as its own."""

        declares: ClassVar[Declaration] = Declaration(concurrent=True)

        def act(self, seen: Any, memory: Any) -> Any:
            if self.fails and len(seen.pose) > 1:
                raise ValueError
            inner = Batch().act(seen, memory.get("planner", {}))
            own = memory.get("steps", np.zeros(len(seen.pose), np.int32)) + 10
            return Answer(inner.twists, {"planner": inner.memory, "steps": own, "seen": {"cost": own[:, None].copy()}})

        fails: bool = False

    def ranges(ask):
        for first, last in ((3, 4), (0, 3)):
            ask(first, last)

    whole = observation(4, 5)
    for planner, how in ((Around(), None), (Around(), ranges), (Around(fails=True), None)):
        memory: Any = {}
        for _ in range(2):
            answer, failures = call(planner, whole, memory, EVERYBODY, how)
            memory = answer.memory
        assert not failures
        assert memory["steps"].tolist() == [20] * 4 and memory["planner"]["steps"].tolist() == [2] * 4
        fresh = reset(memory, np.array([False, True, False, False]))
        assert fresh["steps"].tolist() == [20, 0, 20, 20] and fresh["planner"]["steps"].tolist() == [2, 0, 2, 2]
        cleared = without_seen(memory, np.array([True, False, False, False]))
        assert cleared["seen"]["cost"][:, 0].tolist() == [0, 20, 20, 20] and cleared["steps"].tolist() == [20] * 4


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"needs": "path"}, "collections of names"),
        ({"notes": ("reasons",)}, "no note called 'reasons'; did you mean 'reason'"),
        ({"top_speed": -1.0}, "top_speed: expected a number of at least 0"),
    ],
)
def test_a_declaration_that_means_nothing_is_refused(fields, reason):
    with pytest.raises(ValueError, match=reason):
        Declaration(**fields)


def test_a_planner_that_declares_nothing_is_told_what_to_declare():
    class Silent:
        def plan(self, seen, memory):
            return (0.0, 0.0, 0.0), None

    with pytest.raises(InputError, match=r"Silent does not declare what it needs: expected an attribute such as declares = Decl"):
        Episodes([start()], Silent(), Conditions())


@dataclass(frozen=True)
class Careless:
    """A planner for one robot that goes wrong in the way that it is told."""

    way: Any
    needs: tuple[str, ...] = ("path",)

    @property
    def declares(self) -> Declaration:
        return Declaration(needs=self.needs)

    def plan(self, seen: Any, memory: Any) -> Any:
        return self.way(seen), None


def sensed(seen):
    return seen.sensors["robots"]["position"]


def scanned(seen):
    return seen.scan.min()


def fanned(seen):
    """Reads two fields of one channel, which is named once."""
    return seen.scan[abs(seen.scan_angles) < 0.4]


@pytest.mark.parametrize(
    ("way", "words"),
    [
        (scanned, "observation.scan is None: the planner does not declare it; add needs=('scan',)"),
        (fanned, "observation.scan is None: the planner does not declare it; add needs=('scan',)"),
        (lambda seen: len(seen.pedestrians.position), "add needs=('pedestrians',)"),
        (sensed, "observation.sensors has no 'robots': the planner does not declare it; add needs=('robots',)"),
        (lambda seen: seen.sensors["scann"], "no sensor called 'scann'; did you mean 'scan'?"),
        (lambda seen: seen.sensors["nothing_like_it"], "no sensor called 'nothing_like_it'; known names: "),
        (lambda seen: seen.headin, "'Observation' object has no attribute 'headin'"),
        (lambda seen: seen.goals[0], "did you mean 'goal'?"),
        (lambda seen: seen.pose[:2].reshape(3), "cannot reshape array of size 2 into shape (3,)"),
        (lambda seen: (0.1, 0.2), "twist (0.1, 0.2); expected three finite numbers (vx, vy, omega)"),
        (lambda seen: (0.1, 0.2, np.nan), "nan); expected three finite numbers (vx, vy, omega)"),
    ],
)
def test_a_planner_s_author_is_told_the_line_and_what_was_not_declared(way, words):
    seen = dataclasses.replace(observation(), scan=None, scan_angles=None, pedestrians=None, sensors={})
    _, failures = call(Careless(way), seen, {}, EVERYBODY)
    assert all(why.count("add needs=('scan',)") <= 1 for why in failures.values())
    assert len(failures) == 4 and all(words in why for why in failures.values())
    placed = ["(test_adapters.py, line " in why for why in failures.values()]
    assert all(placed) == any(placed) == ("expected" not in words)


def test_the_nearest_name_is_one_that_the_planner_can_read():
    reading = {"depth": np.ones((4, 3), np.float32)}
    seen = dataclasses.replace(observation(), sensors={"depth_row": reading})
    for way, words in (
        (lambda seen: seen.sensors["depth_row"]["deptth"], "no reading called 'deptth'; did you mean 'depth'?"),
        (lambda seen: seen.sensors["path"], "the channel 'path' is observation.path"),
    ):
        _, failures = call(Careless(way, needs=("path", "depth_row")), seen, {}, EVERYBODY)
        assert len(failures) == 4 and all(why.endswith(words) for why in failures.values()), failures


def test_a_none_of_the_planner_s_own_is_no_channel():
    _, failures = call(Careless(lambda seen: dict.get({}, seen.path_count)[0]), observation(), {}, EVERYBODY)
    assert all("NoneType" in why and "declare" not in why for why in failures.values()) and len(failures) == 4


def stopped(seen):
    os.kill(os.getpid(), signal.SIGINT)
    return (0.0, 0.0, 0.0)


def stubborn(seen):
    try:
        return stopped(seen)
    except BaseException:  # noqa: BLE001 - it is what the test is about
        return (0.0, 0.0, 0.0)


@pytest.fixture
def terminal():
    """Ctrl-C as a process hears it in the foreground; a shell starts others with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("way", [stopped, stubborn])
def test_ctrl_c_in_a_planner_s_call_is_the_user_s_even_if_the_planner_catches_it(way, terminal):
    with pytest.raises(Signalled):
        call(Careless(way), observation(), {}, EVERYBODY)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    _, failures = call(Careless(lambda seen: (0.0, 0.0, 0.0)), observation(), {}, EVERYBODY)
    assert failures == {}
