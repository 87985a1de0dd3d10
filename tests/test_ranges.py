"""No number is taken that makes no sense, whichever door it comes through."""

from __future__ import annotations

import dataclasses
import typing

import numpy as np
import pytest

from agora.config import build_component, parse
from agora.errors import InputError
from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.models.rvo2 import Rvo2
from agora.planners.local.dwa import Dwa
from agora.ranges import LARGEST, LARGEST_WHOLE, Checked, NotNegative, Within, range_of, type_name
from agora.registry import KINDS, Named, available, load, make

MAY_BE_NEGATIVE = {"x", "y", "min_vel_x", "escape_vel", "feasibility_check_no_poses", "feasibility_check_lookahead_distance"}
MAY_BE_NEGATIVE |= {"log_std", "global_plan_viapoint_sep", "cx", "cy", "roll", "pitch", "yaw", "heading", "lowest", "easy", "hard"}
"""Places, angles, velocities, logarithms, ends of axes, and parameters that switch a part of teb off."""
CLAMPED = {("staged", "index")}
NEEDED = {"semantic": {"attribute": "stress"}, "contained": {"file": __file__}}


def parameters():
    """Kind, component, name and type of every number among the parameters of every component."""
    for kind in KINDS:
        for name in available(kind) if kind not in ("metrics", "cards") else ():
            part = load(kind, name)
            hints = typing.get_type_hints(part, include_extras=True)
            for one in dataclasses.fields(part):
                types = typing.get_args(hints[one.name]) or (hints[one.name],)
                numbers = {float, int} & {t.__origin__ if range_of(t) else t for t in (*types, hints[one.name])}
                if one.init and numbers and (name, one.name) not in CLAMPED:
                    yield kind, name, one.name, float if float in numbers else int


def ranged():
    """Kind and name of each component, and name, type and range of each of its numbers with a range."""
    for kind, name, key, number in parameters():
        hint = typing.get_type_hints(load(kind, name), include_extras=True)[key]
        if (bounds := range_of(hint)) is not None:
            yield pytest.param(kind, name, key, hint, number, bounds, id=f"{kind}-{name}-{key}")


@pytest.mark.parametrize(("kind", "name", "key", "hint", "number", "bounds"), ranged())
def test_a_program_a_name_and_a_file_give_the_same_words_for_a_number_out_of_its_range(kind, name, key, hint, number, bounds):
    part, needed = load(kind, name), NEEDED.get(name, {})
    below = number(bounds.least) if bounds.above else number(bounds.least) - 1
    above = number(bounds.most) + 1 if bounds.most not in (LARGEST, LARGEST_WHOLE) else None
    assert issubclass(part, Checked)
    for value in (below, above) if above is not None else (below,):
        words = f"{key}: expected {type_name(hint)}, got {value}"
        with pytest.raises(InputError) as refused:
            part(**{key: value} | needed)
        assert str(refused.value) == words
        with pytest.raises(InputError) as refused:
            make(kind, name, **{key: value} | needed)
        assert str(refused.value) == f"{KINDS[kind]} {name!r}: {words}"
        with pytest.raises(InputError) as refused:
            build_component(kind, {"name": name, key: value} | needed)
        assert f"{key}: expected {type_name(hint)}, got {value}" in str(refused.value)
    for value in (float("nan"), float("inf"), "many", True):
        with pytest.raises(InputError, match=f"^{key}: expected .*, got {value}|'{value}'"):
            part(**{key: value} | needed)


def test_every_component_with_ranges_or_words_checks_them():
    for kind in KINDS:
        for name in available(kind) if kind not in ("metrics", "cards") else ():
            part = load(kind, name)
            hints = typing.get_type_hints(part, include_extras=True).values() if dataclasses.is_dataclass(part) else ()
            checked = [hint for hint in hints if range_of(hint) or typing.get_origin(hint) is typing.Literal]
            assert not checked or issubclass(part, Checked), (kind, name)


def test_no_parameter_of_any_component_is_absurd():
    taken, tried = [], 0
    for kind, name, key, number in parameters():
        wrong = [-1e9, 1e300] if number is float else [-(10**9), 10**30]
        wrong += [] if key in MAY_BE_NEGATIVE or kind == "rewards" else [number(-1)]  # a reward may punish
        for value in wrong:
            tried += 1
            try:
                build_component(kind, {"name": name, key: value} | NEEDED.get(name, {}))
            except InputError as error:
                assert key in str(error), (kind, name, key, value)
            else:
                taken.append((kind, name, key, value))
    assert not taken
    assert tried > 1000


