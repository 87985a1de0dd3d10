from __future__ import annotations

import asyncio
import json

import numpy as np
import pytest

from agora.benchmark.bench import run_all
from agora.benchmark.request_form import RequestForm
from agora.core.state import SOCIAL_STATES
from agora.interfaces import Observation
from agora.learning.demonstrations import write_demonstrations_of_run
from agora.reporting.merged_runs import merged
from agora.reporting.statistics import paired_values
from agora.robots.model import load_robot
from agora.web._live.sessions import Watcher
from agora.web._live.teleoperation import EpisodeChangeError, TeleoperatedPlanner, Teleoperation
from agora.wire.message import unpack


def texts(socket, key: str):
    """Yield what the texts say under a key, as they come."""
    while True:
        message = socket.receive()
        if message.get("text") and key in (said := json.loads(message["text"])):
            yield said[key]


def moments(socket):
    """Yield the moments as they come."""
    while True:
        message = socket.receive()
        if message.get("bytes"):
            name, version, content = unpack(message["bytes"])
            assert (name, version) == ("agora.moment", 1)
            yield content


def test_a_live_episode_shows_its_place_and_then_its_moments_and_time_stands_while_it_is_paused(client):
    live = client.post("/api/live", json={"suite": "demo", "planner": "go_to_goal", "stage": "doorway"}).json()
    with client.websocket_connect(f"/api/live/{live['id']}") as socket:
        scene = next(texts(socket, "scene"))
        assert (scene["control"], scene["drive"], scene["names"]) == (0.1, False, list(SOCIAL_STATES))
        assert scene["title"].startswith("go_to_goal (reads no walls) · demo: doorway, episode 0")
        left, bottom, right, top = scene["extent"]
        first, second = (content["snapshot"] for content, _ in zip(moments(socket), range(2), strict=False))
        assert second["time"] > first["time"] >= 0.0
        assert left < first["robots"]["x"][0] < right
        assert bottom < first["robots"]["y"][0] < top
        socket.send_json({"do": "pause"})
        assert next(said for said in texts(socket, "live") if said["state"] == "paused")
        socket.send_json({"do": "step"})
        stood = next(moments(socket))["snapshot"]["time"]
        socket.send_json({"do": "step"})
        assert next(moments(socket))["snapshot"]["time"] == pytest.approx(stood + 0.1, abs=1e-6)
        socket.send_json({"do": "next"})
        assert "episode 1" in next(texts(socket, "scene"))["title"]
        socket.send_text("no json")
        socket.send_json(["do"])
        socket.send_json({"do": "speed", "value": 16})
        socket.send_json({"do": "go"})
        assert next(texts(socket, "end"))["outcome"] in ("reached", "pedestrian_collision", "wall_collision", "timeout")
        with client.websocket_connect(f"/api/live/{live['id']}") as late:
            assert "episode 1" in next(texts(late, "scene"))["title"]
    assert client.delete(f"/api/live/{live['id']}").status_code == 204
    assert client.get("/api/live").json() == []


def test_a_robot_that_a_person_drives_goes_where_it_is_told_and_the_drive_is_kept_to_learn_from(client, settings):
    live = client.post("/api/live", json={"suite": "demo", "stage": "doorway", "drive": True}).json()
    with client.websocket_connect(f"/api/live/{live['id']}") as socket:
        assert next(texts(socket, "scene"))["drive"] is True
        socket.send_json({"do": "pause"})
        next(said for said in texts(socket, "live") if said["state"] == "paused")
        socket.send_json({"do": "drive", "twist": [0.0, 0.0, 1.0]})
        seen = []
        for _ in range(6):
            socket.send_json({"do": "step"})
            seen.append(next(moments(socket)))
        turned = seen[-1]["snapshot"]["robots"]["heading"][0] - seen[0]["snapshot"]["robots"]["heading"][0]
        assert turned % (2 * np.pi) < np.pi
        assert seen[-1]["command"][2] > 0.0
        assert seen[-1]["command"][0] == 0.0
        socket.send_json({"do": "drive", "twist": [1.0, 0.0, 1.0]})
        socket.send_json({"do": "speed", "value": 16})
        socket.send_json({"do": "go"})
        ended = next(texts(socket, "end"))
        kept = next(texts(socket, "kept"))
    (run,) = client.get("/api/runs").json()
    assert (run["id"], run["state"], run["done"]) == (kept["id"], "finished", 1)
    bench = settings.runs / "bench"
    run_all(RequestForm("demo", ("go_to_goal",), output=bench, stages=("doorway",), episodes=2, workers=0).request())
    both = merged([settings.runs / run["id"], bench])
    assert both.planners == ["driven by hand", "go_to_goal"]
    assert len(paired_values(both.rows, "reached", "driven by hand", "go_to_goal")) == 1
    rows = client.get(f"/api/runs/{run['id']}/rows?columns=planner,stage,outcome").json()["rows"]
    assert rows == [["driven by hand", "doorway", ended["outcome"]]]
    (file,) = write_demonstrations_of_run(settings.runs / run["id"], settings.folder / "demonstrations")
    with np.load(file) as arrays:
        assert arrays["command"][-1, 2] > 0.0
        assert arrays["scan"].shape[0] == len(arrays["time"])
    client.delete(f"/api/live/{live['id']}")


