from __future__ import annotations

import io
import json
import pickle
import zipfile

import numpy as np
import pytest

from agora.benchmark.results.audit import audit_run
from agora.errors import InputError
from agora.planners.presets import named_planner
from agora.policies.policy import load_policy
from agora.policies.weights import packed, read_safetensors
from agora.share import folder
from agora.web._runs.queue import RunQueue
from agora.web._user_planners.policies import Policies
from agora.web.database import open_database
from agora.web.settings import Settings
from tests.web._runs.test_worker import worked_on

HALL = (folder("configs") / "policies" / "hall.safetensors").read_bytes()
ABOUT, ARRAYS = read_safetensors(folder("configs") / "policies" / "hall.safetensors")


def keep(client, data, name="mine"):
    return client.put(f"/api/uploads/policies/{name}", content=data)


def test_a_policy_that_was_brought_drives_and_its_rows_call_it_by_its_name(client, settings):
    kept = keep(client, HALL).json()
    assert (kept["name"], kept["label"], kept["needs"]) == ("own/mine", "own", ["pedestrians", "scan"])
    assert client.get("/api/policies").json()[0] == kept
    (planner,) = [one for one in client.get("/api/planners").json() if one["name"] == "own/mine"]
    assert (planner["planner"], planner["missing"]) == ("policy", "")
    assert (kept["planner"], kept["path"]) == ("policy:file=own/mine", f"{settings.policies}/mine.safetensors")
    asked = {
        "suite": "demo",
        "stages": ["doorway"],
        "episodes": 1,
        "control": False,
        "workers": 1,
        "planners": ["own/mine", "policy:file=hall"],
    }
    run = client.post("/api/runs", json=asked).json()
    assert run["title"] == "demo: mine, policy:file=hall"
    with open_database(settings.url) as engine:
        queue = RunQueue(engine)
        worked_on(settings, lambda: queue.run(run["id"]).state not in ("queued", "running"))
        assert queue.run(run["id"]).state == "finished", queue.run(run["id"]).message
    one, two = audit_run(settings.runs / run["id"]).rows
    assert {one["planner"], two["planner"]} == {"mine", "policy:file=hall"}
    assert client.get("/api/own-policies/mine/file").content == HALL


def test_a_policy_is_named_with_parameters_and_interplanners(client, settings):
    keep(client, HALL)
    for text in ("own/mine", "own/mine+polite", "policy:file=own/mine", "policy:file=own/mine+polite"):
        answer = client.post("/api/runs", json={"suite": "demo", "planners": [text], "control": False})
        assert answer.status_code == 201 and str(settings.folder) not in answer.json()["title"], answer.text
    for text, words in (
        ("own/min", "did you mean 'mine'?"),
        ("own/../mine", "no policy of yours called"),
        ("own/", "called ''"),
    ):
        answer = client.post("/api/runs", json={"suite": "demo", "planners": [text], "control": False})
        assert answer.status_code == 422 and words in answer.json()["error"]
        assert client.post("/api/live", json={"suite": "demo", "planner": text}).status_code == 422


def trained(settings, run="1-abc123", planner="policy") -> str:
    """The name of a policy that a training of the server has made."""
    seed = settings.runs / run / "seed_1"
    seed.mkdir(parents=True)
    (settings.runs / run / "training.yaml").write_text(f"name: small\nplanner: {planner}\nseeds: [1]\n")
    (seed / "policy.safetensors").write_bytes(HALL)
    return f"small-{run[-6:]}"


def test_policies_that_were_trained_and_brought_share_their_names_and_are_named_alike(client, settings):
    name, asked = trained(settings), {"suite": "demo", "stages": ["doorway"], "control": False}
    assert "choose another name" in keep(client, HALL, name).json()["error"]
    keep(client, HALL)
    one, two = client.get("/api/policies").json()[:2]
    assert (one["name"], one["run"], one["planner"]) == (f"own/{name}", "1-abc123", f"policy:file=own/{name}")
    assert (two["name"], two["run"]) == ("own/mine", "")
    run = client.post("/api/runs", json=asked | {"planners": [f"own/{name}", "own/mine"]}).json()
    assert run["title"] == f"demo: {name}, mine"
    name = trained(settings, "2-def456", "cadrl(steps=2)")
    path = settings.runs / "2-def456" / "seed_1" / "policy.safetensors"
    assert Policies(settings).planner(f"own/{name}:gamma=1+polite") == f'cadrl:steps=2,file="{path}",gamma=1+polite'


def test_the_folder_of_a_server_may_have_signs_that_mean_something_in_a_planners_text(tmp_path):
    for odd in ("a b", "e: =f'#", "1+2"):
        policies = Policies(Settings(tmp_path / odd))
        policies.keep("mine", HALL)
        label, named = named_planner(policies.planner("own/mine"))
        assert (policies.label(label), named.name) == ("mine", "policy")
    for odd in ("a+b", "a,b", '"', "a(b"):
        policies = Policies(Settings(tmp_path / odd))
        policies.keep("mine", HALL)
        with pytest.raises(InputError, match="the path of the server's folder contains characters"):
            policies.planner("own/mine")


