"""Messages of a wire come back to the bit; anything else is refused in one line."""

from __future__ import annotations

import dataclasses
import io
import json

import numpy as np
import pytest
from safetensors.numpy import load, save

from agora.channels.scan import Scan
from agora.core.recording import Closing, Contact, ContactKind, Outcome, Recording
from agora.errors import InputError
from agora.maps.doors import Door, with_door
from agora.maps.furniture import Furniture
from agora.maps.grid import Map
from agora.testing import observation
from agora.testing.recordings import recording
from agora.wire.episode import Episode
from agora.wire.message import decode, encode, pack, unpack, version_of
from agora.wire.plain import from_plain, to_plain
from agora.wire.question import Hello, Question, Reply
from agora.wire.snapshot import Snapshot
from agora.wire.stream import frame, read
from agora.world.start import Habits, RobotStart, Start, Thing
from agora.world.trajectories import Trajectories
from agora.world.world import World
from recordings import crowded
from starts import people, start
from suites import suite, write_world


def same(a, b, path=""):
    """Make sure that two values are alike in everything."""
    assert type(a) is type(b), path
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(), path
    elif isinstance(a, dict):
        assert list(a) == list(b), path
        for key in a:
            same(a[key], b[key], f"{path}.{key}")
    elif dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            same(getattr(a, field.name), getattr(b, field.name), f"{path}.{field.name}")
    elif isinstance(a, tuple | list):
        assert len(a) == len(b), path
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            same(x, y, f"{path}[{k}]")
    else:
        assert a == b, path


def lift() -> Map:
    """A crooked place with everything that a map can have, and a door that moves."""
    occupied = np.zeros((7, 12), bool)
    occupied[0, 2:5] = True
    unknown = np.zeros((7, 12), bool)
    unknown[6, 3] = True
    shapes = {"segments": [[0.1, 0.2, 1.3, -0.4]], "discs": [[0.5, 0.5, 0.2]], "polygons": (np.array([[0, 0], [1, 0], [0.3, 1]]),)}
    place = Map("lift", 0.3, (-1.7, 2.9), occupied, unknown, offset=(1000.5, -2000.25), **shapes)
    return with_door(place, Door(np.array([[0.2, 3.0], [1.3, 3.4]]), opens=1.5))


def walked() -> Trajectories:
    return Trajectories.of_rows([0.0, 0.7, 1.5, 0.2, 1.1], [5, 5, 5, 9, 9], [0.0, 0.4, 0.9, 2.0, 1.7], [3.0, 3.1, 3.3, 4.0, 4.2])


def alone() -> Start:
    return start()


def among() -> Start:
    """Two robots, a pedestrian with habits, replayed ones, a door, furniture."""
    one = people([[1.0, 3.5]], [[[2.0, 4.0], [0.5, 3.3]]])
    crowd = dataclasses.replace(one, habits=(Habits(chat_probability=0.25, wait_time=1.5),), waits=np.array([[0.5, 2.0]]))
    made = start(crowd=crowd, place=lift(), replay=walked(), replay_phase=np.array([0.0, 0.4]), heading_tolerance=0.7)
    second = RobotStart(
        made.robots[0].model, np.array([1.0, 2.9, -2.2]), np.array([[0, 3, 1.0], [1, 4, 2.0]]), np.array([1.2, 1.5])
    )
    shelf = Furniture("shelf", 0.4, 3.1, 0.3)
    things = {"things": (Thing("S_shelf_1", "static", shelf),), "furniture": (shelf,), "names": ("D_1",), "looks": ("actor1",)}
    return dataclasses.replace(made, robots=(*made.robots, second), reference_path=7.25, **things)


def nobody_s_way() -> Recording:
    """A recording without pedestrians whose goal cannot be reached."""
    return dataclasses.replace(recording(seed=2, pedestrians=0, outcome=Outcome.TIMEOUT), shortest_path=float("inf"))


def touched() -> Recording:
    contact = Contact(0.2, ContactKind.PEDESTRIAN, 7, 1.0, 5.0, Closing(0.31, -0.02, standing=False))
    made = recording(seed=4, pedestrians=3, outcome=Outcome.PEDESTRIAN_COLLISION)
    return dataclasses.replace(made, contacts=(contact,), map=lift(), door=np.linspace(0.0, 1.0, len(made.time)), failure="ö\n")


