"""Users, keys and owners in the database, of each kind."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text, update
from sqlalchemy.orm import Session
from typer.testing import CliRunner

import agora.web.database as database
from agora.cli.app import app
from agora.errors import InputError, UnknownNameError
from agora.web._accounts.keys import LIVES, Keys
from agora.web._accounts.ownership import Ownership
from agora.web._accounts.rate_limits import Buckets, network_of
from agora.web._accounts.tables import INVITATION, SESSION, TOKEN, Key
from agora.web._accounts.users import Users
from agora.web._runs.queue import RunQueue
from agora.web._tables import now
from agora.web.database import open_database
from agora.web.serve import is_loopback, serve
from agora.web.settings import Quotas, Settings, read_limits


@pytest.fixture
def engine(url):
    with open_database(url) as found:
        yield found


def test_a_database_of_before_there_were_accounts_keeps_its_runs_which_are_nobodys(url):
    engine, config = create_engine(url), Config()
    config.set_main_option("script_location", str(Path(database.__file__).parent / "migrations"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        row = {"id": "a", "title": "old", "state": "finished", "form": "{}", "created": now()}
        connection.execute(
            text(
                "INSERT INTO runs (id, title, state, form, done, total, message, stop, worker, created) "
                "VALUES (:id, :title, :state, :form, 3, 3, '', false, '', :created)"
            ),
            row,
        )
    engine.dispose()
    for _ in range(2):
        with open_database(url) as found:
            (run,) = RunQueue(found).runs()
            assert (run.title, run.done, run.owner, run.plain()["owner"]) == ("old", 3, "", "")


def test_an_invitation_is_taken_by_one_of_those_who_take_it_at_once(engine):
    users = Users(engine, Quotas())
    secret = users.invite("run")
    assert users.accept_invitation(secret, "Ann", "hash").role == "run"
    with pytest.raises(InputError, match="used or expired"):
        users.accept_invitation(secret, "Ben", "hash")
    second = users.invite("look")
    with pytest.raises(InputError, match="'ann' is already"):
        users.accept_invitation(second, "ann", "hash")
    assert users.accept_invitation(second, "ben", "hash").role == "look"
    assert [user.name for user in users.all()] == ["Ann", "ben"]


def test_the_terminal_lets_an_administrator_in_who_is_blocked_or_has_lost_the_password(engine):
    users = Users(engine, Quotas())
    users.accept_invitation(users.invite("administer"), "chief", "hash")
    users.accept_invitation(users.invite("administer"), "ann", "hash")
    users.change("ann", {"blocked": True})
    ann = users.accept_invitation(users.invite("administer", "ann"), "whatever", "another")
    assert (ann.name, ann.role, ann.blocked, ann.password) == ("ann", "administer", False, "another")
    with pytest.raises(UnknownNameError, match="did you mean 'chief'"):
        users.invite("", "chef")
    with pytest.raises(InputError, match="look, run or administer"):
        users.invite("")


def test_keys_open_until_they_are_over_and_a_session_that_is_used_stays_longer(engine):
    users, keys = Users(engine, Quotas()), Keys(engine)
    users.accept_invitation(users.invite("run"), "ann", "hash")
    session, token = keys.make(SESSION, "ann"), keys.make(TOKEN, "ann", timedelta(days=1), label="laptop")

    def age(by: timedelta) -> None:
        with Session(engine) as open_:
            open_.execute(update(Key).values(created=now() - by, expires=now() - by + LIVES[SESSION]))
            open_.commit()

    age(timedelta(days=10))
    assert keys.user(SESSION, session).name == keys.user(TOKEN, token).name == "ann"
    (kept,), (other,) = keys.all(SESSION), keys.all(TOKEN)
    assert kept.expires > now() + timedelta(days=13) > other.expires
    assert (kept.used, other.used is None, other.label) == (None, False, "laptop")
    assert keys.user(TOKEN, session) is keys.user(SESSION, token) is keys.user(INVITATION, session) is None
    age(timedelta(days=15))
    assert keys.user(SESSION, session) is keys.user(TOKEN, token) is None
    assert [*keys.all(SESSION), *keys.all(TOKEN)] == []


def test_no_secret_is_in_the_database(engine):
    secret = Keys(engine).make(SESSION, "ann")
    with engine.connect() as connection:
        assert secret not in str(connection.execute(text("SELECT * FROM keys")).all())


def test_a_thing_has_the_owner_who_made_it_last(engine, tmp_path):
    ownership = Ownership(engine, {"scenario": lambda name: tmp_path / name})
    assert ownership.owner("scenario", "one") is None
    (tmp_path / "one").write_text("12345")
    assert ownership.owner("scenario", "one") == ""
    for owner in ("ann", "ben"):
        ownership.put(owner, ("scenario", "one"))
        assert ownership.owner("scenario", "one") == owner
    assert (ownership.of("ann"), ownership.of("ben")) == ([], [tmp_path / "one"])
    ownership.forget("scenario", "one")
    assert ownership.of("ben") == []


def test_a_bucket_fills_evenly_and_there_are_not_endlessly_many():
    time = [0.0]
    buckets = Buckets(rate=0.5, size=3, clock=lambda: time[0])
    assert [buckets.take("a") for _ in range(4)] == [0.0, 0.0, 0.0, 2.0]
    time[0] = 1.0
    assert buckets.take("a") == 1.0
    time[0] = 2.0
    assert [buckets.take("a"), buckets.take("a")] == [0.0, 2.0]
    buckets.refill("a")
    assert buckets.take("a") == 0.0
    for number in range(30_000):
        buckets.take(str(number))
    assert len(buckets._levels) <= 20_000


def test_addresses_of_one_household_are_one_place():
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff") != network_of("2001:db8:1::1")
    assert network_of("::ffff:192.0.2.1") == network_of("192.0.2.1") != network_of("192.0.2.2")
    assert network_of("no address") == "no address"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("quotas:\n  run: 3\n", "web.yaml:2: quotas.run: unknown key; did you mean 'runs'?"),
        ("quotas:\n  runs: many\n", "web.yaml:2: quotas.runs: expected an integer, got 'many'"),
        ("quotas:\n  runs: 0\n", "runs: expected an integer of at least 1, got 0"),
        ("rates: {requests: -1}\n", "requests: expected a number above 0"),
        ("lives: 0\n", "lives: expected an integer of at least 1"),
        ("quota: {}\n", "did you mean 'quotas'?"),
    ],
)
def test_limits_that_cannot_be_are_refused_with_line_key_and_nearest_name(tmp_path, written, said):
    assert read_limits(tmp_path).quotas == Quotas()
    (tmp_path / "web.yaml").write_text(written)
    with pytest.raises(InputError) as refused:
        read_limits(tmp_path)
    assert said in str(refused.value)


def test_limits_that_a_file_says_are_those_of_the_server(tmp_path):
    (tmp_path / "web.yaml").write_text("quotas: {runs: 9}\nlives: 12\n")
    limits = read_limits(tmp_path)
    assert (limits.quotas.runs, limits.quotas.uploads, limits.lives) == (9, Quotas().uploads, 12)


def test_a_server_that_others_can_reach_has_accounts(tmp_path):
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "192.0.2.1")] == [True] * 3 + [False] * 2
    with pytest.raises(InputError, match="expected an address"):
        is_loopback("example.org")
    with pytest.raises(InputError, match="needs accounts"):
        serve(Settings(tmp_path), "0.0.0.0", 0, 0, opens=False, say=print)


def test_the_terminal_prints_the_link_of_an_invitation(settings):
    words = ["server", "invite", str(settings.folder), "--role", "administer", "--address", "https://agora.example/"]
    printed = CliRunner().invoke(app, words).output
    address, _, secret = printed.strip().partition("#")
    assert address == "https://agora.example/invitation"
    with open_database(settings.url) as engine:
        assert Users(engine, Quotas()).get_invitation(secret).role == "administer"
    for wrong, said in (
        ([*words, "--user", "nobody"], "no user called"),
        (["server", "invite", "/nowhere"], "not a server folder"),
    ):
        assert said in str(CliRunner().invoke(app, wrong).exception)


def test_names_and_proxies_are_for_a_server_with_accounts(tmp_path):
    refused = CliRunner().invoke(app, ["web", str(tmp_path), "--name", "agora.example"])
    assert "add --accounts" in str(refused.exception)
