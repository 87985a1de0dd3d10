"""Engines keep the contract of backends, and bad ones do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.distant_engine import Distant
from tests.plain_engine import Plain, PlainEngine

from agora.core.recording import Outcome
from agora.simulators.native import Native
from agora.testing import ContractError, check_backend


@pytest.mark.parametrize("simulator", [Native(), Plain(), Distant(), Distant(each=False)], ids=str)
def test_an_engine_keeps_the_contract(simulator):
    check_backend(simulator)


def bad(**verbs: Any) -> Any:
    """A simulator with the plain engine, of which some verbs are others."""

    @dataclass(frozen=True)
    class Bad:
        can = frozenset({"step"})

        def backend(self, world, terms, led):
            return type("BadEngine", (PlainEngine,), verbs)(world, terms, 1.0)

    return Bad()


def forgets_people(self, number, start):
    PlainEngine.reset(self, number, start)
    self.world.pedestrians.x[number] += np.float32(0.01)


def begins_all_anew(self, number, start):
    self.starts = {**getattr(self, "starts", {}), number: start}
    for w, one in self.starts.items():
        PlainEngine.reset(self, w, one)


def takes_one_step_less(self, steps, after_step):
    PlainEngine.advance(self, max(1, steps - 1), after_step)


def says_nothing(self, steps, after_step):
    PlainEngine.advance(self, steps, lambda: None)


def is_slow(self, w, running):
    self.world.commands[w, :, 0] *= np.float32(0.4)
    return PlainEngine.drive(self, w, running)


def says_half_its_speed(self, w, running):
    walls = PlainEngine.drive(self, w, running)
    self.next_robots.world_vx[w] *= np.float32(0.5)
    return walls


def never_rests(self, w, running):
    walls = PlainEngine.drive(self, w, running)
    self.next_robots.x[w, running] += np.float32(0.0005)
    return walls


def drives_through_walls(self, w, running):
    room, self.places[w] = self.places[w], Nowhere()
    walls = PlainEngine.drive(self, w, running)
    self.places[w] = room
    return walls


class Nowhere:
    """A place without walls."""

    def gap(self, places):
        return np.full(len(places), 9.0)


def touches_nobody(self, w, r, wall):
    return [hit for hit in PlainEngine.hits(self, w, r, wall) if hit[1] != 1]


def touches_no_robot(self, w, r, wall):
    return [hit for hit in PlainEngine.hits(self, w, r, wall) if hit[1] != 3]


def notes_contacts_late(self, w, r, wall):
    hits = PlainEngine.hits(self, w, r, wall)
    self.late = [*getattr(self, "late", []), hits]
    return self.late[-5] if len(self.late) > 4 else []


def never_arrives(self, w, r, hits):
    PlainEngine.judge(self, w, r, hits)
    if self.world.status.ends.outcome[w, r] == Outcome.REACHED:
        self.world.status.ends.outcome[w, r] = -1


def has_no_last_goal(self, w, r, hits):
    PlainEngine.judge(self, w, r, hits)
    self.world.status.goals.arrived[w, r] = False


def never_gives_up(self, w, r, hits):
    PlainEngine.judge(self, w, r, hits)
    if self.world.status.ends.outcome[w, r] == Outcome.TIMEOUT:
        self.world.status.ends.outcome[w, r] = -1


def always_ends(self, w, r, hits):
    self.terms = type("Terms", (), {"ends": 15, "remove": self.terms.remove})
    PlainEngine.judge(self, w, r, hits)


def never_removes(self, w, r, hits):
    self.terms = type("Terms", (), {"ends": self.terms.ends, "remove": False})
    PlainEngine.judge(self, w, r, hits)


def knows_better(self, steps, after_step):
    if not hasattr(self, "mine"):
        self.mine = self.world.robots.x.copy(), self.world.robots.y.copy()
    self.world.robots.x[...], self.world.robots.y[...] = self.mine
    PlainEngine.advance(self, steps, after_step)
    self.mine = self.world.robots.x.copy(), self.world.robots.y.copy()


def draws_from_nowhere(self, w, running):
    walls = PlainEngine.drive(self, w, running)
    self.next_robots.x[w, running] += np.random.default_rng().uniform(0, 1e-4, len(running)) * self.world.commands[w, running, 0]
    return walls


def mixes_worlds(self, w, running):
    walls = PlainEngine.drive(self, w, running)
    self.next_robots.x[w, running] += 1e-4 * self.world.layout.worlds * self.world.commands[w, running, 0]
    return walls


def remembers(self, w, running):
    walls = PlainEngine.drive(self, w, running)
    self.worn = getattr(self, "worn", 0) + 1
    self.next_robots.x[w, running] += 1e-6 * self.worn * self.world.commands[w, running, 0]
    return walls


def ends_without_robots(self, w):
    PlainEngine.step(self, w)
    self.world.status.clock.done[w] |= self.world.layout.robots == 0


@pytest.mark.parametrize(
    ("verbs", "clause"),
    [
        ({"reset": forgets_people}, "pedestrians do not start at their positions"),
        ({"reset": begins_all_anew}, "a reset of other worlds"),
        ({"holds": lambda self, start: False}, "`holds` refuses"),
        ({"advance": takes_one_step_less}, "`world.tick` is 2"),
        ({"advance": says_nothing}, r"called at steps \[\]"),
        ({"drive": is_slow}, "commanded to drive at 0.8 m/s"),
        ({"drive": says_half_its_speed}, "its record says"),
        ({"drive": never_rests}, "still moves"),
        ({"judge": never_arrives}, "at the last goal"),
        ({"judge": has_no_last_goal}, "`arrived` is False"),
        ({"judge": never_gives_up}, r"ended with \(outcome, step\) \(-1"),
        ({"drive": drives_through_walls}, "stopped -"),
        ({"judge": always_ends}, r"a wall the outcomes are \{102\}, not \{-1\}"),
        ({"hits": touches_nobody}, r"drove towards a pedestrian touched \[\]"),
        ({"hits": touches_no_robot}, r"drove towards a robot touched \[\]"),
        ({"hits": notes_contacts_late}, "from the point of contact"),
        ({"judge": never_removes}, "the terms remove them"),
        ({"advance": knows_better}, r"was put at \(3, 2\)"),
        ({"drive": draws_from_nowhere}, "not deterministic"),
        ({"drive": mixes_worlds}, "worlds affect each other"),
        ({"drive": remembers}, "leaves state from the last episode"),
        ({"step": ends_without_robots}, "without robots is marked as done"),
    ],
    ids=lambda given: next(iter(given.values())).__name__ if isinstance(given, dict) else "",
)
def test_a_bad_engine_is_found_out(verbs, clause):
    with pytest.raises(ContractError, match=clause):
        check_backend(bad(**verbs))