def greeting() -> Hello:
    return Hello(needs=("path", {"name": "costmap", "window": {"size": 4.0}}), notes=("reason",), top_speed=0.7, deadline=0.5)


def asked() -> Question:
    """A question with everything that an observation can hold, and with the memory of a planner in a planner."""
    seen = observation(3, 4, corners=4, sensors=(Scan(),))
    return Question(seen, {"steps": np.arange(3), "planner": {"place": np.ones((3, 2), np.float32)}})


def said() -> Reply:
    return Reply(np.ones((2, 3), np.float32), {"steps": np.arange(2)}, {"reason": np.zeros(2, np.int8)}, number=7)


@pytest.mark.parametrize(
    "make", [lift, alone, among, nobody_s_way, touched, lambda: crowded(np.arange(9) * 0.1, 1), greeting, asked, said]
)
def test_a_record_comes_back_to_the_bit(make):
    here = make()
    data = encode(here)
    same(here, decode(data, type(here)))
    assert encode(here) == data


def test_an_episode_and_its_conditions_come_back(tmp_path):
    small = suite(write_world(tmp_path / "room"), episodes=2)
    here = Episode(3, small.start("orca", 1), small.stage("orca"))
    there = decode(encode(here), Episode)
    same(here.start, there.start)
    assert there.number == 3 and there.stage == here.stage


def moments(robots=1):
    first = alone()
    first = dataclasses.replace(
        first, robots=first.robots * robots, pedestrians=people([[1.0, 1.0], [2.0, 1.5]], [[[3.0, 3.0]]] * 2)
    )
    world = World.of([first], dt=0.02, worlds=2)
    world.reset(1, first)
    return world


@pytest.mark.parametrize("robots", [0, 1, 3])
def test_a_moment_is_that_of_the_world_and_can_be_put_into_another(robots):
    here = moments(robots)
    now = Snapshot.of(here.pedestrians, here.traits, here.minds, here.robots, ["a", "b", "c"][:robots], 7, 0.14, world=1)
    there = decode(encode(now), Snapshot)
    same(now, there)
    assert there.pedestrians.x.tolist() == [1.0, 2.0] and len(there.robots.x) == robots
    assert there.pedestrians.speed.tolist() == here.traits.speed[1, :2].tolist()
    other = moments(robots)
    there.pedestrians.put(other.pedestrians, other.traits, other.minds, 0)
    assert other.traits.count[0] == 2 and other.pedestrians.active[0, :3].tolist() == [True, True, False]
    if robots:
        there.robots.put(other.robots, 0)
        assert other.robots.x[0].tolist() == here.robots.x[1].tolist()


def test_a_stream_gives_its_messages_and_what_was_cut_is_left_out(tmp_path):
    small = suite(write_world(tmp_path / "room"), episodes=1)
    here = moments()
    now = Snapshot.of(here.pedestrians, here.traits, here.minds, here.robots, ["a"], 0, 0.0, world=1)
    data = frame(Episode(0, small.start("orca", 0), small.stage("orca"))) + frame(now) + frame(now)
    assert [type(each) for each in read(io.BytesIO(data))] == [Episode, Snapshot, Snapshot]
    assert [type(each) for each in read(io.BytesIO(data[:-1]))] == [Episode, Snapshot]
    wrong = encode(alone())
    with pytest.raises(InputError, match=r"stream: message 1: expected agora.episode or agora.snapshot, got agora.start"):
        list(read(io.BytesIO(frame(now) + len(wrong).to_bytes(4, "little") + wrong)))
    with pytest.raises(InputError, match="message 0 has 4294967295 bytes"):
        list(read(io.BytesIO(b"\xff" * 9)))


