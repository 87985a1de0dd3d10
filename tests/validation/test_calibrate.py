"""Calibration finds parameters that are better, the same however often it is killed, and writes what a suite reads."""

import dataclasses

import numpy as np
import pytest
from tests.stopping import stopped
from tests.ways import line, scene

from agora.config import build_component, parse
from agora.errors import InputError, ResultsError
from agora.pedestrians.models.helbing import Helbing
from agora.registry import Named
from agora.validation.calibrate import WEIGHTS, Calibrated, Calibration, Fitted, calibrate, leave_one_out, objective, preset
from agora.validation.crowd import SimulatedCrowd, simulate
from agora.validation.events import Measuring
from agora.validation.scores import Instrument, Recorded, Score, score_all
from agora.validation.stretches import DURATION, of_scene
from agora.validation.table import markdown, words, write

pytest.importorskip("optuna")
RECORDED = {name: weight for name, weight in WEIGHTS.items() if name != "Weidmann"}
TRUE = Helbing(relaxation_time=1.2, repulsion=6.0)


@pytest.fixture(scope="module")
def recorded():
    """People of whom every stretch was walked by a model with parameters other than its own."""
    drawn = np.random.default_rng(5)
    cut = []
    for k in range(6):
        ways = [line(drawn.uniform(-6, 6, 2), (drawn.choice((-1, 1)) * drawn.uniform(0.8, 1.5), 0.1)) for _ in range(5)]
        one = of_scene(scene(*ways, groups=[(1, 2)]))[0]
        walked = simulate(SimulatedCrowd(TRUE), [one.start(range(one.walkers))], DURATION, every=8)[0][..., :2]
        place = np.concatenate([walked, one.position[:, one.walkers :]], 1)
        cut.append(dataclasses.replace(one, scene=("here", "there")[k % 2], position=place))
    return Recorded(cut, 10)


@pytest.fixture(scope="module")
def instrument(recorded):
    return Instrument(dict.fromkeys(("training", "held out"), recorded), classify=False)


def calibration(trials=12):
    return Calibration(Named.of("crowd_models", "helbing"), trials=trials, weights=RECORDED)


def calibrated(*given, **more):
    """The result of a calibration that nobody stops."""
    *_, result = calibrate(*given, **more)
    return result


def each(*given, **more):
    """The results of a calibration for every scene left out, by scene."""
    return {event.scene: event for event in leave_one_out(*given, **more) if isinstance(event, Calibrated)}


@pytest.fixture(scope="module")
def found(recorded, tmp_path_factory):
    return calibrated(calibration(), recorded, tmp_path_factory.mktemp("found"))


def test_people_who_are_simulated_have_no_distance_to_the_model_that_they_are(recorded):
    walked = recorded.walked(SimulatedCrowd(TRUE))
    assert all(estimate.value is None or estimate.value < 1e-9 for estimate in recorded.distances(walked).values())
    assert recorded.crowd_error(walked).value == 0.0
    assert objective(recorded, SimulatedCrowd(TRUE), RECORDED) < 0.3 * objective(recorded, SimulatedCrowd(Helbing()), RECORDED)


def test_a_model_that_pushes_dense_crowds_backwards_pays_for_it(recorded):
    backwards = SimulatedCrowd(Helbing(repulsion=5.0, length=0.05, anisotropy=0.14))
    assert objective(recorded, backwards, {"Weidmann": 1.0}) > 2.0 * objective(
        recorded, SimulatedCrowd(Helbing()), {"Weidmann": 1.0}
    )


def test_the_best_trial_is_better_than_the_model_as_it_was(found):
    assert found.best > 0
    assert found.trials[found.best].value == min(trial.value for trial in found.trials)
    assert found.trials[0].parameters["repulsion"] == 3.0
    assert found.model.part.repulsion != 3.0


def test_a_run_that_was_killed_goes_on_to_the_same_result(found, recorded, tmp_path, monkeypatch):
    calibrated(calibration(5), recorded, tmp_path)
    with pytest.raises(ResultsError, match="continue it with --resume"):
        calibrated(calibration(), recorded, tmp_path)
    with pytest.raises(
        ResultsError, match="seed was 0, but is now 1; a calibration can only be resumed with the settings it started with"
    ):
        calibrated(dataclasses.replace(calibration(), seed=1), recorded, tmp_path, resume=True)
    record = tmp_path / "calibration.yaml"
    record.write_text((text := record.read_text()).replace("0.1.0, code ", "0.1.0, code 00"))
    with pytest.raises(ResultsError, match="package agora-nav was .* since the calibration started; put the code back"):
        calibrated(calibration(), recorded, tmp_path, resume=True)
    record.write_text(text)
    *tried, again = calibrate(calibration(), recorded, tmp_path, resume=True)
    assert again == found
    assert [(event.done, event.total, event.trial) for event in tried] == [(k + 1, 12, t) for k, t in enumerate(found.trials)]
    assert [event.best for event in tried] == np.minimum.accumulate([trial.value for trial in found.trials]).tolist()
    monkeypatch.setattr("agora.validation.calibrate.objective", lambda *a: pytest.fail("tried again"))
    assert calibrated(calibration(), recorded, tmp_path, resume=True) == found


