"""Arena's classes of obstacles: static and interactive furniture, pedestrians; drawn, parametrized, by zones."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from agora.config import build
from agora.draft.people import People
from agora.draft.placement import component_of
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.errors import InputError, PlacementError
from agora.maps.furniture import MODELS
from agora.maps.grid import Map
from agora.maps.zones import Zone
from agora.seeds import Stream
from agora.tasks.obstacles.parametrized import Parametrized
from agora.tasks.obstacles.random import Amount, Random
from agora.tasks.obstacles.zones import Zones
from agora.tasks.population import add_furniture

ROOM = Map.from_shapes(segments=[(2.0, -3.5, 2.0, 4.0)], bounds=(-7.0, -3.5, 9.0, 8.5), resolution=0.1, name="crooked")
START, GOALS = np.array([-5.0, 1.0, 0.3]), np.array([[7.0, 2.0, 0.0], [6.0, 7.0, 1.0]])
CORNER = Zone.of("store", "forbidden", [(-7.0, 5.1), (-1.3, 4.2), (0.4, 8.5), (-7.0, 8.5)])


def task(number=0, place=ROOM, **more) -> Task:
    world = Surroundings(place, zones=more.pop("zones", ()))
    made = Task(world, place, 0.3, 0.2, Stream(f"test/stage/{number}", 3, "task"), People(), **more)
    made.robots = [(START, GOALS)]
    return made


def placed(mode, number=0, **more):
    made = task(number, **more)
    mode.place(made)
    return made


MIXED = Random(
    static=Amount(2, 4, ("shelf", "table")), interactive=Amount(1, 2, ("chair",)), dynamic=Amount(3, 6, ("actor1", "actor2"))
)


def test_every_number_between_least_and_most_comes_up_and_no_other():
    counts = [Counter(t.kind for t in made.things) for made in (placed(MIXED, k) for k in range(24))]
    assert {c["static"] for c in counts} == {2, 3, 4}
    assert {c["interactive"] for c in counts} == {1, 2}
    assert {len(placed(MIXED, k).pedestrians) for k in range(24)} == {3, 4, 5, 6}


def test_names_say_class_model_and_number_and_are_different():
    made = placed(MIXED, 3)
    things = Counter((thing.kind[0].upper(), thing.furniture.model) for thing in made.things)
    people = Counter(("D", person.look) for person in made.pedestrians)
    expected = {f"{letter}_{model}_{k + 1}" for (letter, model), count in (things + people).items() for k in range(count)}
    assert {thing.name for thing in made.things} | {person.name for person in made.pedestrians} == expected


def test_models_come_as_often_as_their_weights_say():
    amount = Amount(1, 1, ("table", "chair", "tree"), (3.0, 0.0, 9.0))
    stream = Stream("weights", 3, "task")
    drawn = Counter(model for _ in range(4000) for model in amount.draw(stream))
    assert drawn["chair"] == 0
    assert drawn["table"] / 4000 == pytest.approx(0.25, abs=0.03)
    even = Counter(model for _ in range(4000) for model in Amount(1, 1, ("a", "b")).draw(stream))
    assert even["a"] / 4000 == pytest.approx(0.5, abs=0.03)


def test_furniture_is_in_the_map_where_it_stands_clear_of_walls_robots_and_itself():
    for number in range(10):
        made = placed(MIXED, number)
        assert len(made.map.polygons) + len(made.map.discs) >= len(made.things) >= 3
        for thing in made.things:
            piece, radius = thing.furniture, MODELS[thing.furniture.model].radius
            centre = np.array([piece.x, piece.y])
            assert made.map.gap(centre[None])[0] <= 0.0 or piece.model == "chair"
            assert ROOM.gap(centre[None])[0] >= radius - 1e-9
            for other in made.things:
                if other is not thing:
                    apart = np.hypot(piece.x - other.furniture.x, piece.y - other.furniture.y)
                    assert apart >= radius + MODELS[other.furniture.model].radius - 1e-9
        assert made.map.gap(np.vstack([START[:2], GOALS[:, :2]])).min() >= 1.5 - 1e-9


def test_furniture_may_narrow_the_way_but_not_close_it():
    """A table of 1 m in the middle of a corridor of 1.9 m leaves 0.45 m on each side, too little for a robot of 0.6 m."""
    corridor = Map.from_shapes(
        segments=[(-4.0, 2.0, 9.0, 2.0), (-4.0, 3.9, 9.0, 3.9)], bounds=(-4.0, 1.5, 9.0, 4.5), resolution=0.05, name="corridor"
    )
    for number in range(6):
        made = task(number, corridor)
        made.robots = [(np.array([-3.3, 2.9, 0.0]), np.array([[8.2, 3.0, 0.0]]))]
        add_furniture(made, [("static", "table")] * 4, keep_clear=0.6)
        parts = component_of(made.map, made.radius)
        rows, columns = made.map.cell_of(np.array([(-3.3, 2.9), (8.2, 3.0)]))
        assert parts[rows[0], columns[0]] == parts[rows[1], columns[1]] > 0


def test_too_much_furniture_is_an_error_and_not_parked_outside():
    with pytest.raises(PlacementError, match="crooked"):
        add_furniture(task(), [("static", "long_shelf")] * 200, keep_clear=1.5)


def test_present_fields_still_make_discs_and_nobody_else_draws():
    assert placed(Random(static=(2, 2))).things == []
    assert len(placed(Random(static=(2, 2))).map.discs) == 2


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"min": 3, "max": 1, "models": ["table"]}, "min and max: expected 0 <= min <= max"),
        ({"min": 0, "max": 2, "models": ["tabel"]}, "no furniture model called 'tabel'; did you mean 'table'?"),
        ({"min": 0, "max": 2}, "models must name at least one"),
        ({"min": 0, "max": 2, "models": ["table"], "weights": [1.0, 2.0]}, "weights must have one value for each"),
        ({"min": 0, "max": 2, "models": ["table"], "weights": [0.0]}, "weights must have one value for each"),
        ({"min": 0, "max": float("nan"), "models": ["table"]}, "max"),
        ({"min": 0, "max": 2, "modles": ["table"]}, "did you mean 'models'?"),
    ],
)
def test_an_amount_that_makes_no_sense_is_refused(values, message):
    with pytest.raises(InputError) as caught:
        build({"static": values}, Random, "suite.yaml")
    assert message in str(caught.value) or "expected" in str(caught.value), str(caught.value)
    assert "static" in str(caught.value)


XML = """<random>
<static><obstacle name="a" min="1" max="3" model="table"/><obstacle name="b" min="1" max="1" model="table"/></static>
<interactive><obstacle name="c" min="0" max="1" model="chair"/></interactive>
<dynamic><obstacle name="d" min="2" max="2" model="actor1" type="elder"/>
<obstacle name="e" min="0" max="3" model="actor1"/></dynamic>
</random>"""


def test_parametrized_counts_each_entry_for_itself_and_names_do_not_collide(tmp_path):
    (tmp_path / "p.xml").write_text(XML)
    mode = Parametrized(str(tmp_path / "p.xml"))
    tables, chairs, elders, adults = set(), set(), set(), set()
    for number in range(60):
        made = placed(mode, number)
        kinds = Counter((t.kind, t.furniture.model) for t in made.things)
        tables.add(kinds["static", "table"])
        chairs.add(kinds["interactive", "chair"])
        elders.add(sum(p.type == "elder" for p in made.pedestrians))
        adults.add(sum(p.type == "adult" for p in made.pedestrians))
        names = [t.name for t in made.things] + [p.name for p in made.pedestrians]
        assert len(set(names)) == len(names)
    assert (tables, chairs, elders, adults) == ({2, 3, 4}, {0, 1}, {2}, {0, 1, 2, 3})


def test_parametrized_refuses_a_file_that_is_not_there():
    with pytest.raises(ValueError, match="did you mean 'default'"):
        Parametrized("defautl")
    with pytest.raises(ValueError, match="there is no file"):
        Parametrized("./none.xml")


ROLES = """
pedestrians:
  - {name: visitor, type: human/adult, model: actor1, waypoints in: [public], number of waypoints: [2, 4], amount: 3}
  - {name: nurse, type: elder, model: actor2, waypoints in: [public, staff], number of waypoints: 5, amount: [0, 2]}
