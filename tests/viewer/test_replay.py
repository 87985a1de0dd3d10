"""The replay page: self-contained, safe, and its numbers are the recording's."""

from __future__ import annotations

import base64
import io
import json
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

from agora.core.recording import Closing, Contact, ContactKind, Outcome
from agora.core.state import SOCIAL_STATES, robot_traits
from agora.errors import InputError
from agora.viewer.replay import encode, encode_map, replay_html, write_replay
from agora.viewer.scene import Scene
from agora.viewer.why import why
from viewer.synthetic import crash, episode, hall


def decode(data):
    """Decode data as the page's script does, in NumPy."""
    blob = zlib.decompress(base64.b64decode(data["data"]))
    T, P = data["samples"], len(data["radii"])
    size = (3 * P + 9) * T
    low, high = (np.frombuffer(blob[k * size : (k + 1) * size], np.uint8).reshape(-1, T).astype(int) for k in (0, 1))
    words = np.cumsum(np.cumsum(low + 256 * high, axis=1), axis=1) % 65536
    bits = np.unpackbits(np.frombuffer(blob[2 * size :], np.uint8))[: P * T].reshape(P, T).T.astype(bool)
    x, y, heading = words[9:].reshape(3, P, T).transpose(0, 2, 1)
    extra = np.where(words[4:9] > 32767, words[4:9] - 65536, words[4:9])
    return {
        "time": words[0] * data["time_unit"],
        "xy": words[1:3].T * data["unit"] + data["origin"],
        "heading": words[3] * 2 * np.pi / data["turn"],
        "people": np.stack([x, y], axis=2) * data["unit"] + data["origin"],
        "facing": heading * 2 * np.pi / data["turn"],
        "present": bits,
        "gaps": np.where(extra[:2] == 32767, np.inf, extra[:2] * 0.01),
        "command": extra[2:].T * 0.001,
    }


def wrap(angle):
    return (angle + np.pi) % (2 * np.pi) - np.pi


@pytest.mark.parametrize("pedestrians", [0, 1, 23])
def test_the_embedded_numbers_are_the_recording_within_their_rounding(pedestrians):
    recording = episode(pedestrians=pedestrians, surroundings=hall())
    page = decode(encode(recording))
    present = recording.pedestrian_present
    np.testing.assert_array_equal(page["present"], present)
    np.testing.assert_allclose(page["time"], recording.time, atol=5.1e-4)
    np.testing.assert_allclose(page["xy"], recording.pose[:, :2], atol=2.51e-3)
    np.testing.assert_allclose(page["people"][present], recording.pedestrian_position[present], atol=2.51e-3)
    assert np.abs(wrap(page["heading"] - recording.pose[:, 2])).max() < 3.1e-3
    assert np.all(np.abs(wrap(page["facing"] - recording.pedestrian_heading))[present] < 3.1e-3)


def test_a_world_of_kilometres_and_an_hour_still_fits():
    recording = episode(pedestrians=3, duration=20.0)
    recording = replace(recording, time=recording.time * 200.0, pose=recording.pose * [300.0, 200.0, 1.0])
    data = encode(recording)
    page = decode(data)
    np.testing.assert_allclose(page["xy"], recording.pose[:, :2], atol=0.51 * data["unit"])
    np.testing.assert_allclose(page["time"], recording.time, atol=0.51 * data["time_unit"])
    assert data["unit"] < 0.1


def test_gaps_are_those_of_the_outline_and_commands_are_the_planners():
    recording = crash()
    commands = np.column_stack((np.linspace(-0.5, 1.0, 150), np.zeros(150), np.linspace(2.0, -2.0, 150)))
    page = decode(encode(replace(recording, command=commands)))
    people = np.hypot(*(recording.pedestrian_position - recording.pose[:, None, :2]).transpose(2, 0, 1))
    people = np.where(recording.pedestrian_present, people - recording.pedestrian_radius, np.inf).min(1) - recording.radius
    walls = recording.map.gap(recording.pose[:, :2]) - recording.radius
    np.testing.assert_allclose(page["gaps"], [people, walls], atol=5.1e-3)
    np.testing.assert_allclose(page["command"][:-1], commands, atol=5.1e-4)
    alone = decode(encode(episode(pedestrians=0, duration=1.0)))
    assert np.isinf(alone["gaps"]).all() and not alone["command"].any()


