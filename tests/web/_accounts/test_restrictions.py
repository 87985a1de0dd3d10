from __future__ import annotations

import pytest

from agora.planners.presets import preset_names, runnable_planners
from agora.web._accounts.people import Person
from agora.web._accounts.restrictions import check_restrictions
from agora.web.settings import Quotas

FORM = {"suite": "demo", "planners": ["go_to_goal"], "stages": ["doorway"], "episodes": 1}
LIVE = {"suite": "demo", "planner": "go_to_goal", "stage": "doorway"}


@pytest.mark.parametrize(
    "planner",
    [
        "policy:file=/etc/passwd",
        "policy:file=../secret",
        "policy:file=weights.safetensors",
        'policy:file="\\x2fetc\\x2fpasswd"',
        "policy:file=!!binary L2V0Yw==",
        "remote:address=./socket",
        "remote:address=metadata.internal:80",
        "recovering:planner=remote(address=localhost:22)",
        "policy:file=own/../../secret",
    ],
)
def test_a_planner_that_leads_out_of_the_server_is_an_administrators(house, planner):
    ann = house.person("ann")
    for answer in (
        ann.post("/api/runs", json=FORM | {"planners": [planner]}),
        ann.post("/api/live", json=LIVE | {"planner": planner}),
    ):
        assert answer.json()["error"].endswith("only an administrator may name files, programs and addresses")
    chief = house.person("chief", "administer")
    assert "administrator" not in chief.post("/api/runs", json=FORM | {"planners": [planner]}).text
    assert house.person("ben").get("/api/runs").json() == []


@pytest.mark.parametrize(
    "fields", [{"simulator": "remote"}, {"record": ["/x"]}, {"interplanner": "a\\b"}, {"x/y": 1}, {"stages": [["../x"]]}]
)
def test_no_field_of_a_form_leads_out(house, fields):
    assert house.person("ann").post("/api/runs", json=FORM | fields).status_code == 422


def test_all_planners_that_come_with_agora_and_own_things_may_be_named():
    person = Person("ann", "run", Quotas())
    names = [*runnable_planners()[0], *preset_names()]
    check_restrictions(person, {"suite": "own/my-scene", "planners": [*names, "dwa:sim_time=1e+3", "policy:file=own/mine"]})
    check_restrictions(person, {"title": "a/b"}, "title")
