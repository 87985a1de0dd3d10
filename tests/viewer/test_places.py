"""Pictures of places: every zone and every part of the furniture is in them, in its colour."""

import io

import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image

from agora.errors import InputError
from agora.maps.furniture import CLOTH, Furniture
from agora.maps.grid import Map
from agora.maps.place import Place
from agora.maps.zones import Zone
from agora.viewer.figures import save
from agora.viewer.places import place_figure


def place(*furniture, zones=()):
    grid = np.zeros((60, 90), bool)
    grid[:, 0] = True
    return Place(Map("hall", 0.1, (-3.0, 5.0), grid), furniture, zones)


def pixels(figure):
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=100)
    return np.array(Image.open(out).convert("RGB")).astype(int)


def share(picture, colour):
    ink = np.round(255 * np.array(colour)).astype(int)
    return (np.abs(picture - ink).max(-1) <= 3).mean()


def test_a_bed_is_as_large_as_it_is_and_turned_as_it_is():
    here = pixels(place_figure([place(Furniture("bed", 1.0, 8.0, 0.6))], columns=1, width=6.0))
    hall = place_figure([place()], columns=1, width=6.0)
    assert share(pixels(hall), CLOTH) == 0.0
    (axes,) = hall.axes
    hall.canvas.draw()
    box = axes.get_window_extent()
    of_the_hall = box.width * box.height / np.prod(hall.canvas.get_width_height())
    bed = 0.9 * 2.0 - 0.9 * 0.1 - 0.63 * 0.4  # less its head and its pillow
    assert share(here, CLOTH) / of_the_hall == pytest.approx(bed / (9.0 * 6.0), rel=0.12)
    y, x = np.nonzero(np.abs(here - np.round(255 * np.array(CLOTH))).max(-1) <= 3)
    slope = np.polyfit(y - y.mean(), x - x.mean(), 1)[0]
    assert 0.2 < slope < 0.8  # the long side is along (-sin, cos), upwards to the left


def test_zones_of_a_category_share_a_colour_that_the_legend_names():
    zones = (
        Zone.of("a", "room", [[-2.0, 6.0], [0.0, 6.0], [0.0, 8.0]]),
        Zone.of("b", "room", [[1.0, 6.0], [2.0, 6.0], [2.0, 8.0]]),
        Zone.of("c", "door", [[3.0, 6.0], [4.0, 6.0], [4.0, 8.0]]),
    )
    figure = place_figure([place(zones=zones), place()], columns=2)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["door", "room"]
    tints = [to_hex(patch.get_facecolor()) for patch in figure.axes[0].patches]
    assert tints[0] == tints[1] != tints[2]
    assert [axes.get_title() for axes in figure.axes] == ["hall", "hall"]


def test_a_place_that_is_wide_fills_its_figure():
    wide = Place(Map("corridor", 0.1, (-3.0, 5.0), np.zeros((30, 150), bool)), (), ())
    for columns, places in ((1, [wide]), (2, [wide, wide, wide])):
        figure = place_figure(places, columns=columns, width=9.0)
        figure.canvas.draw()
        used = sum(box.width * box.height for box in (axes.get_window_extent() for axes in figure.axes[: len(places)]))
        assert used / np.prod(figure.canvas.get_width_height()) > 0.45 * len(places) / len(figure.axes)


def test_the_same_places_give_the_same_bytes(tmp_path):
    one, other = (save(place_figure([place(Furniture("plant", 1.0, 7.0))]), tmp_path / f"{k}.png").read_bytes() for k in (1, 2))
    assert one == other


def test_a_figure_of_nothing_is_refused():
    with pytest.raises(InputError, match="at least one place"):
        place_figure([])