def test_a_drive_begins_with_the_first_key_and_one_that_is_left_stands_and_is_no_result(client):
    live = client.post("/api/live", json={"suite": "demo", "stage": "doorway", "drive": True}).json()
    with client.websocket_connect(f"/api/live/{live['id']}") as socket:
        assert next(said for said in texts(socket, "live") if said.get("held"))["state"] == "paused"
        assert next(moments(socket))["snapshot"]["time"] == 0.0
        socket.send_json({"do": "drive", "twist": [0.0, 0.0, 0.0]})
        socket.send_json({"do": "drive", "twist": [0.0, 0.0, 0.2]})
        assert next(said for said in texts(socket, "live") if said.get("held") is False)["state"] == "running"
        assert next(moments(socket))["snapshot"]["time"] > 0.0
    with client.websocket_connect(f"/api/live/{live['id']}") as socket:
        assert next(said for said in texts(socket, "live") if said.get("held"))["state"] == "paused"
    client.delete(f"/api/live/{live['id']}")
    assert client.get("/api/runs").json() == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"suite": "demoo"}, "demoo"),
        ({"suite": "demo", "planner": "orkan"}, "did you mean 'orca'"),
        ({"suite": "demo", "stage": "doorwai"}, "doorway"),
        ({"suite": "demo", "speed": 2}, "speed: unknown key"),
        ({}, "suite"),
    ],
)
def test_a_live_episode_that_cannot_be_is_refused_in_words(client, fields, said):
    refused = client.post("/api/live", json=fields)
    assert (refused.status_code, said in refused.json()["error"]) == (422, True), refused.json()


def test_who_watches_what_is_not_there_hears_so(client):
    with client.websocket_connect("/api/live/nothing") as socket:
        assert "no live episode called 'nothing'" in socket.receive_json()["error"]
    assert client.delete("/api/live/nothing").status_code == 404


def test_a_watcher_who_does_not_read_keeps_the_newest_moment_and_a_few_texts():
    async def watch() -> list:
        watcher = Watcher()
        for number in range(100_000):
            watcher.tell(b"%d" % number)
        for number in range(1000):
            watcher.tell(f"{number}")
        heard = [await watcher.next()]
        while isinstance(heard[-1], str):
            heard.append(await watcher.next())
        return heard

    heard = asyncio.run(watch())
    assert heard[-1] == b"99999"
    assert heard[-2] == "999"
    assert len(heard) < 300


def test_wishes_that_are_none_change_nothing():
    teleoperation = Teleoperation()
    for wish in (
        {},
        {"do": "fly"},
        {"do": "speed", "value": "fast"},
        {"do": "drive", "twist": [1, 2]},
        {"do": "drive", "twist": "ahead"},
    ):
        teleoperation.apply(wish)
    assert (teleoperation.paused, teleoperation.speed, teleoperation.shares.tolist()) == (False, 1.0, [0.0, 0.0, 0.0])
    teleoperation.apply({"do": "speed", "value": float("nan")})
    teleoperation.apply({"do": "drive", "twist": [float("nan"), 7.0, -9.0]})
    assert (teleoperation.speed, teleoperation.shares.tolist()) == (1.0, [0.0, 1.0, -1.0])


def test_another_episode_is_begun_even_while_time_stands():
    teleoperation = Teleoperation()
    teleoperation.apply({"do": "pause"})
    teleoperation.apply({"do": "next"})
    with pytest.raises(EpisodeChangeError) as other:
        teleoperation.wait(float("inf"))
    assert other.value.offset == 1


def test_shares_are_of_the_robots_own_limits_backwards_too():
    teleoperation, limits = Teleoperation(), load_robot("jackal").limits(1)
    seen = Observation(
        *(np.zeros((1, 3), np.float32) for _ in range(3)), np.zeros(1, np.float32), np.zeros((1, 0, 2), np.float32), limits, 0.1
    )
    teleoperation.apply({"do": "drive", "twist": [-1.0, 0.5, 0.25]})
    assert TeleoperatedPlanner(teleoperation).act(seen, {}).twists[0] == pytest.approx(
        [limits.min_vx[0], 0.5 * limits.max_vy[0], 0.25 * limits.max_omega[0]]
    )
