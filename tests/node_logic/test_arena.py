"""Arena's words for crowds."""

from __future__ import annotations

import numpy as np
import pytest

from agora.core.state import SOCIAL_STATES
from agora.draft.people import People
from agora.draft.scenario import Pedestrian
from agora.errors import InputError
from agora.maps.grid import Map
from agora.node_logic.arena import STATE_NAMES, crowd_model, names_plugin, newcomers, outline, state_number
from agora.seeds import Stream


@pytest.mark.parametrize(
    ("text", "name"),
    [("", "anticipation"), ("passthrough", "passthrough"), ("spinny", "spinny"), ("pysocial", "pysocial"),
     ("deepsocialforce", "deep_social_force"), ("evacuation", "evacuation"), ("orca(horizon=3.5)", "orca")],
)  # fmt: skip
def test_arenas_names_of_crowd_models_are_ours_and_parameters_may_follow(text, name):
    named = crowd_model(text)
    assert named.name == name
    if "(" in text:
        assert named.part.horizon == 3.5


@pytest.mark.parametrize("text", ["orka", "orca(horizon=3", "orca(horizont=3)"])
def test_a_crowd_model_that_there_is_not_is_refused_with_its_text(text):
    with pytest.raises(InputError, match=text.split("(")[0]):
        crowd_model(text)


def test_social_states_come_back_and_both_of_arenas_spellings_are_understood():
    assert [state_number(name) for name in STATE_NAMES] == list(range(len(SOCIAL_STATES)))
    words = {"Walking": "walking", '"Running"': "running", "TALKING": "talking", "6": "phone", "GroupWalking": "walking",
             "StateWaitForTimer": "idle", "2": "walking"}  # fmt: skip
    assert {word: SOCIAL_STATES[state_number(word)] for word in words} == words
    assert [state_number(word) for word in ("LiftingForks", "", "0", "42")] == [None] * 4


def test_several_pedestrians_of_one_entry_stand_side_by_side_and_have_names_of_their_own():
    entries = [
        Pedestrian("Ada", (1.0, -2.0), ((3.0, 4.0),), type="human/elder", vmax=0.8, waypoint_mode=0),
        Pedestrian("Crowd", (5.0, 6.0), number_of_peds=3),
    ]
    starts, names = newcomers(entries, People(), Stream("crowd", 3, "spawn"), first_id=20)
    assert (names, starts.id.tolist(), starts.type.tolist()) == (
        ("Ada", "Crowd_0", "Crowd_1", "Crowd_2"),
        [20, 21, 22, 23],
        [1, 0, 0, 0],
    )
    assert starts.speed[0] == 0.8 and starts.waypoints[0].tolist() == [[3.0, 4.0]]
    away = starts.position[1:] - (5.0, 6.0)
    assert np.allclose(away, [[0.0, 0.0], [0.8, 0.0], [0.4, 0.8 * np.sin(np.pi / 3)]])
    with pytest.raises(InputError, match="no pedestrian type called 'forklift'"):
        newcomers([Pedestrian("F", (0.0, 0.0), type="forklift")], People(), Stream("crowd", 3, "spawn"), 1)


def test_the_outline_of_a_map_is_the_edges_of_its_cells_its_shapes_and_octagons_about_discs():
    cells = np.zeros((4, 6), np.bool_)
    cells[1, 2:5] = True
    cells[2, 4] = True
    place = Map("crooked", 0.5, (-3.0, 7.0), cells, None, np.array([[0.0, 7.5, 1.0, 8.0]]), np.array([[-2.0, 8.0, 0.25]]))
    lines = outline(place)
    edges = {tuple(((line - np.tile(place.origin, 2)) / 0.5).round(6)) for line in lines[9:]}
    assert edges == {(2, 1, 5, 1), (2, 2, 4, 2), (4, 3, 5, 3), (2, 1, 2, 2), (4, 2, 4, 3), (5, 1, 5, 3)}
    assert lines[0].tolist() == [0.0, 7.5, 1.0, 8.0]
    middle = (lines[1:9, :2] + lines[1:9, 2:]) / 2
    assert np.allclose(np.hypot(*(middle - (-2.0, 8.0)).T), 0.25)


def test_what_has_a_colon_is_a_plugin_unless_parameters_follow():
    texts = ("my_plugins:swirl", "a.b:Swirl", "helbing:relaxation_time=0.5", "helbing(relaxation_time=0.5)", "helbing", "")
    assert [names_plugin(text) for text in texts] == [True, True, False, False, False, False]
    assert (
        crowd_model("helbing:relaxation_time=0.75").part
        == crowd_model("helbing(relaxation_time=0.75)").part
        != crowd_model("helbing").part
    )