def test_every_default_lies_in_its_range():
    for kind in KINDS:
        for name in available(kind) if kind not in ("metrics", "cards") else ():
            part = load(kind, name)
            for one in dataclasses.fields(part):
                bounds = range_of(typing.get_type_hints(part, include_extras=True)[one.name])
                if bounds is not None and isinstance(one.default, int | float):
                    assert bounds.holds(one.default), (kind, name, one.name)


def test_the_registry_refuses_what_a_file_may_not_hold():
    with pytest.raises(InputError, match=r"'pure_pursuit': lookahead: expected a number in \[0, 10000\], got -1.0"):
        Named.of("planners", "pure_pursuit", lookahead=-1.0)
    with pytest.raises(InputError, match="speed: expected a finite number, got nan"):
        Named.of("planners", "pure_pursuit", speed=float("nan"))
    assert Named.of("planners", "pure_pursuit", speed=None).part.speed is None


@dataclasses.dataclass(frozen=True)
class Some(Checked):
    """Numbers of each sort."""

    share: typing.Annotated[float, Within(0.0, 1.0, above=True)] | None = None
    steps: tuple[typing.Annotated[int, Within(1, 3)], ...] = ()
    place: float = 0.0
    seed: int = 0
    gains: dict[str, NotNegative] = dataclasses.field(default_factory=dict)
    side: typing.Literal["left", "right"] | None = None
    first: bool = False


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("share: 0", r"some.yaml:2: share: expected a number in \(0, 1\] or nothing, got 0$"),
        ("share: 1.5", r"share: expected a number in \(0, 1\] or nothing, got 1.5"),
        ("share: x", r"share: expected a number in \(0, 1\] or nothing, got 'x'"),
        ("steps: [1, 0]", r"steps\[1\]: expected an integer in \[1, 3\], got 0"),
        ("place: 1e9", r"place: expected a number in \[-1e\+08, 1e\+08\], got 1000000000.0"),
        (f"seed: {2**63}", "seed: expected an integer of at most 64 bits, got an integer beyond"),
    ],
)
def test_a_number_out_of_its_range_is_refused_with_its_line(text, message):
    with pytest.raises(InputError, match=message):
        parse("\n" + text, Some, "some.yaml")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"share": 0.0}, r"share: expected a number in \(0, 1\] or nothing, got 0.0"),
        ({"share": "x"}, r"share: expected a number in \(0, 1\] or nothing, got 'x'"),
        ({"steps": (1, 0)}, r"steps\[1\]: expected an integer in \[1, 3\], got 0"),
        ({"steps": (1.5,)}, r"steps\[0\]: expected an integer in \[1, 3\], got 1.5"),
        ({"steps": (True,)}, r"steps\[0\]: expected an integer in \[1, 3\], got True"),
        ({"place": float("-inf")}, "place: expected a finite number, got -inf"),
        ({"place": None}, "place: expected a number, got None"),
        ({"gains": {"near": -2.0}}, r"gains.near: expected a number of at least 0, got -2.0"),
        ({"gains": {"near": 2e8}}, r"gains.near: expected a number of at most 1e\+08, got 200000000.0"),
        ({"side": "rihgt"}, "side: expected one of left, right or nothing, got 'rihgt'; did you mean 'right'\\?"),
        ({"first": 3}, "first: expected true or false, got 3"),
    ],
)
def test_a_program_may_not_give_a_value_that_a_file_may_not_hold(values, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        Some(**values)


def test_numbers_of_numpy_are_numbers():
    assert Some(share=np.float32(0.5), steps=(np.int64(2),)).share == 0.5
    with pytest.raises(InputError, match=r"^sim_time: expected a number in \(0, 36000\], got -1.0$"):
        Dwa(sim_time=np.float32(-1.0))


def test_numbers_in_their_ranges_are_taken():
    made = Some(share=1.0, steps=(1, 3), place=-LARGEST, seed=2**63 - 1)
    assert parse(f"{{share: 1, steps: [1, 3], place: {-LARGEST}, seed: {2**63 - 1}}}", Some) == made


def test_a_component_made_in_a_program_keeps_its_ranges_too():
    with pytest.raises(InputError, match=r"^length: expected a number in \(0, 10000\], got 0.0$"):
        Helbing(length=0.0)
    with pytest.raises(InputError, match="^padding: expected a finite number, got nan$"):
        Rvo2(padding=float("nan"))
    assert Helbing(cutoff=0.0).cutoff == 0.0