def test_a_model_that_names_nothing_to_calibrate_is_told():
    with pytest.raises(InputError, match="crowd model 'waypoint' declares no parameters"):
        Calibration(Named.of("crowd_models", "waypoint"))


def test_the_parameter_block_is_read_as_a_suites_crowd(found):
    text = preset(calibration(), found, "training scenes")
    assert "12 trials, seed 0" in text
    assert build_component("crowd_models", parse(text, dict)) == found.model


def test_the_table_has_every_crowd_in_both_parts(instrument, tmp_path):
    events = list(score_all({"true": SimulatedCrowd(TRUE), "own": SimulatedCrowd(Helbing())}, instrument))
    scores = [event for event in events if isinstance(event, Score)]
    assert [event.what for event in events if isinstance(event, Measuring)] == ["controls", "true", "own"]
    assert [score.name for score in scores[::2]] == ["recorded, others", "recorded, jittered", "constant velocity", "true", "own"]
    text = markdown(scores)
    assert text.count("| true |") == 2
    assert text.count("**held out**") == 1
    true = next(score for score in scores if score.name == "true")
    assert words(true.values["speed"]) == "0.00 [0.00, 0.00]"
    assert true.values["one error"].value == pytest.approx(0.0, abs=0.05)
    assert "told apart" not in true.values
    assert words(None) == "-"
    assert write(scores, tmp_path).read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "crowds.json").is_file()


def test_each_scene_is_left_out_once_and_has_no_say_in_what_is_found_for_it(recorded, tmp_path):
    events = list(leave_one_out(calibration(4), recorded, tmp_path))
    found = {event.scene: event for event in events if isinstance(event, Calibrated)}
    assert list(found) == ["here", "there"]
    assert [(event.scene, event.done) for event in events if isinstance(event, Fitted)] == [
        (scene, done) for scene in ("here", "there") for done in (1, 2, 3, 4)
    ]
    alone = calibrated(calibration(4), Recorded([one for one in recorded.cut if one.scene == "there"], 10), tmp_path / "alone")
    assert found["here"] == dataclasses.replace(alone, scene="here")
    assert each(calibration(4), recorded, tmp_path, resume=True) == found


def test_a_calibration_is_stopped_from_another_thread_and_resumed_to_the_same_result(found, recorded, tmp_path):
    def begun(token):
        return calibrate(calibration(), recorded, tmp_path, token=token)

    said, told = stopped(begun, lambda told: len(told) == 5)
    assert said == f"stopped: finished trials are kept in {tmp_path}; repeat the calibration with resume to continue"
    assert [event.trial for event in told] == found.trials[:5]
    assert calibrated(calibration(), recorded, tmp_path, resume=True) == found


def test_a_table_is_stopped_from_another_thread_before_the_next_crowd(instrument):
    crowds = {"true": SimulatedCrowd(TRUE), "own": SimulatedCrowd(Helbing())}
    _, told = stopped(lambda token: score_all(crowds, instrument, token), lambda told: told[-1] == Measuring("true"))
    assert [event.what for event in told if isinstance(event, Measuring)] == ["controls", "true"]
    assert {event.name for event in told if isinstance(event, Score)} == {
        "recorded, others",
        "recorded, jittered",
        "constant velocity",
    }


def test_a_forest_is_asked_about_no_scene_that_it_has_seen(recorded, monkeypatch):
    pytest.importorskip("sklearn")
    asked, scene_of = [], {id(f): s.scene for s, f in zip(recorded.cut, recorded.features, strict=True)}

    def judge(training, test, **how):
        asked.append([{scene_of[id(rows)] for rows in crowd[0]} for crowd in (training, test)])
        return np.ones((1, 2)), np.ones((1, 2))

    monkeypatch.setattr("agora.validation.scores.judge", judge)
    score = Instrument({"all": recorded}).score("true", SimulatedCrowd(TRUE))[0]
    assert asked == [[{"there"}, {"here"}], [{"here"}, {"there"}]]
    assert set(score.scenes) == {"here", "there"}
    assert "| told apart | here | there |" in markdown([score])
    asked.clear()
    Instrument({"all": recorded}, tested=("there",)).score("true", SimulatedCrowd(TRUE))
    assert asked == [[set(), {"here"}], [{"here"}, {"there"}]]


def test_a_crowd_for_each_scene_is_measured_in_its_own(recorded, instrument):
    both = instrument.score("both", {"here": SimulatedCrowd(TRUE), "there": SimulatedCrowd(TRUE)})[0]
    assert both == dataclasses.replace(instrument.score("one", SimulatedCrowd(TRUE))[0], name="both")
    other = instrument.score("both", {"here": SimulatedCrowd(TRUE), "there": SimulatedCrowd(Helbing())})[0]
    assert other.values["crowd error"].value > both.values["crowd error"].value
