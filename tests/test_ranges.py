"""No number is taken that makes no sense, whichever door it comes through."""

from __future__ import annotations

import dataclasses
import typing

import pytest

from agora.config import build_component, parse
from agora.errors import InputError
from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.models.rvo2 import Rvo2
from agora.ranges import LARGEST, Within, range_of
from agora.registry import KINDS, Named, available, load

MAY_BE_NEGATIVE = {"x", "y", "min_vel_x", "escape_vel", "feasibility_check_no_poses", "feasibility_check_lookahead_distance"}
MAY_BE_NEGATIVE |= {"log_std", "global_plan_viapoint_sep", "cx", "cy", "roll", "pitch", "yaw", "heading", "lowest", "easy", "hard"}
"""Places, angles, velocities, logarithms, ends of axes, and parameters that switch a part of teb off."""
CLAMPED = {("staged", "index")}
NEEDED = {"semantic": {"attribute": "stress"}}


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
    with pytest.raises(InputError, match=r"'pure_pursuit': lookahead must be in \[0, 10000\], got -1"):
        Named.of("planners", "pure_pursuit", lookahead=-1.0)
    with pytest.raises(InputError, match="speed must be a finite number, got nan"):
        Named.of("planners", "pure_pursuit", speed=float("nan"))
    assert Named.of("planners", "pure_pursuit", speed=None).part.speed is None


@dataclasses.dataclass(frozen=True)
class Some:
    """Numbers of each sort."""

    share: typing.Annotated[float, Within(0.0, 1.0, above=True)] | None = None
    steps: tuple[typing.Annotated[int, Within(1, 3)], ...] = ()
    place: float = 0.0
    seed: int = 0


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


def test_numbers_in_their_ranges_are_taken():
    made = Some(share=1.0, steps=(1, 3), place=-LARGEST, seed=2**63 - 1)
    assert parse(f"{{share: 1, steps: [1, 3], place: {-LARGEST}, seed: {2**63 - 1}}}", Some) == made


def test_a_component_made_in_a_program_keeps_its_ranges_too():

    with pytest.raises(InputError, match=r"Helbing\.length must be in \(0, 10000\], got 0"):
        Helbing(length=0.0)
    with pytest.raises(InputError, match=r"Rvo2\.padding must be a finite number, got nan"):
        Rvo2(padding=float("nan"))
    assert Helbing(cutoff=0.0).cutoff == 0.0
