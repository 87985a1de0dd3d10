"""The files of `agora validate`."""

import json

import numpy as np
import pytest

from agora.benchmark.stop_token import StopToken
from agora.errors import InputError, StoppedError
from agora.pedestrians.waypoint import Waypoint
from agora.validation.events import Measuring
from agora.validation.flow import FundamentalDiagram, lanes, stripes
from agora.validation.report import Validation, validate, write
from agora.validation.rimea import Case


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


def test_a_folder_that_cannot_be_written_to_is_told(validation, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write(validation, tmp_path / "file" / "below")


def test_an_experiment_that_somebody_asked_to_stop_is_not_begun(monkeypatch):
    token, done = StopToken(), []
    monkeypatch.setattr("agora.validation.report.fundamental_diagram", lambda model, seed: done.append("diagram"))
    monkeypatch.setattr("agora.validation.report.lanes", lambda model, seed: pytest.fail("begun"))
    events = validate("waypoint", Waypoint(), token=token)
    assert [next(events), next(events)] == [Measuring("speed against density"), Measuring("lanes and stripes")]
    token.stop()
    with pytest.raises(StoppedError):
        next(events)
    assert done == ["diagram"]
