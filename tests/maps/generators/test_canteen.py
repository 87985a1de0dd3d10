"""Canteen: as many tables as asked for, chairs by chance and around them, room to queue."""

import math

import numpy as np
import pytest
from scipy.stats import binom
from tests.maps.generators.places import box, generated, models, zones

from agora.errors import PlacementError


@pytest.mark.parametrize("number", [0, 1, 9, 20])
def test_there_are_as_many_tables_as_asked_for(number):
    for n in range(3):
        place = generated("canteen", n, obstacle_num=number, height=22.0)
        assert models(place)["table"] == number
        assert len(zones(place, "table")) == number


@pytest.mark.parametrize(("chance", "chairs"), [(0.0, 0), (1.0, 4)])
def test_the_extremes_of_the_chance_are_certain(chance, chairs):
    place = generated("canteen", obstacle_num=8, chair_chance=chance)
    assert models(place)["chair"] == 8 * chairs


def test_a_chair_is_there_with_its_chance_and_four_with_its_fourth_power():
    # the paper: with 0.5, a table has four chairs with probability 0.0625
    counts = []
    for n in range(80):
        place = generated("canteen", n, obstacle_num=6, chair_chance=0.5, resolution=0.2)
        tables = np.array([(f.x, f.y) for f in place.furniture if f.model == "table"])
        chairs = np.array([(f.x, f.y) for f in place.furniture if f.model == "chair"]).reshape(-1, 2)
        nearest = np.argmin(np.hypot(*(chairs[:, None] - tables).transpose(2, 0, 1)), axis=1)
        counts += np.bincount(nearest, minlength=6).tolist()
    seen = np.bincount(counts, minlength=5)
    expected = len(counts) * binom.pmf(np.arange(5), 4, 0.5)
    assert ((seen - expected) ** 2 / expected).sum() < 18.5  # chi2(4) at 0.001
    assert seen[4] == pytest.approx(0.0625 * len(counts), abs=4 * math.sqrt(0.0625 * len(counts)))


def test_chairs_face_their_table_at_quarter_turns():
    place = generated("canteen", 3, chair_chance=1.0)
    tables = [f for f in place.furniture if f.model == "table"]
    for chair in (f for f in place.furniture if f.model == "chair"):
        table = min(tables, key=lambda t: math.hypot(t.x - chair.x, t.y - chair.y))
        bearing = math.atan2(table.y - chair.y, table.x - chair.x)
        assert math.cos(bearing - chair.heading) == pytest.approx(1.0)
        assert math.hypot(table.x - chair.x, table.y - chair.y) == pytest.approx(0.8)
        assert abs(math.sin(2 * (bearing - table.heading))) < 1e-6
    assert len({round(t.heading, 3) for t in tables}) == len(tables)


def test_tables_keep_the_square_they_are_given_and_the_wall_a_way():
    place = generated("canteen", 1, obstacle_num=6, obstacle_extra_radius=2.4, counter=False, width=18.0, height=23.0)
    tables = np.array([(f.x, f.y) for f in place.furniture if f.model == "table"])
    apart = np.abs(tables[:, None] - tables).max(-1)[~np.eye(6, dtype=bool)]
    assert apart.min() >= 4.8 - 1e-9
    assert (tables - (-7.35, 4.2)).min() > 2.4


def test_queues_form_before_the_counter():
    for n in range(4):
        place = generated("canteen", n)
        (queue,) = zones(place, "queue")
        assert models(place)["counter"] >= 2
        low, high = box(queue)
        for piece in (f for f in place.furniture if f.model == "counter"):
            queueing = [pose for spot, pose in piece.spots() if spot.use == "queue"]
            assert queueing
            for x, y, heading in queueing:
                assert (low <= (x, y)).all() and ((x, y) <= high).all()
                ahead = np.array([x, y]) + 0.6 * np.array([math.cos(heading), math.sin(heading)])
                assert place.map.gap([ahead])[0] == 0.0
    assert models(generated("canteen", counter=False))["counter"] == 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"obstacle_num": 500, "width": 10.0, "height": 10.0}, r"^obstacle_num 500: there is room for only \d+ tables"),
        ({"obstacle_num": 2, "width": 5.0, "height": 30.0}, "^obstacle_num 2: there is room for only 0"),
        ({"width": 6.0, "height": 4.0}, "^counter"),
    ],
)
def test_what_does_not_fit_is_an_error_that_names_it(values, message):
    with pytest.raises(PlacementError, match=message):
        for n in range(4):
            generated("canteen", n, **values)
