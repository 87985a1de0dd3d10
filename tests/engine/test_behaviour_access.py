"""Decisions of a behaviour are heeded only where somebody can do them, and only pedestrians are its own."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from tests.engines import engine
from tests.starts import people, start

from agora.errors import ComponentError
from agora.pedestrians.models.waypoint import Waypoint

WAYS = [[[5.0, 0.0], [0.0, 0.0]], [[-5.0, 0.0], [2.0, 2.0]]]


@dataclass
class Writes:
    """Writes a value for the second pedestrian, by the name of a field."""

    name: str
    value: float
    world: object = field(default=None, init=False)

    def attach(self, world, every, sees):
        self.world = world
        return self

    def reset(self, world, start):
        pass

    def think(self, generation):
        def write(first, last):
            record, _, name = self.name.partition(".")
            getattr(getattr(self.world, record), name)[first:last, -1 if record == "robots" else 1] = self.value

        return write


def stepped(name, value, steps=3):
    made = engine(
        [start(crowd=people([[0.0, 0.0], [2.0, 1.0]], WAYS, mode=0), pose=(7.0, 7.0, 0.0))],
        crowd=Waypoint(),
        behaviours=(Writes(name, value),),
        ends=0,
    )
    for _ in range(steps):
        made.step()
    return made.world


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("traits.speed", np.nan, "the preferred speed nan m/s; expected a number of at least 0"),
        ("traits.speed", -0.5, "the preferred speed -0.5 m/s"),
        ("traits.speed", np.inf, "the preferred speed inf m/s"),
        ("waypoints.x", np.nan, r"the waypoint \(nan, 0\); expected two numbers in m"),
        ("waypoints.y", 1e30, r"the waypoint \(-5, 1e\+30\)"),
        ("waypoints.index", 7, "index, count, mode and tolerance 7, 2, 0, 0.3; expected an index below and a count up to 2"),
        ("waypoints.count", 9, "0, 9, 0, 0.3"),
        ("waypoints.tolerance", np.nan, "0, 2, 0, nan"),
        ("minds.state", 99, r"type, reaction and state 0, 0, 99; expected numbers below \d+"),
        ("pedestrians.heading", np.nan, "the heading nan rad; expected a finite number"),
    ],
)
def test_what_nobody_can_do_is_an_error_that_names_behaviour_and_pedestrian(name, value, message):
    with pytest.raises(ComponentError, match=f"^behaviour Writes gives pedestrian 12 .*{message}"):
        stepped(name, value)


@pytest.mark.parametrize("name", ["robots.x", "pedestrians.x", "pedestrians.active", "traits.id", "waypoints.list_x", "commands"])
def test_what_is_not_its_own_cannot_be_written_to(name):
    with pytest.raises(ComponentError, match="^behaviour Writes: .*(read-only|no attribute)"):
        stepped(name, 3.0)


def test_what_is_its_own_can():
    assert stepped("traits.speed", 0.25).traits.speed[0, :2].tolist() == [1.0, 0.25]
    assert stepped("traits.group", 4.0).traits.group[0, 1] == 4
    world = stepped("pedestrians.heading", 1.25, steps=1)
    assert world.generation(1 - world.now)[0].heading[0, 1] == 1.25


@dataclass
class Wrong(Writes):
    """Raises, or returns something else, in one of its methods."""

    name: str = ""
    value: float = 0.0
    where: str = ""
    raised: type[BaseException] | None = None

    def attach(self, world, every, sees):
        return self.answers("attach", super().attach(world, every, sees))

    def reset(self, world, start):
        self.answers("reset", None)

    def think(self, generation):
        return self.answers("think", lambda first, last: self.answers("decide", None))

    def answers(self, where, right):
        if where == self.where and self.raised is not None:
            raise self.raised("on purpose")
        return None if where == self.where else right


@pytest.mark.parametrize("raised", [ValueError, SystemExit, GeneratorExit, StopIteration])
@pytest.mark.parametrize("where", ["attach", "reset", "think", "decide"])
def test_an_error_of_a_behaviour_names_it_and_the_line(where, raised):
    crowd = people([[0.0, 0.0]], [[5.0, 0.0]])
    message = rf"^behaviour Wrong: {raised.__name__}: on purpose \(test_behaviour_access.py, line \d+"
    with pytest.raises(ComponentError, match=message):
        engine([start(crowd=crowd)], crowd=Waypoint(), behaviours=(Wrong(where=where, raised=raised),)).step()


@pytest.mark.parametrize("where", ["attach", "think"])
def test_a_behaviour_that_returns_nothing_to_work_with_is_told(where):
    with pytest.raises(ComponentError, match=f"^behaviour Wrong: {where} returned NoneType; expected"):
        engine([start(crowd=people([[0.0, 0.0]], [[5.0, 0.0]]))], crowd=Waypoint(), behaviours=(Wrong(where=where),)).step()
