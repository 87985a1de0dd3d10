"""Channels that are made of others, that a simulator measures, and the library's own: those of the manual's page, and how they are
wired."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.starts import DISC, people, start
from tests.test_docs import ROOT, blocks

from agora.benchmark.results import recording_shards
from agora.channels.pedestrians import KnownPedestrians
from agora.channels.scan import Scan
from agora.core.recording import Recording
from agora.costmap.window import Window
from agora.engine.wiring import Wiring
from agora.episode import Batch, Conditions, Episodes
from agora.errors import InputError, UnknownNameError
from agora.interfaces import Bound, Field, Setting
from agora.maps.grid import Map
from agora.node_logic.navigator import Navigator
from agora.optics.lidar import Lidar
from agora.pedestrians.models.waypoint import Waypoint
from agora.perception.perception import Perception
from agora.planners.local.go_to_goal import GoToGoal
from agora.planners.local.pure_pursuit import PurePursuit
from agora.registry import Named, available, make
from agora.testing import check_channel
from agora.wire.message import decode, encode

WALL = Map.from_shapes(segments=[(1.8, 0.25, 2.4, 1.6)], bounds=(-7.3, -4.1, 12.7, 9.9))
LIDAR = Lidar(beams=360, range_max=6.0, x=0.1, heading=0.2)
POSE = (0.3, -0.2, 0.3)
WALKERS = replace(
    people([(2.0, -0.9), (3.4, 1.2)], [(2.0, 7.0), (3.4, 9.0)], speed=0.8), velocity=np.array([(0.0, 0.8), (0.0, 0.8)])
)


@pytest.fixture(autouse=True)
def page(monkeypatch):
    """The channels of the manual's page, registered as it says."""
    for block in blocks(ROOT / "docs" / "how-to" / "add_a_sensor.md"):
        if block.file is not None and block.file.endswith(".py"):
            module = ModuleType(block.file.removesuffix(".py"))
            monkeypatch.setitem(sys.modules, module.__name__, module)
            exec(compile(block.text, block.file, "exec", dont_inherit=True), vars(module))
    for name, value in {"depth_row": "depth:DepthRow", "forecast": "forecast:Forecast", "painting": "painted:Painting"}.items():
        monkeypatch.setitem(available("channels"), name, EntryPoint(name, value, "agora.channels"))


def painted() -> Any:
    return Named("painted", sys.modules["painted"].Painted()).part


def batch(needs, level="truth", crowd=WALKERS, **conditions):
    told = Conditions(lidar=LIDAR, perception=Perception(level), crowd=Waypoint(), ends=0, **conditions)
    made = Batch([start(pose=POSE, crowd=crowd, place=WALL, timeout=3.0)], told, needs, 1)
    made.begin(0, 0)
    made.look()
    return made


def seen(made, channel):
    return {name: values[0] for name, values in made.observer.observe().sensors[channel].items()}


def in_map(place):
    """Places (..., 2) in the robot's frame, in the map's."""
    c, s = np.cos(POSE[2]), np.sin(POSE[2])
    return np.stack([c * place[..., 0] - s * place[..., 1], s * place[..., 0] + c * place[..., 1]], -1) + POSE[:2]


def test_a_forecast_is_where_those_who_walk_straight_on_are_at_each_of_its_moments():
    made = batch(("forecast",))
    reading = seen(made, "forecast")
    assert reading["there"].tolist() == [True, True, False] and reading["there"].dtype == np.bool_
    assert not reading["place"][2].any()
    for step in range(5):
        for _ in range(4):
            made.advance()
        now = made.world.pedestrians
        there = np.stack([now.x[0, :2], now.y[0, :2]], -1)
        assert in_map(reading["place"][:2, step]) == pytest.approx(there, abs=2e-3)


def test_a_forecast_knows_of_those_alone_whom_the_robot_knows_of():
    made = batch(("forecast",), "tracked")
    assert not seen(made, "forecast")["there"].any()
    for _ in range(8):
        made.advance()
        made.look()
    reading = seen(made, "forecast")
    assert reading["there"].tolist() == [True, False, False]  # the other is behind the wall
    now = made.world.pedestrians
    ahead = np.array([now.x[0, 0], now.y[0, 0] + 0.4 * 0.8])
    assert in_map(reading["place"][0, 0]) == pytest.approx(ahead, abs=0.15)
    assert not seen(batch(("forecast",), "view", crowd=None), "forecast")["there"].any()


