"""Robots with sensors of their own: lidars that differ, sensors from outside, readings that are recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.starts import DISC, people, start

from agora.benchmark.results import recording_shards
from agora.core.recording import Recording
from agora.engine.observers import recordable_channels
from agora.episode import Batch, Conditions, Episodes
from agora.errors import InputError, UnknownNameError
from agora.interfaces import Answer, Bound, Declaration, Field, Source
from agora.maps.grid import Map
from agora.optics.lidar import Lidar
from agora.pedestrians.models.waypoint import Waypoint
from agora.planners.presets import named_planner
from agora.registry import Named
from agora.testing import ContractError, check_channel, check_planner
from agora.wire import message

WALL = Map.from_shapes(bounds=(-9.0, -7.0, 12.0, 8.0), segments=[[6.0, -5.0, 6.5, 5.0]], name="wall")
PARTED = Map.from_shapes(
    bounds=(-9.0, -7.0, 12.0, 8.0),
    segments=[[-3.0, -0.3, 1.5, -0.3], [-0.15, 0.0, -0.15, 0.6], [6.0, -5.0, 6.5, 5.0]],
    name="parted",
)
"""Two robots that stand together do not see each other; a wall is close behind the second."""
NARROW, WIDE = Lidar(beams=41, angle_min=-0.4, angle_max=0.5, range_max=5.0), Lidar(beams=180, x=0.1, heading=0.2, range_max=9.0)


@dataclass(frozen=True)
class Compass:
    """The turn of the robot from a bearing, and its place.

    Attributes:
        north: the bearing, rad.
    """

    channel: ClassVar[str] = "compass"
    needs: ClassVar[tuple[str, ...]] = ()
    north: float = 0.3

    @property
    def fields(self) -> dict[str, Field]:
        turn = Field((), "rad", low=-7.0, high=7.0)
        return {"turn": turn, "place": Field((2,), "m", "map", low=-99.0, high=99.0)}

    def bind(self, source: Source) -> Bound:
        out = source.room(self.fields)

        def measure(first: int, last: int) -> None:
            now = source.world.robots
            out["turn"][first:last] = now.heading[first:last] - np.float32(self.north)
            out["place"][first:last] = np.stack([now.x, now.y], -1)[first:last]

        return Bound(out, measure)


@dataclass(frozen=True)
class Watches:
    """Turns as the compass says, and keeps what it saw."""

    seen: Any
    declares: ClassVar[Declaration] = Declaration(needs=("scan", Compass()))

    def act(self, observation: Any, memory: Any) -> Answer:
        self.seen.append((observation.scan.copy(), {k: v.copy() for k, v in observation.sensors["compass"].items()}))
        twists = np.zeros((len(observation.pose), 3), np.float32)
        twists[:, 0], twists[:, 2] = 0.4, -0.5 * observation.sensors["compass"]["turn"]
        return Answer(twists)


def together(*lidars: Lidar | None, sensors: Any = (), place: Map = WALL) -> Any:
    """One episode of robots that stand beside each other, each with its own lidar."""
    crowd = people([(2.0, 1.0)], [(2.0, -3.0)], speed=0.4)
    begun = start(pose=(0.0, 0.0, 0.2), goal=(9.0, 3.0, 0.0), crowd=crowd, place=place, timeout=3.0)
    robots = [
        replace(
            begun.robots[0],
            model=replace(DISC, lidar=lidar, sensors=tuple(sensors)),
            pose=np.array([0.3 * k, 1.4 * k - 1.0, 0.2 + 0.3 * k]),
        )
        for k, lidar in enumerate(lidars)
    ]
    return replace(begun, robots=tuple(robots))


def test_every_robot_scans_with_its_own_lidar():
    batch = Batch([together(NARROW, WIDE, NARROW)], Conditions(), ("scan",), 1)
    batch.begin(0, 0)
    batch.look()
    narrow, wide = batch.observers.observe()
    assert narrow.scan.shape[1] == 41 and wide.scan.shape[1] == 180 and wide.scan_range == 9.0
    for robot, (lidar, seen) in enumerate(((NARROW, narrow), (WIDE, wide), (NARROW, narrow))):
        alone = Batch([together(lidar, lidar, lidar)], Conditions(), ("scan",), 1)
        alone.begin(0, 0)
        alone.look()
        assert (alone.observer.observe().scan[robot] == seen.scan[robot]).all()


@pytest.mark.parametrize(
    "planner", ["dwa_scan+replan:lookahead=3.0", "pure_pursuit+polite:window=null", "pure_pursuit+meta:window=null"]
)
def test_a_robot_drives_the_same_beside_robots_with_other_lidars(planner):
    part, conditions = named_planner(planner)[1].part, Conditions(ends=0, crowd=Waypoint())
    starts = [together(NARROW, other, place=PARTED) for other in (WIDE, NARROW)]
    (_, mixed), (_, same) = (next(iter(Episodes([begun], part, conditions))) for begun in starts)
    assert (mixed[0].pose == same[0].pose).all() and (mixed[0].reason == same[0].reason).all()
    assert not np.array_equal(mixed[1].pose, same[1].pose)


def test_robots_whose_planners_remember_start_afresh_in_every_episode_whatever_their_lidars():
    part = named_planner("dwa_scan+replan:lookahead=3.0")[1].part
    starts = [together(NARROW, WIDE), together(NARROW, WIDE)]
    one, two = (recordings for _, recordings in sorted(Episodes(starts, part, Conditions(ends=0), worlds=1), key=lambda e: e[0]))
    for a, b in zip(one, two, strict=True):
        assert (a.pose == b.pose).all()


def test_a_robot_with_other_sensors_than_its_number_has_in_the_batch_is_refused():
    batch = Batch([together(NARROW), together(WIDE)], Conditions(), ("scan",), 2)
    batch.begin(0, 0)
    with pytest.raises(InputError, match="robot 0: disc has different sensors"):
        batch.begin(1, 1)


def test_where_no_scan_is_read_lidars_may_differ_from_episode_to_episode():
    part = named_planner("dwa")[1].part
    starts = [together(NARROW, None), together(WIDE, NARROW)]
    one, two = (recordings for _, recordings in sorted(Episodes(starts, part, Conditions(ends=0)), key=lambda e: e[0]))
    assert (one[0].pose == two[0].pose).all() and (one[1].pose == two[1].pose).all()


def test_a_sensor_is_read_at_the_sensor_period_and_recorded_where_asked_for(tmp_path):
    seen: list[Any] = []
    begun, conditions = together(WIDE, WIDE), Conditions(ends=0)
    ((_, recordings),) = Episodes([begun], Watches(seen), conditions, record=("scan",))
    for r, recording in enumerate(recordings):
        calls = len(recording.time) - 1
        assert recording.sensors.keys() == {"scan"}
        assert (recording.sensors["scan"]["ranges"] == np.stack([scan[r] for scan, _ in seen[:calls]])).all()
        turns = np.array([reading["turn"][r] for _, reading in seen[:calls]])
        assert turns == pytest.approx(recording.pose[:-1, 2] - 0.3, abs=1e-6)
        assert abs(turns[-1]) < abs(turns[0])
    recording_shards.write_recordings(tmp_path / "x.parquet", {"a": recordings[0], "b": replace(recordings[1], sensors={})})
    back = recording_shards.read_recordings(tmp_path / "x.parquet")
    assert (back["a"].sensors["scan"]["ranges"] == recordings[0].sensors["scan"]["ranges"]).all() and back["b"].sensors == {}
    told = message.decode(message.encode(recordings[0]), Recording)
    assert (told.sensors["scan"]["ranges"] == recordings[0].sensors["scan"]["ranges"]).all()


def test_what_is_recorded_changes_nothing_and_the_planner_is_not_told_of_it():
    part, conditions = named_planner("pure_pursuit+escort:role=follow")[1].part, Conditions(ends=0)
    (_, plain), (_, recorded) = (
        next(iter(Episodes([together(WIDE)], part, conditions, record=record))) for record in ((), ("scan",))
    )
    assert (plain[0].pose == recorded[0].pose).all()

    @dataclass(frozen=True)
    class Blind:
        declares: ClassVar[Declaration] = Declaration()

        def act(self, observation: Any, memory: Any) -> Answer:
            assert observation.scan is None and not observation.sensors
            return Answer(np.zeros((len(observation.pose), 3), np.float32))

    ((_, (blind,)),) = Episodes([together(WIDE)], Blind(), conditions, record=("scan",))
    assert blind.failure == "" and blind.sensors["scan"]["ranges"].shape == (len(blind.time) - 1, 180)


def test_a_robots_own_sensor_counts_where_the_planner_only_names_it(monkeypatch):
    own = Named("compass", Compass(north=1.0))
    monkeypatch.setattr("agora.engine.wiring.make", lambda kind, name: Compass(north=2.0))
    for needs, sensors, north in ((("compass",), [own], 1.0), (("compass",), [], 2.0), ((Compass(north=3.0),), [own], 3.0)):
        batch = Batch([together(WIDE, sensors=sensors)], Conditions(), needs, 1)
        batch.begin(0, 0)
        batch.look()
        assert batch.observer.observe().sensors["compass"]["turn"][0] == pytest.approx(0.2 - north, abs=1e-6)


def test_every_channel_can_be_recorded_and_no_other():
    assert recordable_channels(("scan", "costmap", "scan")) == ("scan", "costmap")
    with pytest.raises(UnknownNameError, match="no channel called 'scam'.*scan"):
        recordable_channels(("scam",))


def test_the_contract_of_channels():
    check_channel(Compass(), tolerance=7.0)
    check_planner(Watches([]), kinds=("differential",), within_limits=False, tolerance=7.0)

    @dataclass(frozen=True)
    class Loud(Compass):
        def bind(self, source: Source) -> Bound:
            quiet = super().bind(source)

            def louder(first: int, last: int) -> None:
                quiet.measure(first, last)
                quiet.reading["turn"][...] += 30.0

            return replace(quiet, measure=louder)

    with pytest.raises(ContractError, match="Loud: turn is between .* its field says -7 to 7"):
        check_channel(Loud())
    with pytest.raises(ContractError, match=r"Compass: turn: in the scene turned by 90 degrees 100% of the readings differ"):
        check_channel(Compass())

    @dataclass(frozen=True)
    class Greedy(Compass):
        def bind(self, source: Source) -> Bound:
            mine = super().bind(source)
            return replace(mine, measure=lambda first, last: mine.measure(0, source.world.layout.worlds))

    with pytest.raises(ContractError, match=r"Greedy: worlds affect each other: turn differs if only world 0 is measured"):
        check_channel(Greedy())