"""
ZONES = (
    Zone.of("west", "public", [(-7.0, -3.5), (1.0, -3.5), (1.7, 4.0), (-7.0, 4.0)]),
    Zone.of("east", "staff", [(2.6, -3.0), (9.0, -3.5), (9.0, 4.1)]),
    CORNER,
)


def test_pedestrians_of_zones_have_start_and_waypoints_in_the_zones_of_their_role(tmp_path):
    (tmp_path / "roles.yaml").write_text(ROLES)
    mode = Zones(str(tmp_path / "roles.yaml"))
    numbers, staffed = set(), 0
    for number in range(20):
        people = placed(mode, number, zones=ZONES).pedestrians
        visitors, nurses = people[:3], people[3:]
        assert all(p.look == "actor1" and p.type == "adult" for p in visitors)
        assert all(p.look == "actor2" and p.type == "elder" and len(p.waypoints) == 6 for p in nurses)
        numbers |= {len(p.waypoints) - 1 for p in visitors}
        for person in visitors:
            assert ZONES[0].contains(np.vstack([person.position, person.waypoints])).all()
        for person in nurses:
            points = np.vstack([person.position, person.waypoints])
            assert (ZONES[0].contains(points) | ZONES[1].contains(points)).all()
            staffed += ZONES[1].contains(points).any()
    assert numbers == {2, 3, 4}
    assert staffed > 0


def test_a_zone_without_room_or_of_no_known_category_is_an_error(tmp_path):
    (tmp_path / "roles.yaml").write_text(ROLES.replace("[public, staff]", "[pubic]"))
    with pytest.raises(InputError, match=r"roles.yaml:4: pedestrians\[1\].waypoints in: .*did you mean 'public'"):
        for number in range(9):
            placed(Zones(str(tmp_path / "roles.yaml")), number, zones=ZONES)
    (tmp_path / "full.yaml").write_text(ROLES.replace("amount: 3", "amount: 3000"))
    tiny = (Zone.of("west", "public", [(-6.0, -2.0), (-4.9, -2.0), (-4.9, -1.0)]), *ZONES[1:])
    with pytest.raises(PlacementError, match="in the region"):
        placed(Zones(str(tmp_path / "full.yaml")), zones=tiny)


def test_nothing_drawn_is_in_a_forbidden_zone_over_2000_draws(tmp_path):
    """Robots, goals, pedestrians, their waypoints and furniture keep out of it, whole and not by their centres alone."""
    from agora.maps.distance import edges_of, gap_to_shapes
    from agora.tasks.robots.explore import Explore

    polygons = CORNER.polygons

    def gap(points):
        return gap_to_shapes(np.ascontiguousarray(points), edges_of(polygons), np.zeros((0, 3)), polygons)

    draws = 0
    mode = Random(static=Amount(1, 3, ("table",)), dynamic=(6, 9), waypoints=4, group_size=(1, 3))
    for number in range(40):
        made = task(number, forbidden=polygons)
        made.robots = Explore(distance=2.0).place(made)
        mode.place(made)
        for finish in made.later:
            finish()
        robots = np.vstack([np.vstack([start, goals])[:, :2] for start, goals in made.robots])
        people = np.vstack([np.vstack([p.position, p.waypoints]) for p in made.pedestrians])
        tables = np.array([(t.furniture.x, t.furniture.y) for t in made.things])
        assert gap(robots).min() >= made.radius + made.safety - 1e-9
        assert gap(people).min() >= made.crowd.radius - 1e-9
        assert gap(tables).min() >= MODELS["table"].radius - 1e-9
        draws += len(robots) + len(people) + len(tables)
    assert draws >= 2000
