"""Charts of the report: positions on them are the numbers."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from agora.reporting._charts import LABEL, LONGEST_LABEL, MOST_DOTS, PLOT, distributions, outcomes, rates, short_labels
from agora.reporting.statistics import Estimate, bootstrap, wilson

NOBODY = Estimate(0, None, None, None)


def parts(svg, kind):
    return [element for element in ElementTree.fromstring(str(svg)).iter() if element.get("class") == kind]


def axis(svg):
    """A function from pixels to values, read off the ticks."""
    ticks = [(float(t.get("x")), float(t.text)) for t in parts(svg, "tick")[:-1]]
    assert len(ticks) >= 3
    (x0, v0), (x1, v1) = ticks[0], ticks[-1]
    return lambda x: v0 + (float(x) - x0) * (v1 - v0) / (x1 - x0)


def test_dots_and_mean_lie_at_their_values():
    values = {"a": [3.1, 4.7, 9.2, 5.5], "b": [-1.3]}
    svg = distributions("t", "s", values, {p: bootstrap(v) for p, v in values.items()}, {"a": "4 of 4", "b": "1 of 1"})
    value = axis(svg)
    dots = [[value(x) for x in re.findall(r"M([-\d.]+) ", path.get("d"))] for path in parts(svg, "dots")]
    assert dots[0] == pytest.approx([3.1, 4.7, 5.5, 9.2], abs=0.03) and dots[1] == pytest.approx([-1.3], abs=0.03)
    means = [value(re.match(r"M([-\d.]+)", path.get("d"))[1]) for path in parts(svg, "mean")]
    assert means == pytest.approx([np.mean(values["a"]), -1.3], abs=0.03)


def test_everything_stays_on_the_plot_whatever_the_values():
    for values in ([0.0, 0.0], [1e-9, 2e-9], [-5e7, 3e8], [7.0], []):
        svg = distributions("t", "", {"a": values}, {"a": bootstrap(values)}, {"a": ""})
        x = [float(t.get("x")) for t in parts(svg, "tick")]
        assert min(x) >= LABEL - 1 and max(x) <= LABEL + PLOT + 1


def test_many_values_are_thinned_and_keep_their_ends(rng):
    values = rng.normal(size=5000)
    svg = distributions("t", "", {"a": values}, {"a": bootstrap(values[:50])}, {"a": ""})
    x = [float(v) for v in re.findall(r"M([-\d.]+) ", parts(svg, "dots")[0].get("d"))]
    assert len(x) == MOST_DOTS
    value = axis(svg)
    assert (value(min(x)), value(max(x))) == pytest.approx((values.min(), values.max()), abs=0.03)


def test_bars_of_outcomes_are_as_long_as_their_shares():
    counts = {"a": {"reached": 3, "timeout": 1}, "b": {"reached": 0, "timeout": 0}}
    reached = {"a": Estimate(4, 0.75, *wilson(3, 4)), "b": NOBODY}
    svg = outcomes(counts, reached, {"reached": "#009E73", "timeout": "#56B4E9"})
    bars = [e for e in ElementTree.fromstring(str(svg)).iter() if e.tag == "rect"]
    assert [float(b.get("width")) for b in bars] == [0.75 * PLOT, 0.25 * PLOT]
    assert bars[0].find("title").text == "reached: 3 of 4"
    low, high = (100 * v for v in wilson(3, 4))
    value = axis(svg)
    assert [value(x) for x in re.findall(r"[MH]([-\d.]+)", parts(svg, "whisker")[0].get("d"))] == pytest.approx(
        [low, high], abs=0.05
    )
    assert [note.text for note in parts(svg, "note")] == ["4 episodes", "0 episodes"]


def test_rates_are_shown_in_percent():
    svg = rates("success", {"a": Estimate(9, 1 / 3, 0.1, 0.6)}, {"a": ""})
    assert axis(svg)(re.match(r"M([-\d.]+)", parts(svg, "mean")[0].get("d"))[1]) == pytest.approx(100 / 3, abs=0.1)


def test_long_labels_lose_their_middle_and_no_two_are_alike():
    names = ["orca:horizon=4.0,radius_factor=1.05", "orca:horizon=4.0,radius_factor=1.05+taga"]
    names += [f"teb:{'x' * 40},weight={k},{'y' * 40}" for k in (1, 2)] + ["orca", "orca+taga"]
    short = short_labels(names)
    assert short["orca"] == "orca" and short[names[1]] == names[1]
    assert len(set(short.values())) == len(names) and max(map(len, short.values())) <= 2 * LONGEST_LABEL
    svg = rates("success", {name: Estimate(9, 1 / 3, 0.1, 0.6) for name in names}, dict.fromkeys(names, ""))
    lines = [(label.text or "") + "".join(span.text for span in label.iterfind("tspan")) for label in parts(svg, "label")]
    assert lines == list(short.values())
    assert all(len(span.text) <= LONGEST_LABEL for label in parts(svg, "label") for span in label.iterfind("tspan"))


def test_hostile_names_stay_text_and_long_ones_are_cut_with_the_whole_name_at_hand():
    name = '<script>alert(1)</script> & "quotes" and more than fits'
    svg = distributions(name, "<b>", {name: [1.0, 2.0]}, {name: bootstrap([1.0, 2.0])}, {name: "<i>"})
    (label,) = parts(svg, "label")
    assert "…" in label[0].text and label.find("title").text == name
    assert "<script>" not in str(svg) and "<i>" not in str(svg)