def test_a_painting_shows_what_its_simulator_paints_and_is_refused_elsewhere():
    image = seen(batch(("painting",), simulator=painted()), "painting")["image"]
    assert image.dtype == np.uint8 and image.shape == (12, 16, 3)
    red = (image == (200, 30, 30)).all(-1)
    bearings = np.arctan2([-0.7, 1.4], [1.7, 3.1]) - POSE[2]
    columns = ((0.75 - bearings) / 1.5 * 16).astype(int)
    assert red[:, columns].all() and not red[:, [0, 10]].any()
    with pytest.raises(InputError, match="channel painting: the simulator does not provide it"):
        batch(("painting",))


def test_what_channels_read_is_recorded_in_their_own_types_and_keeps_them_in_files_and_on_the_wire(tmp_path):
    names = ("forecast", "painting", "pedestrians", "costmap", "scan", "path")
    conditions = Conditions(
        lidar=LIDAR, crowd=Waypoint(), ends=0, replan=0.3, simulator=painted(), perception=Perception("tracked")
    )
    begun = start(pose=POSE, goal=(9.0, 3.0, 0.0), crowd=WALKERS, place=WALL, timeout=1.5)
    told: list[Any] = []

    @dataclass(frozen=True)
    class Looks(PurePursuit):
        @property
        def declares(self):
            return replace(super().declares, needs=("path", "pedestrians", "forecast", Window(size=2.0)))

        def plan(self, observation, memory):
            told.append((observation.pedestrians.present.copy(), observation.costmap.cost.copy(), observation.path.copy()))
            return super().plan(observation, memory)

    ((_, (recording,)),) = Episodes([begun], Looks(), conditions, record=names)
    calls = len(recording.time) - 1
    assert recording.failure == "" and set(recording.sensors) == set(names) and len(told) == calls > 10
    for k, (present, cost, path) in enumerate(told):
        assert (recording.sensors["pedestrians"]["present"][k] == present).all()
        assert (recording.sensors["costmap"]["cost"][k] == cost).all()
        assert (recording.sensors["path"]["path"][k, : len(path)] == path).all()
    kinds = {(name, key): array.dtype for name, reading in recording.sensors.items() for key, array in reading.items()}
    assert kinds["forecast", "there"] == kinds["pedestrians", "present"] == np.bool_
    assert kinds["painting", "image"] == kinds["costmap", "cost"] == np.uint8
    assert kinds["pedestrians", "id"] == kinds["path", "path_count"] == np.int32 and kinds["scan", "ranges"] == np.float32
    recording_shards.write_recordings(tmp_path / "x.parquet", {"a": recording, "b": replace(recording, sensors={})})
    back = recording_shards.read_recordings(tmp_path / "x.parquet")
    assert back["b"].sensors == {}
    for other in (back["a"], decode(encode(recording), Recording)):
        for name, reading in recording.sensors.items():
            for key, array in reading.items():
                same = other.sensors[name][key]
                assert same.dtype == array.dtype and (same == array).all(), (name, key)


def test_a_planner_is_not_told_of_what_is_recorded_and_drives_the_same():
    begun = start(pose=POSE, goal=(9.0, 3.0, 0.0), crowd=WALKERS, place=WALL, timeout=1.5)
    conditions = Conditions(lidar=LIDAR, crowd=Waypoint(), ends=0)
    (_, (plain,)), (_, (kept,)) = (
        next(iter(Episodes([begun], GoToGoal(), conditions, record=record))) for record in ((), ("costmap", "path", "forecast"))
    )
    assert (plain.pose == kept.pose).all() and plain.sensors == {} and kept.sensors["path"]["path_count"].min() > 1


@dataclass(frozen=True)
class Made:
    """Says its number, and the sum of those that it is made of.

    Attributes:
        number: its own.
        of: what it is made of.
    """

    number: int = 1
    of: tuple[Any, ...] = ()
    channel: ClassVar[str] = "made"

    @property
    def needs(self):
        return self.of

    @property
    def fields(self):
        return {"sum": Field((), low=0.0, high=99.0)}

    def bind(self, source):
        out = source.room(self.fields)

        def read(first, last):
            out["sum"][first:last] = self.number + sum(reading["sum"][first:last] for reading in source.readings.values())

        return Bound(out, read=read)


