"""A bag of ``rosbag record -a`` over several episodes of Agora's graph: a row each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from tests.suites import fingerprint

from agora.benchmark.exports.mcap import write_mcap_files
from agora.benchmark.external_results import write_played
from agora.datasets.bagfile import Bag
from agora.datasets.messages import from_episode
from agora.datasets.recorded import Unsaid, read_all
from agora.datasets.rosbag import read_episode
from agora.errors import InputError
from agora.wire.episode import Episode
from agora.wire.message import encode

BAG = Path(__file__).parent / "bags" / "two_robots.bag"
APART = 100  # s between the beginnings of two episodes


@pytest.fixture(scope="module")
def once():
    """The messages of one episode: topic, type's name, message and time, s; and the types."""
    store, known, messages = get_typestore(Stores.EMPTY), {}, []
    for message in Bag(BAG).messages():
        topic, kind, definition = message.connection
        name = kind.replace("/", "/msg/")
        known |= get_types_from_msg(definition, name)
        messages.append((topic, name, message))
    store.register(known)
    return SimpleNamespace(store=store, messages=messages)


def episode(once, number):
    """The messages of an episode, later than those of the one before: topic, name, message, time, ns."""
    for topic, name, message in once.messages:
        content = once.store.deserialize_ros1(message.data, name)
        if hasattr(content, "header"):
            content.header.stamp.sec += APART * number
        if hasattr(content, "entry"):
            content.number, content.entry = 7 + number, f"small/helbing/{number}"
        if hasattr(content, "resolved"):
            start, stage = from_episode(content)
            resolved = encode(Episode(content.number, replace(start, entry=content.entry), stage))
            content.resolved = np.frombuffer(resolved, np.uint8)
        if "parameters" not in topic:
            yield topic, name, content, message.nanoseconds + APART * number * 10**9


def write(path, once, messages):
    with Writer(path) as writer:
        topics = {}
        for topic, name, content, time in messages:
            if topic not in topics:
                topics[topic] = writer.add_connection(topic, name, typestore=once.store)
            writer.write(topics[topic], time, once.store.serialize_ros1(content, name))
    return path


def test_each_episode_of_a_bag_is_the_one_that_it_is_alone(once, tmp_path):
    path = write(tmp_path / "all.bag", once, [said for number in range(3) for said in episode(once, number)])
    episodes, alone = read_all([path], Unsaid()), read_episode(BAG)
    assert [p.entry for p in episodes] == [f"small/helbing/{number}" for number in range(3)]
    for played in episodes:
        assert played.interrupted == "" and played.notes == ()
        assert [fingerprint(r.recording) for r in played.robots] == [fingerprint(r.recording) for r in alone.robots]
    rows = write_played(tmp_path / "run", episodes)
    assert [(row["episode"], row["robot"]) for row in rows] == [(e, r) for e in range(3) for r in range(2)]
    (packed,) = write_mcap_files(tmp_path / "mcap", [path])
    assert [p.entry for p in read_all([packed], Unsaid())] == [p.entry for p in episodes]
    with pytest.raises(InputError, match="contains 3 episodes, expected one"):
        read_episode(path)


def test_messages_that_come_late_or_again_do_not_mix_episodes(once, tmp_path):
    first, second = list(episode(once, 0)), list(episode(once, 1))
    status = next(said for said in first if said[0].endswith("/status"))
    begun = next(said for said in second if said[0].endswith("/simulator/robots"))
    told = next(said for said in second if said[0].endswith("/episode"))
    rest = [said for said in second if said is not begun and said is not told]
    # the robots speak before the episode is told, the end of the one before comes later still, and the episode is told again
    messages = [*(s for s in first if s is not status), begun, told, status, told, *rest]
    one, two = read_all([write(tmp_path / "all.bag", once, messages)], Unsaid())
    alone = [fingerprint(r.recording) for r in read_episode(BAG).robots]
    for played in (one, two):
        assert played.interrupted == "" and [fingerprint(r.recording) for r in played.robots] == alone


def test_a_beginning_that_an_earlier_episode_left_behind_is_none(once, tmp_path):
    first, second = list(episode(once, 0)), list(episode(once, 1))
    latched = next(said for said in first if said[0].endswith("/simulator/robots"))
    told = next(said for said in second if said[0].endswith("/episode"))
    # a recorder that begins with the second episode hears the first one's latched beginning after the description
    messages = [told, (*latched[:3], told[3]), *(said for said in second if said is not told)]
    [played] = read_all([write(tmp_path / "all.bag", once, messages)], Unsaid())
    assert (played.entry, played.interrupted) == ("small/helbing/1", "")
    assert [fingerprint(r.recording) for r in played.robots] == [fingerprint(r.recording) for r in read_episode(BAG).robots]


def test_an_episode_whose_beginning_is_missing_is_named_and_the_last_one_may_be_cut(once, tmp_path):
    parts = [list(episode(once, number)) for number in range(3)]
    told = [said for said in parts[0] if said[0].endswith("/episode")]
    half = len(parts[0]) // 2
    messages = [*told, *parts[0][half:], *parts[1], *parts[2][:half]]
    whole, cut = read_all([write(tmp_path / "all.bag", once, messages)], Unsaid())
    assert (whole.entry, whole.interrupted) == ("small/helbing/1", "")
    assert "all.bag: the start of small/helbing/0 is not in the bag; the episode is left out" in whole.notes
    assert cut.entry == "small/helbing/2" and "the bag ends before" in cut.interrupted


def test_an_episode_that_is_played_again_counts_once(once, tmp_path):
    again = [said for number in (0, 1) for said in episode(once, number)]
    for _, _, content, _ in again:
        if hasattr(content, "entry"):
            content.number, content.entry = 7, "small/helbing/0"
    half = len(again) // 2
    lost = [said for said in again[:half] if not said[0].endswith("/status")]
    broken, whole = read_all([write(tmp_path / "all.bag", once, lost[: len(lost) // 2] + again[half:])], Unsaid())
    assert "the bag ends before" in broken.interrupted and whole.interrupted == ""
    assert len(write_played(tmp_path / "run", [broken, whole])) == 2


def test_a_split_bag_of_several_episodes_is_read_as_one(once, tmp_path):
    messages = [said for number in range(2) for said in episode(once, number)]
    cut = len(messages) // 2 + 40
    for number, part in enumerate((messages[:cut], messages[cut:])):
        part = [
            (topic, name, content, 10**9 + n * 10**6 + number * cut * 10**6) for n, (topic, name, content, _) in enumerate(part)
        ]
        write(tmp_path / f"all_{number}.bag", once, part)
    assert [(p.entry, p.interrupted) for p in read_all([tmp_path], Unsaid())] == [("small/helbing/0", ""), ("small/helbing/1", "")]
