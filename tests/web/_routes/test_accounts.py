from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from fastapi.routing import APIRoute, APIWebSocketRoute
from fastapi.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from agora.web import _guard
from agora.web._accounts.passwords import LONGEST
from agora.web._accounts.people import ROLES
from agora.web._accounts.permissions import OPEN, PERMISSIONS, is_open
from agora.web.settings import Limits, Rates
from tests.web.house import HOST, ORIGIN, PASSWORD, opened_house

FORM = {"suite": "demo", "planners": ["go_to_goal"], "episodes": 1}


def addresses(app) -> list[str]:
    """Each address of a server as the table of needs writes it."""
    found = []
    for route in app.routes:
        if isinstance(route, APIWebSocketRoute):
            found.append(f"WS {route.path}")
        elif isinstance(route, APIRoute):
            found += [f"{method} {route.path}" for method in route.methods]
    return found


def refused_socket(client: TestClient, address: str, **headers: str) -> int:
    """The code with which a socket is closed that a server does not serve."""
    with pytest.raises(WebSocketDisconnect) as refused, client.websocket_connect(address, headers=headers) as socket:
        socket.receive_text()
    return refused.value.code


def post(client: TestClient, address: str, fields: dict):
    """Ask with all signs that JSON can escape, half a sign as well."""
    return client.post(address, content=json.dumps(fields), headers={"content-type": "application/json"})


def sign_in(client: TestClient, name: str, password: str):
    return post(client, "/api/session", {"name": name, "password": password})


def test_every_address_declares_its_role_and_every_role_is_of_an_address(house):
    assert sorted(addresses(house.app)) == sorted(PERMISSIONS)
    assert {need.role for need in PERMISSIONS.values()} == {"", *ROLES}


def test_who_is_not_signed_in_gets_pages_and_nothing_else(house):
    stranger = house.stranger()
    assert stranger.get("/").status_code == stranger.get("/run").status_code == 200
    assert stranger.get("/api/me").json() == {"accounts": True, "name": "", "role": ""}
    for address, need in PERMISSIONS.items():
        method, path = address.replace("{path:path}", "any").split()
        if method == "WS":
            assert refused_socket(stranger, path) == _guard.SIGNED_OUT
        elif need != OPEN:
            assert stranger.request(method, path, json={}).status_code == 401, address
    for path in ("/api/docs", "/api/openapi.json", "/api/docs/oauth2-redirect", "/api/nothing", "/api/"):
        assert stranger.get(path).status_code == 401, path
    assert not is_open("GET", "/api/openapi.json")


@pytest.mark.parametrize("role", ROLES)
def test_a_role_opens_its_addresses_and_no_other(house, role):
    person = house.person("ann", role)
    for address, need in PERMISSIONS.items():
        method, path = re.sub(r"\{[\w:]+\}", "nothing", address).split()
        if method == "WS" or need == OPEN or path == "/api/me/password":
            continue
        status = person.request(method, path, json={}).status_code
        may = ROLES.index(role) >= ROLES.index(need.role)
        assert (status != 403) if may else (status == 403), address


def test_a_refusal_says_which_role_would_do(house):
    refused = house.person("ann", "look").post("/api/runs", json=FORM)
    assert refused.json()["error"] == "your role is look: this needs the right to run planners; ask an administrator"


def test_an_invitation_is_looked_at_taken_once_and_signs_in(house):
    token, browser = house.users.invite("administer"), house.stranger()
    assert browser.post("/api/invitation/look", json={"token": token}).json()["role"] == "administer"
    fields = {"token": token, "name": "  Ann  ", "password": PASSWORD}
    assert browser.post("/api/invitation", json=fields).json() == {"accounts": True, "name": "Ann", "role": "administer"}
    assert browser.get("/api/me").json()["name"] == "Ann"
    again = house.stranger().post("/api/invitation", json=fields | {"name": "Eve"})
    assert (again.status_code, "used or expired" in again.json()["error"]) == (422, True)
    assert [user["name"] for user in browser.get("/api/users").json()] == ["Ann"]
    assert browser.get("/api/invitations").json() == []