def test_a_policy_that_is_called_as_a_planner_is_not_taken_for_it_in_rows(client):
    keep(client, HALL, "dwa")
    answer = client.post("/api/runs", json={"suite": "demo", "planners": ["own/dwa", "dwa"], "control": False})
    assert answer.json()["title"] == "demo: policy:file=own|dwa, dwa"


def test_a_name_that_is_taken_is_not_written_over_and_one_that_is_removed_is_free(client):
    keep(client, HALL)
    assert "choose another name" in keep(client, HALL).json()["error"]
    assert client.delete("/api/own-policies/mine").status_code == 204
    assert client.delete("/api/own-policies/mine").status_code == 404
    assert keep(client, HALL).status_code == 201


class Evil:
    def __reduce__(self):
        return (print, ("this was executed",))


def torch_file() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed_file:
        packed_file.writestr("archive/data.pkl", pickle.dumps(Evil()))
    return file.getvalue()


def headed(text: str, data: bytes = bytes(8)) -> bytes:
    return len(text).to_bytes(8, "little") + text.encode() + data


def changed(**change) -> bytes:
    return packed({**ARRAYS, **change}, ABOUT)


FIRST = sorted(ARRAYS)[0]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (pickle.dumps(Evil()), "a pickle, which can contain code and is never opened; save its layers as safetensors"),
        (torch_file(), "a PyTorch file or a pickle"),
        (b"\x89HDF\r\n\x1a\n" + bytes(100), "a Keras or ONNX file"),
        (b"\x08\x07\x12\x07pytorch:onnx" + bytes(100), "a Keras or ONNX file"),
        (b"", "not a safetensors file"),
        (b"<script>alert(1)</script>", "not a safetensors file"),
        ((1 << 40).to_bytes(8, "little") + b"{" + bytes(100), "not a safetensors file"),
        (headed("{" + " " * (2 << 20) + "}"), "its header has 2,097,154 bytes; expected at most 1,048,576"),
        (headed("{" * 100_000), "not a safetensors file"),
        (headed(json.dumps({"a": {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 8]}})), "not a safetensors file"),
        (headed(json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 80]}})), "not a safetensors file"),
        (headed(json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})), "expected a file of agora.policy 2"),
        (HALL[:-100], "not a safetensors file"),
        (changed(**{FIRST: np.zeros((3, 3), np.float32)}), "shape"),
        (changed(**{FIRST: np.full_like(ARRAYS[FIRST], np.nan)}), "must be finite float32"),
        (changed(**{FIRST: ARRAYS[FIRST].astype(np.float64)}), "must be finite float32"),
        (changed(**{"<img src=x>": np.zeros(3, np.float32)}), "<img src=x> is not part of"),
        (packed(ARRAYS, ABOUT | {"policy": "{}"}), "network"),
        (packed(ARRAYS, ABOUT | {"policy": ABOUT["policy"].replace('"mlp"', '"os.system"')}), "os.system"),
        (
            packed(ARRAYS, ABOUT | {"policy": ABOUT["policy"].replace('"about": {', '"about": {"label": "best", ')}),
            "label must be one of",
        ),
    ],
)
def test_what_is_no_policy_is_refused_in_words_nothing_runs_and_nothing_is_kept(client, settings, capfd, data, words):
    answer = keep(client, data)
    assert answer.status_code == 422 and words in answer.json()["error"], answer.text
    assert str(settings.folder) not in answer.json()["error"]
    assert not settings.policies.exists() or list(settings.policies.iterdir()) == []
    assert "this was executed" not in capfd.readouterr().out


@pytest.mark.parametrize("name", ["..", "a.b", "-x", "a b", "x" * 81])
def test_a_name_that_could_be_a_path_is_refused(client, settings, name):
    assert keep(client, HALL, name).status_code in (404, 405, 422)
    assert not settings.policies.exists()


def test_a_policy_that_somebody_put_into_the_folder_and_that_is_wrong_is_listed_with_the_reason(client, settings):
    settings.policies.mkdir()
    (settings.policies / "odd.safetensors").write_bytes(b"x")
    (found,) = [one for one in client.get("/api/policies").json() if one["name"] == "own/odd"]
    assert "not a safetensors file" in found["wrong"] and str(settings.folder) not in found["wrong"]
    (planner,) = [one for one in client.get("/api/planners").json() if one["name"] == "own/odd"]
    assert planner["missing"] == found["wrong"]


def test_what_is_kept_is_what_was_sent(client, settings):
    keep(client, HALL)
    assert load_policy(settings.policies / "mine.safetensors").about == load_policy("hall").about
