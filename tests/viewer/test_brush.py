"""Smooth shapes on pixels: areas, places and colours are those of geometry."""

from __future__ import annotations

import numpy as np
import pytest

from agora.viewer.brush import Brush


def white(height=61, width=97):
    return np.full((height, width, 3), 255, np.uint8)


def darkness(pixels):
    return 1.0 - pixels[..., 0].astype(float) / 255.0


def test_a_disc_covers_its_area_about_its_centre():
    pixels = white()
    Brush(pixels).discs((40.3, 22.8), 11.7, "#000000")
    cover = darkness(pixels)
    rows, columns = np.indices(cover.shape) + 0.5
    assert cover.sum() == pytest.approx(np.pi * 11.7**2, rel=3e-3)
    assert (cover * columns).sum() / cover.sum() == pytest.approx(40.3, abs=0.03)
    assert (cover * rows).sum() / cover.sum() == pytest.approx(22.8, abs=0.03)


def test_a_line_covers_its_length_and_its_round_ends():
    pixels = white()
    Brush(pixels).lines((20.4, 14.1), (73.9, 41.6), 3.2, "#000000")
    length = np.hypot(73.9 - 20.4, 41.6 - 14.1)
    assert darkness(pixels).sum() == pytest.approx(2 * 3.2 * length + np.pi * 3.2**2, rel=5e-3)


def test_a_ring_covers_its_circumference_times_its_width():
    pixels = white()
    Brush(pixels).rings((48.2, 30.7), 19.4, 3.0, "#000000")
    assert darkness(pixels).sum() == pytest.approx(2 * np.pi * 19.4 * 3.0, rel=5e-3)
    assert tuple(pixels[30, 48]) == (255, 255, 255)


def test_a_polygon_covers_its_area_and_not_its_notch():
    corners = np.array([(20.3, 14.1), (70.9, 8.2), (40.5, 30.4), (66.2, 52.7), (15.8, 44.6)])
    pixels = white()
    Brush(pixels, 5).polygon(corners, "#000000")
    x, y = corners.T
    area = 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))
    assert darkness(pixels).sum() == pytest.approx(area, rel=5e-3)
    assert tuple(pixels[30, 55]) == (255, 255, 255) and tuple(pixels[30, 30]) == (0, 0, 0)


def test_shapes_of_one_call_do_not_darken_each_other():
    once, twice = white(), white()
    Brush(once).discs((40.0, 30.0), 9.0, "#0072B2", 0.4)
    Brush(twice).discs([(40.0, 30.0)] * 2, 9.0, "#0072B2", [0.4, 0.4])
    np.testing.assert_array_equal(once, twice)
    assert tuple(once[30, 40]) == pytest.approx((153, 199, 224), abs=1)


def test_what_lies_outside_the_picture_or_the_rows_is_cut_and_the_rest_is_unmoved():
    whole, cut = white(), white()
    centres = [(1.5, 3.0), (95.0, 58.0), (50.0, 12.0), (300.0, -80.0), (-40.0, 30.0)]
    Brush(whole).discs(centres, 8.0, "#D55E00")
    Brush(cut, 10, 55).discs(centres, 8.0, "#D55E00")
    np.testing.assert_array_equal(cut[10:55], whole[10:55])
    assert (cut[:10] == 255).all() and (cut[55:] == 255).all()


def test_nothing_to_draw_draws_nothing():
    pixels = white()
    Brush(pixels).discs(np.zeros((0, 2)), np.zeros(0), "#000000", np.zeros(0))
    assert (pixels == 255).all()


def test_a_layer_is_the_same_whether_drawn_at_once_or_piece_by_piece():
    at_once, pieces = white(), white()
    corners = np.array([(10.2, 11.3), (30.8, 20.1), (36.4, 44.9), (80.0, 50.5)])
    Brush(at_once, layer=True).lines(corners[:-1], corners[1:], 1.4, "#0072B2")
    brush = Brush(pieces, layer=True)
    for start, end in zip(corners[:-1], corners[1:], strict=True):
        brush.lines(start, end, 1.4, "#0072B2")
    assert np.abs(at_once.astype(int) - pieces).max() <= 1