def test_a_forged_or_expired_invitation_opens_nothing(house):
    token, browser = house.users.invite("run"), house.stranger()
    for wrong in (token[:-1], token.swapcase(), "", "x" * 100_000, "\x00", "\ud800"):
        refused = post(browser, "/api/invitation", {"token": wrong, "name": "eve", "password": PASSWORD})
        assert (refused.status_code, "used or expired" in refused.json()["error"]) == (422, True)
    house.expire()
    assert browser.post("/api/invitation", json={"token": token, "name": "eve", "password": PASSWORD}).status_code == 422
    assert house.users.all() == []


@pytest.mark.parametrize("name", ["", "   ", "x" * 61, "a\x00b", "a\nb", "a\u202eb", "a\u200bb", "\ud800", "a  b"])
def test_a_name_with_signs_that_nobody_sees_is_refused_and_the_invitation_stays(house, name):
    browser, token = house.stranger(), house.users.invite("run")
    refused = post(browser, "/api/invitation", {"token": token, "name": name, "password": PASSWORD})
    assert (refused.status_code, refused.json()["error"].startswith("name: ")) == (422, True)
    assert browser.post("/api/invitation", json={"token": token, "name": "ann", "password": PASSWORD}).status_code == 201


def test_a_name_with_markup_is_a_text_and_a_name_that_is_taken_is_refused_whatever_its_capitals(house):
    name = "<img src=x onerror=alert(1)>'; DROP TABLE users; --"
    assert house.person(name).get("/api/me").json()["name"] == name
    refused = house.stranger().post(
        "/api/invitation", json={"token": house.users.invite("run"), "name": name.upper(), "password": PASSWORD}
    )
    assert "is already in use" in refused.json()["error"]
    assert len(house.users.all()) == 1


@pytest.mark.parametrize(
    ("password", "said"),
    [
        ("short", "10 to 200"),
        ("x" * 201, "10 to 200"),
        ("ann-the-first", "differ from the name"),
        ("ababababab", "different characters"),
        (7, "a string"),
    ],
)
def test_a_password_that_is_easy_or_endless_is_refused(house, password, said):
    fields = {"token": house.users.invite("run"), "name": "Ann-the-first", "password": password}
    assert said in house.stranger().post("/api/invitation", json=fields).json()["error"]
    assert house.users.all() == []


def test_a_password_of_any_length_and_signs_is_wrong_in_the_same_words_as_an_unknown_name(house):
    house.person("ann")
    browser = house.stranger()
    said = {
        (answer.status_code, answer.json()["error"])
        for answer in (
            sign_in(browser, "ann", "wrong wrong wrong"),
            sign_in(browser, "nobody", PASSWORD),
            sign_in(browser, "ann", PASSWORD + "x" * (1 << 20)),
            sign_in(browser, "\ud800\x00", "\ud800"),
        )
    }
    assert said == {(401, "wrong name or password")}
    assert sign_in(browser, "ANN", PASSWORD).status_code == 200
    assert LONGEST < 1000


def test_an_unknown_name_costs_a_hash_as_a_wrong_password_does(house, monkeypatch):
    house.person("ann")
    hashed = []
    fits = "agora.web._accounts.passwords._fits"
    monkeypatch.setattr(fits, lambda found, password: hashed.append(found) or False)
    sign_in(house.stranger(), "ann", "wrong wrong wrong")
    sign_in(house.stranger(), "nobody", "wrong wrong wrong")
    assert [found.split("$")[1:4] for found in hashed] == [hashed[0].split("$")[1:4]] * 2


