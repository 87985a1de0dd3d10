"""A request is a value that is checked when it is made; a run tells what happens, and stops when it is asked to."""

from __future__ import annotations

import dataclasses
import pickle
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.naughty import Naughty
from tests.suites import plane

from agora.benchmark.bench import bench, describe, run_all
from agora.benchmark.events import Advanced, GivenUp, Kept
from agora.benchmark.executors.in_process import InProcess
from agora.benchmark.request import Options, Request
from agora.benchmark.request_form import RequestForm
from agora.benchmark.results import store
from agora.benchmark.results.run_folder import RunFolder
from agora.benchmark.stop_token import StopToken
from agora.config import build, plain
from agora.errors import InputError, ResultsError, StoppedError
from agora.interfaces import Answer, Declaration
from agora.planners.presets import named_planner
from agora.registry import Named

CIRCLE = {"circle": Named("naughty", Naughty())}
ONE_BY_ONE = Options(workers=0, batch=1)


@dataclass(frozen=True)
class Asks:
    """Stands, and asks a run to stop in its third call."""

    token: ClassVar[StopToken]
    calls: ClassVar[list[int]]
    declares: ClassVar[Declaration] = Declaration()

    def act(self, observation: Any, memory: Any) -> Answer:
        """Stand."""
        self.calls.append(len(self.calls))
        if len(self.calls) == 3:
            self.token.stop()
        return Answer([[0.0, 0.0, 0.0]] * len(observation.goal), memory)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"planners": {}}, "no planner given"),
        ({"planners": {"": Named("naughty", Naughty())}}, "planner '': expected a label"),
        ({"planners": {"a/b": Named("naughty", Naughty())}}, "planner 'a/b': expected a label"),
        ({"pedestrians": ("thruth",)}, "pedestrians: expected truth, view, visible, tracked, camera, got 'thruth'"),
    ],
)
def test_a_wrong_request_is_refused_when_it_is_made(tmp_path, fields, message):
    with pytest.raises(InputError, match=message):
        Request(**{"suite": plane(), "planners": CIRCLE, "folder": tmp_path} | fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"workers": -1}, "workers: expected an integer of at least 0, got -1"),
        ({"batch": 0}, "batch: expected an integer of at least 1, got 0"),
        ({"threads": 0}, "threads: expected an integer of at least 1"),
        ({"trajectories": "some"}, "trajectories: expected one of all, failed, none, got 'some'"),
    ],
)
@pytest.mark.parametrize("kind", [Options, lambda **fields: RequestForm("demo", **fields)])
def test_wrong_options_are_named_in_a_program_and_in_a_form(kind, fields, message):
    with pytest.raises(InputError, match=message):
        kind(**fields)


def test_a_form_names_its_field_where_a_text_is_wrong():
    for fields, message in (
        ({"simulator": "nativ"}, "simulator: .*did you mean 'native'"),
        ({"executor": "processes:worker=2"}, "executor: worker: .*did you mean 'workers'"),
        ({"pedestrians": ("all",)}, "pedestrians: expected truth"),
    ):
        with pytest.raises(InputError, match=message):
            RequestForm("demo", **fields)


def test_a_request_and_its_form_cannot_be_changed(tmp_path):
    for value, field in ((RequestForm("demo"), "suite"), (Request(plane(), CIRCLE, tmp_path), "folder")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field, "another")


def test_a_form_is_plain_data_and_makes_the_request_of_its_texts(tmp_path):
    texts = ("orca", "pure_pursuit:speed=0.7")
    form = RequestForm(
        "demo",
        texts,
        output=tmp_path / "run",
        seed=9,
        pedestrians=("truth", "view"),
        executor="in_process",
        batch=3,
        record=("scan",),
    )
    assert build(plain(form), RequestForm) == form
    request = form.request()
    assert (request.suite.name, request.suite.seed, request.folder) == ("demo", 9, tmp_path / "run")
    assert request.planners == dict(named_planner(text) for text in texts)
    assert request.options.batch == 3 and request.options.runs == InProcess() and request.options.record == ("scan",)
    assert list(request.levels.values()) == ["truth", "view"] * 2 and request.episodes == 4 * len(request.suite.entries())


