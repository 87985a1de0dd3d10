"""The pages of a server with accounts, as people come in, work and are sent away."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.web.browsing import PATIENCE, check_access, need_pages

need_pages()

from playwright.sync_api import expect  # noqa: E402

PASSWORD = "a donkey on the roof"


@pytest.fixture(scope="module")
def invitation(tmp_path_factory):
    """The link that a server with accounts prints at its first start."""
    words = [Path(sys.executable).with_name("agora"), "web", tmp_path_factory.mktemp("house"), "--accounts", "--port", "0"]
    with subprocess.Popen([*words, "--workers", "0", "--no-browser"], stderr=subprocess.PIPE, text=True) as server:
        said = "".join(line for _, line in zip(range(3), server.stderr, strict=False))
        yield re.search(r"http://\S+/invitation#\S+", said)[0]
        server.terminate()


@pytest.fixture
def person(browser):
    """Opens a browser of somebody who has none yet."""
    contexts = []

    def opens():
        contexts.append(browser.new_context(viewport={"width": 834, "height": 1100}))
        contexts[-1].set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        return contexts[-1].new_page()

    yield opens
    for context in contexts:
        context.close()


def take(page, link: str, name: str) -> None:
    """Take an invitation."""
    page.goto(link)
    page.get_by_label("Name").fill(name)
    page.get_by_label(re.compile("^Password(?! again)")).fill(PASSWORD)
    page.get_by_label("Password again").fill(PASSWORD)
    check_both(page)
    page.get_by_role("button", name="Create the account").click()
    expect(page.locator(".who")).to_contain_text(name)


def check_both(page) -> None:
    """Look for what keeps people out in light and dark."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        check_access(page)


def test_people_are_invited_work_within_their_role_are_blocked_and_come_back(person, invitation):
    chief, eve = person(), person()
    address = invitation.partition("/invitation")[0]
    eve.goto(f"{address}/results")
    expect(eve.get_by_role("heading", name="Sign in")).to_be_visible()
    check_both(eve)
    take(chief, invitation, "<b>chief</b>")
    chief.goto(f"{address}/server")
    chief.locator("form", has_text="Invite somebody").locator("select").select_option("look")
    chief.get_by_role("button", name="Invite somebody").click()
    take(eve, chief.locator("code.command").inner_text(), "eve")
    eve.goto(f"{address}/run?suite=demo&planner=orca")
    expect(eve.get_by_text("Your role is look")).to_be_visible()
    expect(eve.get_by_role("button", name="Start the run")).to_be_disabled()
    eve.goto(f"{address}/account")
    eve.get_by_label("Name", exact=True).fill("laptop")
    eve.get_by_role("button", name="Create a token").click()
    expect(eve.get_by_text("The token, shown once")).to_be_visible()
    check_both(eve)
    chief.reload()
    chief.get_by_role("button", name="Quotas of eve").click()
    check_both(chief)
    chief.get_by_role("button", name="Block eve").click()
    expect(eve.get_by_role("heading", name="Sign in")).to_be_visible()
    chief.get_by_role("button", name="Unblock eve").click()
    eve.get_by_label("Name").fill("EVE")
    eve.get_by_label("Password").fill(PASSWORD)
    eve.get_by_role("button", name="Sign in").click()
    expect(eve.get_by_role("heading", name="eve")).to_be_visible()
    expect(eve.get_by_text("You have no tokens.")).to_be_visible()
    eve.locator(".who").get_by_role("button", name="Sign out").click()
    expect(eve.get_by_role("heading", name="Sign in")).to_be_visible()