def test_many_wrong_passwords_of_a_name_are_held_up_from_wherever_they_come(house):
    person = house.person("ann")
    answers = [sign_in(house.stranger(f"198.51.100.{k}"), "ann", "wrong wrong wrong") for k in range(12)]
    assert [answer.status_code for answer in answers] == [401] * 10 + [429] * 2
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 16
    assert answers[-1].json()["error"].startswith("too many requests; try again in ")
    assert sign_in(house.stranger("203.0.113.9"), "ann", PASSWORD).status_code == 429
    assert person.get("/api/me").json()["name"] == "ann"


def test_many_names_from_one_address_are_held_up_and_others_are_not(house):
    house.person("ann")
    answers = [sign_in(house.stranger("2001:db8::1"), f"name {k}", PASSWORD).status_code for k in range(11)]
    assert answers == [401] * 10 + [429]
    assert sign_in(house.stranger("2001:db8::2"), "ann", PASSWORD).status_code == 429
    assert sign_in(house.stranger("2001:db8:1::2"), "ann", PASSWORD).status_code == 200


def test_requests_of_a_person_are_limited_wherever_they_come_from_and_others_go_on(settings, quick):
    limits = Limits(rates=Rates(requests=0.001, burst=5))
    with opened_house(replace(settings, accounts=True, limits=limits)) as house:
        ann, ben = house.person("ann"), house.person("ben")
        answers = [ann.get("/api/runs") for _ in range(6)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429]
        assert int(answers[-1].headers["retry-after"]) > 100
        assert ben.get("/api/runs").status_code == 200
        assert refused_socket(ann, "/api/events") == 4429
        forged = house.program("forged")
        assert [forged.get("/api/runs").status_code for _ in range(4)] == [401] * 3 + [429]


def test_who_signs_out_is_out_and_the_cookie_opens_nothing_any_more(house):
    ann = house.person("ann")
    kept = dict(ann.cookies)
    assert ann.delete("/api/session").status_code == 204
    thief = house.stranger()
    thief.cookies.update(kept)
    assert [client.get("/api/runs").status_code for client in (ann, thief)] == [401, 401]


def test_a_cookie_that_is_forged_or_over_opens_nothing(house):
    ann = house.person("ann")
    secret = ann.cookies[_guard.COOKIE]
    for wrong in (secret[:-1], secret + "x", "", "x" * 5000):
        forger = house.stranger(cookie=f"{_guard.COOKIE}={wrong}")
        assert forger.get("/api/runs").status_code == 401
    house.expire()
    assert ann.get("/api/runs").status_code == 401


def test_signing_in_again_ends_the_session_that_the_browser_had(house):
    ann = house.person("ann")
    old = dict(ann.cookies)
    assert sign_in(ann, "ann", PASSWORD).status_code == 200
    thief = house.stranger()
    thief.cookies.update(old)
    assert (thief.get("/api/runs").status_code, ann.get("/api/runs").status_code) == (401, 200)


def test_another_password_ends_every_other_session_and_every_token(house):
    ann, other = house.person("ann"), house.stranger()
    sign_in(other, "ann", PASSWORD)
    token = ann.post("/api/me/tokens", json={"name": "laptop"}).json()["token"]
    assert ann.post("/api/me/password", json={"old": "wrong wrong wrong", "new": "a new one, quite long"}).status_code == 401
    assert ann.post("/api/me/password", json={"old": PASSWORD, "new": "short"}).status_code == 422
    assert other.get("/api/runs").status_code == 200
    assert ann.post("/api/me/password", json={"old": PASSWORD, "new": "a new one, quite long"}).status_code == 200
    assert [client.get("/api/runs").status_code for client in (ann, other, house.program(token))] == [200, 401, 401]
    assert sign_in(house.stranger(), "ann", PASSWORD).status_code == 401