CHANGED: dict[str, Any] = {
    "suite": "single_pedestrian",
    "planners": ("orca",),
    "interplanner": "polite",
    "output": Path("elsewhere"),
    "resume": True,
    "add": True,
    "stages": ("hall",),
    "episodes": 2,
    "seed": 99,
    "simulator": "mujoco",
    "pedestrians": ("truth",),
    "counterfactual": True,
    "control": False,
    "executor": "in_process",
    "workers": 3,
    "threads": 2,
    "batch": 5,
    "trajectories": "none",
    "record": ("scan",),
}


@pytest.mark.parametrize("field", CHANGED)
def test_every_field_of_a_form_changes_the_request_or_its_record(field, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert set(CHANGED) == {each.name for each in dataclasses.fields(RequestForm)}
    form = RequestForm("demo", ("dwa",))

    def asked(form: RequestForm) -> tuple[Any, ...]:
        request = form.request()
        return describe(request), request.options, request.folder, request.resume

    if field == "add":  # to a run that is there
        with pytest.raises(ResultsError, match="demo"):
            dataclasses.replace(form, add=True).request()
    else:
        assert asked(dataclasses.replace(form, **{field: CHANGED[field]})) != asked(form)


def test_an_interplanner_that_no_planner_takes_is_refused():
    with pytest.raises(InputError, match="interplanner: has no effect, because every planner specifies its own"):
        RequestForm("demo", ("dwa+polite", "teb+meta"), interplanner="bypass").request()
    assert "teb+bypass" not in RequestForm("demo", ("dwa+polite", "teb"), interplanner="meta", control=False).request().planners


@pytest.mark.parametrize(
    ("planner", "more", "message"),
    [
        (
            "dwa",
            {"pedestrians": ("camera",)},
            "stage 'hall', planner 'dwa@camera', robot 'jackal': pedestrians: camera needs a robot with a camera; choose one of: ",
        ),
        ("pure_pursuit", {"pedestrians": ("tracked",)}, "pedestrians: has no effect, because none of the planners receives"),
    ],
)
def test_a_sensor_that_is_missing_is_said_before_a_run_begins(planner, more, message, tmp_path):
    request = RequestForm("demo", (planner,), output=tmp_path / "run", control=False, **more).request()
    with pytest.raises(InputError, match=message):
        next(bench(request))
    assert not (tmp_path / "run").exists()


def test_a_robot_without_a_lidar_is_refused_by_the_planners_and_levels_that_need_one(tmp_path):
    suite = plane()
    blind = dataclasses.replace(suite.stages[0], robot="crowdnav")
    for planner, more in (("orca", {"pedestrians": ("tracked",)}), ("circle", {"options": Options(record=("scan",))})):
        planners = CIRCLE if planner == "circle" else dict([named_planner(planner)])
        request = Request(dataclasses.replace(suite, stages=(blind,)), planners, tmp_path / "run", **more)
        with pytest.raises(InputError, match="robot 'crowdnav': .*robots have none|record: the robots do not have scan"):
            next(bench(request))


def test_a_form_without_planners_takes_all_and_the_blind_control_only_where_nobody_is_blind(tmp_path):
    assert list(RequestForm("demo", ("orca",)).request().planners) == ["orca", "pure_pursuit"]
    assert list(RequestForm("demo", ("orca",), control=False).request().planners) == ["orca"]
    assert {"dwa", "orca", "pure_pursuit"} <= set(RequestForm("demo").request().planners)


def test_a_run_tells_what_happens_in_order_and_does_nothing_before_it_is_asked(tmp_path):
    events = bench(Request(plane(episodes=3), CIRCLE, tmp_path / "run", ONE_BY_ONE))
    assert not (tmp_path / "run").exists()
    assert next(events) == Advanced(0, 3)
    seen = []
    for event in events:
        seen.append(event)
        if isinstance(event, Kept):
            path = tmp_path / "run" / "episodes" / f"{event.shard}.parquet"
            assert [row["episode"] for row in store.read_rows(path)] == list(event.episodes)
    assert [event.episodes for event in seen if isinstance(event, Kept)] == [(0,), (1,), (2,)]
    assert {(event.stage, event.planner) for event in seen if isinstance(event, Kept)} == {("plane", "circle")}
    assert [event.done for event in seen if isinstance(event, Advanced)] == [1, 2, 3]


def test_an_episode_that_is_given_up_is_told_with_its_reason_and_listed_at_once(tmp_path):
    for event in bench(Request(plane(episodes=2), {"naughty": Named("naughty", Broken())}, tmp_path, ONE_BY_ONE)):
        if isinstance(event, GivenUp):
            key = f"plain/plane/{event.episode}/naughty/0"
            assert "declares on purpose" in event.reason and RunFolder.read(tmp_path).interrupted()[key] == event.reason
    assert len(RunFolder.read(tmp_path).interrupted()) == 2


@dataclass(frozen=True)
class Broken:
    """Cannot say what it reads once a run has begun."""

    @property
    def declares(self) -> Declaration:
        """Nothing that helps."""
        raise RuntimeError("declares on purpose")

    def act(self, observation: Any, memory: Any) -> Answer:
        """Never called."""
        raise NotImplementedError


def test_a_token_stops_a_run_in_this_process_before_the_next_call_and_the_run_goes_on_later(tmp_path):
    Asks.token, Asks.calls = StopToken(), []
    request = Request(plane(episodes=2), {"asks": Named("asks", Asks())}, tmp_path / "run", ONE_BY_ONE)
    with pytest.raises(StoppedError, match=r"stopped: 0 of 2 episodes are finished and kept in .*run; .* with resume to continue"):
        list(bench(request, Asks.token))
    assert len(Asks.calls) == 3
    assert len(run_all(dataclasses.replace(request, resume=True))) == 2


def test_a_token_that_was_asked_before_lets_nothing_begin(tmp_path):
    token = StopToken()
    token.stop()
    with pytest.raises(StoppedError, match="no episode was started"):
        list(bench(Request(plane(), CIRCLE, tmp_path / "run", ONE_BY_ONE), token))
    assert list(tmp_path.iterdir()) == []


def test_a_run_in_another_thread_whose_planner_hangs_in_a_worker_is_stopped_from_here(tmp_path):
    token, begun, said = StopToken(), threading.Event(), []
    hangs = {"hangs": Named("naughty", Naughty("hangs", beyond=-99.0))}
    request = Request(plane(episodes=2), hangs, tmp_path / "run", Options(workers=1, deadline=1e5))

    def run():
        try:
            for _ in bench(request, token):
                begun.set()
        except StoppedError as stopped:
            said.append(str(stopped))

    thread = threading.Thread(target=run)
    thread.start()
    assert begun.wait(120.0)
    token.stop()
    thread.join(120.0)
    assert not thread.is_alive() and "0 of 2 episodes are finished" in said[0]


def test_a_run_whose_iterator_is_closed_is_stopped_and_its_folder_is_free(tmp_path):
    request = Request(plane(episodes=3), CIRCLE, tmp_path, ONE_BY_ONE)
    events = bench(request)
    assert not isinstance(next(events), Kept)
    while not isinstance(next(events), Kept):
        pass
    with pytest.raises(ResultsError, match="another run is using it"):
        run_all(request)
    events.close()
    assert list(events) == [] and len(store.read_rows(tmp_path / "episodes")) == 1
    again = list(bench(dataclasses.replace(request, resume=True)))
    assert [event for event in again if isinstance(event, Advanced)] == [Advanced(1, 3), Advanced(2, 3), Advanced(3, 3)]


def test_a_token_stays_in_its_process():
    token = StopToken()
    token.stop()
    pickle.loads(pickle.dumps(token)).check()
    with pytest.raises(StoppedError):
        token.check()
