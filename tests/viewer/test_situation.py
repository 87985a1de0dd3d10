"""The picture of a situation: who is where, what each is doing, and who talks with whom."""

from __future__ import annotations

import matplotlib.colors
import numpy as np
import pytest

from agora.draft.people import People, Person
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.seeds import Stream
from agora.tasks.faults import Fault
from agora.viewer.scene import COLOURS, FAMILIES
from agora.viewer.situation import situation_figure
from viewer.synthetic import hall


def person(x, y, *waypoints, **more):
    return Person(np.array([x, y]), np.array(waypoints or [(x, y)], float), 1.2, 0.3, **more)


def drawn(*people, faults=()):
    robot = np.array([-2.0, 4.2, 0.4]), np.array([[11.0, 9.0, -2.0]])
    world = Surroundings(hall())
    task = Task(world, world.map, 0.25, 0.0, Stream("a", 1, "task"), People(), [robot], list(people))
    return situation_figure(task, faults=faults, title="a scene")


def words(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def discs(axes):
    """Middle, radius and colour of each disc but those of the map."""
    return [(tuple(p.center), p.radius, matplotlib.colors.to_hex(p.get_facecolor())) for p in axes.patches if hasattr(p, "radius")]


COMPOSED = (
    person(2.0, 5.0, name="ines", state="talking", talk=0, heading=0.0),
    person(3.2, 5.0, name="omar", state="talking", talk=0, heading=np.pi),
    person(5.0, 4.0, (5.0, 10.0), name="lena", state="phone"),
    person(7.0, 5.0, name="kim", heading=1.0),
)


def test_people_have_the_colour_and_letter_of_their_state_their_name_and_their_heading():
    axes = drawn(*COMPOSED).axes[0]
    there = {middle: colour for middle, _, colour in discs(axes)}
    social, walks = (matplotlib.colors.to_hex(c) for c in (FAMILIES["with people"], COLOURS["pedestrian"]))
    assert [there[place] for place in ((2.0, 5.0), (3.2, 5.0), (5.0, 4.0), (7.0, 5.0))] == [social, social, social, walks]
    said = {text.get_text(): text.get_position() for text in axes.texts}
    assert {"ines", "omar", "lena", "kim"} <= said.keys() and "T" in said and "P" in said
    assert said["lena"] == pytest.approx((5.0, 4.38))
    letters = [text.get_position() for text in axes.texts if text.get_text() == "T"]
    assert letters == [pytest.approx((1.88, 5.0)), pytest.approx((3.32, 5.0))], "on the half that looks away"
    noses = [line.get_xydata() for line in axes.lines if len(line.get_xydata()) == 2]
    assert any(np.allclose(nose, [[7.0, 5.0], [7.0 + 0.3 * np.cos(1.0), 5.0 + 0.3 * np.sin(1.0)]]) for nose in noses)


def test_a_dotted_line_joins_those_who_talk_and_a_dashed_one_is_a_way():
    axes = drawn(*COMPOSED).axes[0]
    dotted = [line.get_xydata() for line in axes.lines if line.get_linestyle() == ":"]
    assert len(dotted) == 1 and sorted(dotted[0].tolist()) == [[2.0, 5.0], [3.2, 5.0]]
    dashed = [line.get_xydata().tolist() for line in axes.lines if line.get_linestyle() == "--"]
    assert dashed == [[[5.0, 4.0], [5.0, 10.0]]]


def test_the_legends_explain_what_is_there_and_nothing_else():
    assert words(drawn(*COMPOSED)) == ["robot", "goal", "pedestrian and its path", "in conversation", "T  talking", "P  phone"]
    assert words(drawn()) == ["robot", "goal"]
    assert words(drawn(COMPOSED[3], faults=[Fault("in a wall", 1.0, 5.0)])) == ["robot", "goal", "pedestrian and its path", "fault"]


def test_names_are_left_out_of_a_crowd():
    crowd = [person(-3.0 + 0.2 * k, 5.0, name=f"p{k}") for k in range(41)]
    assert not {text.get_text() for text in drawn(*crowd).axes[0].texts} & {p.name for p in crowd}