def changed(**at):
    """The plain data of a start with values of some keys changed; the path of a key has ``__`` in it, and None takes it away."""
    content = to_plain(among())
    for path, value in at.items():
        *way, last = path.split("__")
        part = content
        for key in way:
            part = part[int(key) if key.isdigit() else key]
        if value is None:
            del part[last]
        else:
            part[last] = value
    return content


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"timeout": None}, "timeout: expected a number, got nothing: the key is missing"),
        ({"time_out": 3.0}, "time_out: unknown key; did you mean 'timeout'?"),
        ({"seed": "5"}, "seed: expected an integer, got '5'; remove the quotes"),
        ({"timeout": float("nan")}, "timeout: expected a number"),
        ({"robots__1__pose": np.zeros(3, np.float32)}, r"robots\[1\].pose: expected an array of float64, got an array of float32"),
        ({"robots__1__pose": [0.0, 0.0, 0.0]}, r"robots\[1\].pose: expected an array of float64, got a list of 3"),
        ({"robots__1__goals": np.zeros((2, 2))}, r"robots\[1\].goals: expected an array \(G, 3\) with G = 2, got \(2, 2\)"),
        ({"pedestrians__speed": np.ones(2)}, r"pedestrians.speed: expected an array \(P,\) with P = 1, got \(2,\)"),
        ({"pedestrians__position": np.full((1, 2), np.nan)}, "pedestrians.position: expected numbers, got NaN"),
        ({"pedestrians__habits__0__wait_time": -1.0}, r"pedestrians.habits\[0\].wait_time: expected a number in"),
        ({"map__resolution": -0.3}, "map: resolution of map '.*': expected a number above 0"),
        (
            {"robots__0__model__kinematics": "diferential"},
            r"robots\[0\].model.kinematics: .*did you mean 'differential'",
        ),
        ({"things__0__kind": 3}, r"things\[0\].kind: expected one of static, interactive"),
    ],
)
def test_what_is_not_as_the_record_says_is_named_by_its_key(change, message):
    with pytest.raises(InputError, match=f"^wire: {message}"):
        from_plain(changed(**change), Start, "wire")


def test_an_outcome_that_is_none_is_refused():
    content = to_plain(touched()) | {"outcome": 7}
    with pytest.raises(InputError, match=r"outcome: expected one of 0 \(reached\), 101"):
        from_plain(content, Recording, "wire")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "expected an Agora message"),
        (b"\x80\x04\x95junk that somebody pickled", "expected an Agora message"),
        (save({"a": np.zeros(2)}), "expected an Agora message"),
        (save({"a": np.zeros(2)}, {"agora": "[" * 9000}), "expected an Agora message"),
        (save({"a": np.zeros(2)}, {"agora": '{"format": "agora.start", "version": 1, "content": NaN}'}), "an Agora message"),
        (pack("agora.start", version_of("agora.start") + 1, {}), "version 2 of agora.start; this Agora reads version 1"),
        (pack("agora.map", 1, {}), "expected the format agora.start, got agora.map"),
        (pack("agora.strat", 1, {}), "no format called 'agora.strat'; did you mean 'agora.start'"),
        (pack("agora.start", 1, {"entry": {"$array": "b"}}), "the array 'b' is not in the message"),
        (pack("agora.start", 1, {"entry": {"$number": "9"}}), "expected inf or -inf"),
        (pack("agora.start", True, {}), "an integer as version"),
        (encode(lift())[:-3], "expected an Agora message"),
    ],
)
def test_bytes_that_are_no_such_message_are_refused_in_a_line(data, message):
    with pytest.raises(InputError, match=message) as caught:
        decode(data, Start)
    assert "\n" not in str(caught.value)


def test_other_programs_read_a_message_as_safetensors_and_json():
    data = encode(among())
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    head = json.loads(header["__metadata__"]["agora"])
    assert (head["format"], head["version"]) == ("agora.start", 1)
    name = head["content"]["robots"][1]["pose"]["$array"]
    assert load(data)[name].tolist() == [1.0, 2.9, -2.2]
    assert unpack(data)[0] == "agora.start"


def test_what_no_wire_carries_is_refused():
    with pytest.raises(InputError, match="there is no format for a dict"):
        encode({})
    with pytest.raises(InputError, match="messages cannot contain a set"):
        to_plain({1, 2})
    with pytest.raises(InputError, match="a: messages cannot contain arrays of object"):
        pack("agora.start", 1, {"a": np.array([None])})
