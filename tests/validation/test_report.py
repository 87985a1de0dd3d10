"""The files of `agora validate`."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from agora.benchmark.stop_token import StopToken
from agora.datasets.catalogue import data_set
from agora.errors import InputError, StoppedError
from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.models.waypoint import Waypoint
from agora.validation.crowd import SimulatedCrowd
from agora.validation.doors import counterflow, evacuation
from agora.validation.events import Measuring
from agora.validation.flow import FundamentalDiagram, lanes, stripes
from agora.validation.recorded import QUANTITIES, PairedSamples
from agora.validation.report import Validation, _stream_case, _weidmann_case, figure, validate, write
from agora.validation.rimea import Case, case_1, case_9


def _recorded():
    drawn = np.random.default_rng(3)
    crowds = [{quantity: drawn.uniform(0.0, 2.0, 40) for quantity in QUANTITIES} for _ in range(2)]
    return PairedSamples(*crowds, 1)


def _cases_of_nobody():
    """Cases of people who never come anywhere."""
    still = SimulatedCrowd(Helbing(relaxation_time=36000.0))
    return [evacuation(still, 1.0, 5), counterflow(still, 1.0, 3), case_1(still), case_9(still, 12, longest=2.0)]


@pytest.fixture(scope="module")
def validation():
    diagram = FundamentalDiagram(np.array([0.5, 2.0]), np.array([1.3, 0.6]), np.array([0.2, 0.1]))
    case = Case("speed", "26 to 34 s", "30 s", np.bool_(True), {"time": 30.0})
    return Validation("waypoint", (case,), diagram, lanes(Waypoint(), 0.2), stripes(Waypoint(), 0.2), None)


def test_the_numbers_and_the_picture_are_written(validation, tmp_path):
    picture = write(validation, tmp_path / "new" / "folder")
    assert picture.read_bytes().startswith(b"\x89PNG")
    numbers = json.loads((picture.parent / "validation.json").read_text())
    assert numbers["model"] == "waypoint"
    assert numbers["cases"][0]["values"] == {"time": 30.0}
    assert numbers["cases"][0]["met"] is True
    assert numbers["left_out"] == validation.left_out


def test_the_picture_has_no_empty_axes_without_recorded_people(validation):
    bare, whole = figure(validation), figure(replace(validation, recorded=_recorded()))
    assert [len(one.axes) for one in (bare, whole)] == [3, 6]
    assert all(axes.has_data() for one in (bare, whole) for axes in one.axes)
    assert bare.get_size_inches()[1] < whole.get_size_inches()[1]


def test_a_place_where_nobody_is_says_so(validation):
    away = replace(validation.lanes, walk=replace(validation.lanes.walk, position=validation.lanes.walk.position + 500.0))
    said = [[text.get_text() for text in axes.texts] for axes in figure(replace(validation, lanes=away)).axes]
    assert said == [[], [], ["empty"]]


def test_what_did_not_happen_is_said_in_words_and_is_null_in_valid_json(validation, tmp_path):
    diagram = FundamentalDiagram(np.array([0.5, 0.0]), np.array([1.3, np.nan]), np.array([0.2, np.nan]))
    apart = replace(validation.lanes, order=np.nan)
    cases = [
        *_cases_of_nobody(),
        _weidmann_case(diagram),
        _stream_case("lanes", [apart, validation.lanes], "", lambda blind: blind),
    ]
    found = replace(validation, cases=tuple(cases), diagram=diagram, lanes=apart)
    picture = write(found, tmp_path)

    def refuse(text):
        raise AssertionError(text)

    kept = json.loads((tmp_path / "validation.json").read_text(), parse_constant=refuse)["cases"]
    assert all(None in case["values"].values() and not case["met"] for case in kept)
    words = [case["found"] for case in kept]
    assert not [text for text in words if "nan" in text or "inf " in text], words
    assert "0 of 5 out within 32 s" in words[0]
    assert words[-2:] == ["no pedestrian passed at 1 of 2 densities", "the streams did not meet in 1 of 2 runs"]
    titles = [axes.get_title() for axes in figure(found).axes] + [t.get_text() for t in figure(found).axes[0].get_legend().texts]
    assert not [text for text in titles if re.search(r"\bnan\b", text)], titles
    assert picture.is_file()


def test_a_folder_that_cannot_be_written_to_is_told(validation, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write(validation, tmp_path / "file" / "below")


def test_without_the_data_the_part_is_left_out_and_a_damaged_file_is_an_error_at_once(monkeypatch, tmp_path):
    monkeypatch.setenv("AGORA_DATA", str(tmp_path))
    assert next(validate("waypoint", Waypoint())) == Measuring("speed against density")
    for file in data_set("eth_ucy").files:
        (tmp_path / "eth_ucy" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "eth_ucy" / file).write_text("no numbers")
    events = validate("waypoint", Waypoint())
    assert next(events) == Measuring("recorded crowds")
    with pytest.raises(InputError, match="eth_ucy/eth/"):
        next(events)


def test_a_run_without_the_data_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("AGORA_DATA", str(tmp_path))
    streams = lanes(Waypoint(), 0.1)
    for name in ("lanes", "stripes"):
        monkeypatch.setattr(f"agora.validation.report.{name}", lambda model, seed: streams)
    diagram = FundamentalDiagram(np.array([0.5]), np.array([1.3]), np.array([0.2]))
    monkeypatch.setattr("agora.validation.report.fundamental_diagram", lambda model, seed: diagram)
    monkeypatch.setattr("agora.validation.report.CASES", ())
    case = Case("door", "", "", True, {})
    for name in ("evacuation", "counterflow"):
        monkeypatch.setattr(f"agora.validation.report.{name}", lambda model, seed: case)
    *_, done = validate("waypoint", Waypoint())
    assert done.recorded is None
    assert re.search("not compared with recorded people: .*agora data import eth_ucy", done.left_out)


def test_an_experiment_that_somebody_asked_to_stop_is_not_begun(monkeypatch, tmp_path):
    monkeypatch.setenv("AGORA_DATA", str(tmp_path))
    token, done = StopToken(), []
    monkeypatch.setattr("agora.validation.report.fundamental_diagram", lambda model, seed: done.append("diagram"))
    monkeypatch.setattr("agora.validation.report.lanes", lambda model, seed: pytest.fail("begun"))
    events = validate("waypoint", Waypoint(), token=token)
    assert [next(events), next(events)] == [Measuring("speed against density"), Measuring("lanes and stripes")]
    token.stop()
    with pytest.raises(StoppedError):
        next(events)
    assert done == ["diagram"]