def test_a_failure_is_played_from_just_before_what_decided_it_with_its_reason_path_and_title():
    path = np.array([[0.0, 1.0, 2.0], [0.0, 3.0, 2.001], [0.0, 5.0, 2.0], [7.0, 1.0, 4.0], [7.0, 5.0, 2.0]])
    recording = replace(crash(), planned_path=path)
    (shown,) = payload(replay_html({"a": recording}, titles={"a": "orca · hall"}))["episodes"]
    assert shown["title"] == "orca · hall" and shown["from"] == pytest.approx(15.04 - 5.0)
    assert shown["why"] == why(recording).words
    assert shown["paths"] == [[0.0, [[1.0, 2.0], [5.0, 2.0]]], [7.0, [[1.0, 4.0], [5.0, 2.0]]]]
    assert encode(episode(duration=9.0))["from"] == 0.0


def test_a_robot_is_drawn_with_its_outline():
    traits = robot_traits(1, 1, 4)
    traits.vertices[0, 0] = 4
    traits.footprint_x[0, 0, :4], traits.footprint_y[0, 0, :4] = (-0.4, 0.3, 0.3, -0.4), (-0.2, -0.2, 0.2, 0.2)
    shown = encode(replace(crash(), robot=traits))
    assert np.array(shown["outline"]) == pytest.approx(np.array([[-0.4, -0.2], [0.3, -0.2], [0.3, 0.2], [-0.4, 0.2]]))
    assert encode(crash())["outline"] == []


def test_values_of_absent_pedestrians_never_reach_the_page():
    recording = episode(pedestrians=8)
    recording.pedestrian_position[~recording.pedestrian_present] = 1e7
    page = decode(encode(recording))
    assert np.abs(page["people"]).max() < 100.0


def test_thinning_keeps_the_first_and_the_last_sample():
    recording = episode(pedestrians=2, duration=7.03, dt=0.01)
    page = decode(encode(recording, rate=10.0))
    assert len(page["time"]) == 72
    assert page["time"][0] == 0.0 and page["time"][-1] == pytest.approx(recording.time[-1], abs=1e-3)


def test_a_minute_with_thirty_pedestrians_takes_less_than_100_kB():
    page = replay_html({"a": episode(pedestrians=30, duration=60.0, surroundings=hall())})
    without = replay_html({"a": episode(pedestrians=0, duration=0.1)})
    assert len(page) - len(without) < 100_000


def test_one_sample_is_an_episode():
    recording = episode(pedestrians=2, duration=0.0)
    page = decode(encode(recording))
    np.testing.assert_allclose(page["xy"], recording.pose[:, :2], atol=2.51e-3)


def test_the_picture_of_the_map_is_opaque_exactly_where_cells_are_occupied():
    plan = hall()
    data = encode_map(plan)
    picture = Image.open(io.BytesIO(base64.b64decode(data["cells"].split(",")[1]))).convert("RGBA")
    np.testing.assert_array_equal(np.asarray(picture)[::-1, :, 3] > 0, plan.occupied)
    assert data["extent"] == pytest.approx([-3.7, 2.3, -3.7 + 110 * 0.15, 2.3 + 70 * 0.15])
    assert data["segments"] == [[8.2, 3.1, 9.9, 5.6]] and len(data["polygons"][0]) == 4
    assert encode_map(replace(plan, occupied=np.zeros((4, 7), bool)))["cells"] == ""


def payload(page):
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', page, re.S)[1])


def test_episodes_that_share_a_map_embed_it_once():
    data = payload(replay_html({"a": crash(1), "b": crash(2), "c": episode()}))
    assert len(data["maps"]) == 1
    assert [e["map"] for e in data["episodes"]] == [0, 0, -1]
    assert data["episodes"][0]["contacts"][1][:3] == [15.04, 1, 9]