@dataclass(frozen=True)
class Other(Made):
    """The same under another name."""

    channel: ClassVar[str] = "other"


def test_a_channel_comes_after_all_that_it_needs_and_is_bound_once():
    shared = Other(4)
    top = Made(1, (replace(shared, of=(Made(2, (shared,)),)),))
    wiring = Wiring.of((top, shared))
    order = [(one.channel, one.number) for one, _ in wiring.order]
    assert order.index(("other", 4)) < order.index(("made", 2)) < order.index(("made", 1)) and len(order) == 4
    made = batch((top, shared))
    assert seen(made, "made")["sum"] == 1 + 4 + 2 + 4 and seen(made, "other")["sum"] == 4


def test_a_channel_that_is_only_named_is_the_planners_own_then_the_robots_then_the_registered_one():
    @dataclass(frozen=True)
    class Needs(Made):
        @property
        def needs(self):
            return ("forecast",)

    ours, robots = sys.modules["forecast"].Forecast(nearest=1), sys.modules["forecast"].Forecast(nearest=2)
    for needs, own, nearest in (((ours,), {"forecast": robots}, 1), ((), {"forecast": robots}, 2), ((), {}, 3)):
        wiring = Wiring.of((*needs, Needs()), Setting(own=own))
        assert [one.nearest for one, _ in wiring.order if one.channel == "forecast"] == [nearest]


def test_channels_that_need_each_other_and_those_that_are_not_there_are_refused_with_their_names():
    @dataclass(frozen=True)
    class Egg(Made):
        channel: ClassVar[str] = "egg"

        @property
        def needs(self):
            return (Hen(),)

    @dataclass(frozen=True)
    class Hen(Made):
        channel: ClassVar[str] = "hen"

        @property
        def needs(self):
            return (Egg(),)

    with pytest.raises(InputError, match="circular dependency between channels: egg -> hen -> egg"):
        Wiring.of((Egg(),))
    with pytest.raises(UnknownNameError, match="no channel called 'forcast'.*forecast"):
        Wiring.of((Made(of=("forcast",)),))


def test_robots_differ_by_what_is_read_of_them_alone():
    assert Wiring.of(("path", "robots"), Setting(LIDAR)) == Wiring.of(("path", "robots"), Setting(None))
    assert Wiring.of(("scan",), Setting(LIDAR)) != Wiring.of(("scan",), Setting(None))
    tracked = Perception("tracked")
    other = replace(LIDAR, x=LIDAR.x + 0.1)
    assert Wiring.of(("forecast",), Setting(LIDAR, perception=tracked)) != Wiring.of(
        ("forecast",), Setting(other, perception=tracked)
    )


@pytest.mark.parametrize("channel", [Scan(), KnownPedestrians()], ids=lambda one: one.channel)
def test_the_librarys_channels_that_are_no_rasters_keep_the_contract(channel):
    check_channel(channel)


def test_those_of_the_page_keep_the_contract():
    check_channel(make("channels", "forecast"))
    check_channel(make("channels", "painting"), simulator=painted())


def test_robots_that_are_driven_from_outside_read_what_is_made_of_what_they_are_told():
    begun = start(pose=POSE, goal=(9.0, 3.0, 0.0), crowd=WALKERS, model=replace(DISC, lidar=LIDAR))
    conditions = Conditions(perception=Perception("truth"))
    navigator = Navigator(begun, conditions, sys.modules["forecast"].Foresighted())
    assert navigator.reads_pedestrians
    navigator.observed(0.0)
    decision = navigator.decide(0.0, 0, np.ones(1, np.bool_))
    assert decision.failures == {} and decision.twists[0, 0] > 0.0
    for name, planner in (("depth_row", "depth.Careful"), ("painting", "painted.Shy")):
        module, _, part = planner.partition(".")
        with pytest.raises(InputError, match=rf"channel {name}: .*topic|channel {name}: the simulator"):
            Navigator(begun, conditions, getattr(sys.modules[module], part)())