def test_an_administrator_blocks_and_resets_and_what_was_open_ends(house):
    chief, ben = house.person("chief", "administer"), house.person("ben")
    token = ben.post("/api/me/tokens", json={"name": "laptop"}).json()["token"]
    assert chief.patch("/api/users/ben", json={"blocked": True}).json()["blocked"] is True
    assert [client.get("/api/runs").status_code for client in (ben, house.program(token))] == [401, 401]
    blocked = sign_in(house.stranger(), "ben", PASSWORD)
    assert (blocked.status_code, "blocked" in blocked.json()["error"]) == (403, True)
    chief.patch("/api/users/ben", json={"blocked": False})
    assert sign_in(ben, "ben", PASSWORD).status_code == 200
    reset = chief.post("/api/invitations", json={"user": "BEN"}).json()["token"]
    fresh = house.stranger()
    assert fresh.post("/api/invitation/look", json={"token": reset}).json()["name"] == "ben"
    assert (
        fresh.post("/api/invitation", json={"token": reset, "name": "eve", "password": "another long one"}).json()["name"] == "ben"
    )
    assert [client.get("/api/runs").status_code for client in (ben, fresh)] == [401, 200]


def test_a_role_that_is_taken_away_is_gone_at_once_and_the_last_administrator_stays(house):
    chief, ben = house.person("chief", "administer"), house.person("ben", "administer")
    assert chief.patch("/api/users/ben", json={"role": "look"}).status_code == 200
    assert ben.get("/api/users").status_code == 403
    for change in ({"role": "run"}, {"blocked": True}):
        assert "only administrator" in chief.patch("/api/users/chief", json=change).json()["error"]
    for wrong, said in (
        ({"role": "king"}, "look, run or administer"),
        ({"blocked": "yes"}, "true or false"),
        ({"rôle": "run"}, "unknown key"),
        ({"quotas": {"run": 3}}, "did you mean 'runs'"),
        ({"quotas": {"runs": 0}}, "at least 1"),
        ({"quotas": []}, "a mapping"),
    ):
        assert said in chief.patch("/api/users/ben", json=wrong).json()["error"]
    assert chief.patch("/api/users/eve", json={}).status_code in (404, 422)


def test_a_page_of_another_origin_changes_nothing_though_the_browser_sends_the_cookie(house):
    ann = house.person("ann")
    for headers in ({"origin": "http://evil.example"}, {"origin": "null"}, {"origin": "http://agora.example.evil.example"}):
        assert ann.post("/api/runs", json=FORM, headers=headers).status_code == 403
        assert ann.get("/api/runs", headers=headers).status_code == 403
        assert refused_socket(ann, "/api/events", **headers) == 4403
    del ann.headers["origin"]
    silent = ann.post("/api/runs", json=FORM)
    assert (silent.status_code, "must have an Origin header" in silent.json()["error"]) == (403, True)
    assert refused_socket(ann, "/api/events") == 4403
    assert ann.get("/api/runs").json() == []


def test_a_program_needs_a_token_and_no_origin_until_the_token_is_revoked(house):
    ann, ben = house.person("ann"), house.person("ben")
    made = ann.post("/api/me/tokens", json={"name": "<laptop>", "days": 3}).json()["token"]
    program = house.program(made)
    assert program.post("/api/runs", json=FORM).status_code == 201
    with program.websocket_connect("/api/events"):
        pass
    (token,) = ann.get("/api/me/account").json()["tokens"]
    assert (token["name"], token["used"] is not None) == ("<laptop>", True)
    assert made not in ann.get("/api/me/account").text
    assert ben.delete(f"/api/me/tokens/{token['id']}").status_code == 404
    assert ann.delete(f"/api/me/tokens/{token['id']}").status_code == 204
    refused = program.get("/api/runs")
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    for wrong in ("", "\x7f", "x" * 5000, ann.cookies[_guard.COOKIE]):
        assert house.program(wrong).get("/api/me").status_code == 401
    for days in (0, 400, 1.5, "3", True):
        assert "days" in ann.post("/api/me/tokens", json={"name": "x", "days": days}).json()["error"]