@pytest.mark.parametrize(
    ("kind", "closing", "words"),
    [
        (ContactKind.PEDESTRIAN, None, ""),
        (ContactKind.PEDESTRIAN, Closing(0.6, 0.2, standing=False), "gap closed by robot (robot 75%)"),
        (ContactKind.PEDESTRIAN, Closing(0.0, 1.2, standing=True), "gap closed by person (robot standing still), not avoidable"),
        (ContactKind.ROBOT, Closing(0.1, 0.3, standing=False), "gap closed by other robot (robot 25%)"),
        (ContactKind.ROBOT, Closing(0.3, 0.3, standing=False), "gap closed by both (robot 50%)"),
    ],
)
def test_a_contact_says_who_closed_the_gap(kind, closing, words):
    recording = replace(crash(), contacts=(Contact(15.04, kind, 9, 6.2, 8.1, closing),))
    assert payload(replay_html({"a": recording}))["episodes"][0]["contacts"] == [[15.04, int(kind), 9, 6.2, 8.1, words]]


class Tags(HTMLParser):
    """Every tag with its attributes."""

    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def test_hostile_names_and_failures_stay_text(tmp_path):
    hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    recording = replace(episode(outcome=Outcome.PLANNER_FAILED), failure=hostile)
    page = write_replay(tmp_path / "r.html", {hostile: recording}, title=hostile).read_text()
    parser = Tags()
    parser.feed(page)
    tags = [tag for tag, _ in parser.tags]
    assert tags.count("script") == 2 and "img" not in tags
    assert payload(page)["episodes"][0]["why"].endswith(f"the planner failed: {hostile}")


def test_the_page_needs_nothing_from_elsewhere(tmp_path):
    page = write_replay(tmp_path / "r.html", {"a": crash()}).read_text()
    parser = Tags()
    parser.feed(page)
    assert "http://" not in page and "https://" not in page and "@import" not in page
    assert not [tag for tag, attributes in parser.tags if {"src", "href"} & attributes.keys() or tag == "link"]


def test_every_part_the_script_uses_is_in_the_page():
    page = replay_html({"a": crash()})
    used = set(re.findall(r"\bpart\.(\w+)", page))
    assert used == set(re.findall(r'data-part="(\w+)"', page))


def test_the_script_is_one_module_that_imports_nothing():
    script = re.search(r'<script type="module">(.*?)</script>', replay_html({"a": crash()}), re.S)[1]
    assert "class Painter" in script and "function between" in script and not re.search(r"^\s*import\b", script, re.M)


def test_the_extent_of_the_page_is_that_of_the_scene():
    recording = crash()
    assert encode(recording)["extent"] == pytest.approx(list(Scene(recording).extent), abs=1e-3)


def test_nothing_to_replay_is_an_error_and_writes_nothing(tmp_path):
    with pytest.raises(InputError, match="no recordings"):
        write_replay(tmp_path / "r.html", {})
    with pytest.raises(InputError, match="rate"):
        write_replay(tmp_path / "r.html", {"a": episode()}, rate=0.0)
    assert not list(tmp_path.iterdir())


def test_social_states_are_in_the_page_after_the_bits_of_presence():
    recording = episode(pedestrians=7)
    states = np.random.default_rng(4).integers(0, len(SOCIAL_STATES), recording.pedestrian_present.shape)
    data = encode(replace(recording, pedestrian_state=states))
    assert data["states"]
    blob = zlib.decompress(base64.b64decode(data["data"]))
    samples = data["samples"] * 7
    kept = np.frombuffer(blob[-samples:], np.uint8).reshape(7, -1).T
    present = recording.pedestrian_present
    assert np.array_equal(kept[present], states[present])
    np.testing.assert_array_equal(decode(data)["present"], present)
    page = replay_html({"a": replace(recording, pedestrian_state=states)})
    assert "queueing" in page and "queueing" not in replay_html({"a": recording})