def test_a_token_is_no_session_and_a_session_no_token_and_neither_is_an_invitation(house):
    ann = house.person("ann")
    token = ann.post("/api/me/tokens", json={"name": "laptop"}).json()["token"]
    for secret in (token, house.users.invite("administer")):
        assert house.stranger(cookie=f"{_guard.COOKIE}={secret}").get("/api/runs").status_code == 401
    assert house.program(house.users.invite("administer")).get("/api/users").status_code == 401
    assert house.stranger().post("/api/invitation/look", json={"token": token}).status_code == 422


@pytest.mark.parametrize("change", ["signs out", "is blocked", "gets another role"])
def test_a_socket_is_closed_soon_after_its_person_is_another(house, monkeypatch, change):
    monkeypatch.setattr(_guard, "CHECKS", 0.01)
    chief, ann = house.person("chief", "administer"), house.person("ann")
    with pytest.raises(WebSocketDisconnect) as closed, ann.websocket_connect("/api/events") as socket:
        if change == "signs out":
            ann.delete("/api/session")
        else:
            chief.patch("/api/users/ann", json={"blocked": True} if change == "is blocked" else {"role": "look"})
        while True:
            socket.receive_json()
    assert (closed.value.code, closed.value.reason) == (_guard.SIGNED_OUT, "you are signed out")


def test_the_cookie_is_for_this_server_alone_and_for_https_where_a_proxy_that_is_believed_says_so(settings, quick):
    with opened_house(replace(settings, accounts=True, proxies=("198.51.100.0/24",))) as house:
        token = house.users.invite("run")

        def cookie(address: str, **headers: str) -> str:
            browser = house.stranger(address, **headers)
            fields = {"token": house.users.invite("run"), "name": f"at {address}", "password": PASSWORD}
            return browser.post("/api/invitation", json=fields).headers["set-cookie"]

        forwarded = {"x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.5", "origin": f"https://{HOST}"}
        for said in (cookie("127.0.0.1", **forwarded), cookie("198.51.100.3", **forwarded)):
            assert said.startswith(f"{_guard.SAFE_COOKIE}=")
            assert {"HttpOnly", "Path=/", "SameSite=strict", "Secure"} <= set(said.split("; "))
            assert "Domain" not in said
        said = cookie("192.0.2.1", **forwarded)
        assert said.startswith(f"{_guard.COOKIE}=") and "Secure" not in said
        insecure = house.stranger("127.0.0.1", **forwarded | {"origin": ORIGIN})
        assert insecure.post("/api/invitation/look", json={"token": token}).status_code == 403


def test_addresses_that_a_stranger_makes_up_do_not_help_to_guess_passwords(house):
    house.person("ann")
    tries = [
        sign_in(house.stranger("192.0.2.66", **{"x-forwarded-for": f"203.0.113.{k}"}), f"n{k}", PASSWORD).status_code
        for k in range(11)
    ]
    assert tries[-1] == 429


@pytest.mark.parametrize(
    ("names", "host", "status"),
    [((), "any.example", 200), (("agora.example",), "other.example", 403), (("agora.example",), "Agora.Example:8443", 200)],
)
def test_a_server_with_names_answers_to_these_alone(settings, quick, names, host, status):
    with opened_house(replace(settings, accounts=True, names=names)) as house:
        assert house.stranger(host=host, origin=f"http://{host}").get("/api/me").status_code == status


def test_nothing_that_is_private_stays_in_a_cache_on_the_way(house):
    assert house.person("ann").get("/api/runs").headers["cache-control"] == "no-store"


def test_a_server_without_accounts_knows_nobody_and_lets_everybody_do_everything(settings):
    with opened_house(settings) as house:
        person = house.stranger(host="127.0.0.1", origin="http://127.0.0.1")
        assert person.get("/api/me").json() == {"accounts": False, "name": "", "role": "administer"}
        assert person.post("/api/runs", json=FORM).json()["owner"] == ""
        assert "no accounts" in sign_in(person, "ann", PASSWORD).json()["error"]
        assert "no accounts" in person.get("/api/me/account").json()["error"]
