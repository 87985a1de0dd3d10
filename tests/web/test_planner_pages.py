"""A planner that is code is brought on the pages as a person does it, where the server allows code."""

from __future__ import annotations

import re

import pytest

from agora.planners.contained.confine import lack
from tests.web._user_planners.test_uploaded_planners import CODE
from tests.web.browsing import check_access, need_pages

need_pages()
if lack():
    pytest.skip(lack(), allow_module_level=True)

from playwright.sync_api import Page, expect  # noqa: E402

OPTIONS = ("--allow-code",)


def give(page: Page, code: str, name: str = "slow.py", nth: int = 0) -> None:
    page.locator("input[type=file]").nth(nth).set_input_files({"name": name, "mimeType": "text/x-python", "buffer": code.encode()})


@pytest.mark.parametrize("context", ["dark"], indirect=True)
def test_a_planner_is_brought_watched_put_into_a_run_replaced_and_removed(page, folder):
    page.set_default_timeout(60_000)
    expect.set_options(timeout=60_000)
    page.goto("/planners")
    page.get_by_text("Upload your own planner").click()
    expect(page.get_by_text("This runs your code on the server")).to_be_visible()
    give(page, "import os\nos.fork()\n")
    expect(page.get_by_role("alert")).to_contain_text("(slow.py, line 2, in <module>); a planner from a file may not start")
    give(page, CODE)
    expect(page.get_by_role("heading", name="own/slow")).to_be_visible()
    expect(page.locator("p.said")).to_have_text("Drives <b>slowly</b>.")
    expect(page.get_by_text("at most, m/s.")).to_be_visible()
    check_access(page)
    page.get_by_role("link", name="Run it on a suite").click()
    page.get_by_text("parameters", exact=True).click()
    page.get_by_role("spinbutton", name="speed").fill("0.5")
    expect(page.locator("code.command")).to_contain_text(f"contained:file={folder}/planners/slow.py,values={{speed: 0.5}}")
    page.goto("/planners/own%2Fslow")
    page.get_by_text("Replace it with another file").click()
    give(page, CODE.replace("slowly", "fast"), nth=1)
    expect(page.locator("p.said")).to_have_text("Drives <b>fast</b>.")
    page.get_by_role("button", name="Watch it").click()
    expect(page).to_have_url(re.compile("/live/"))
    page.goto("/planners/own%2Fslow")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("link", name="own/slow")).to_have_count(0)
    assert not [*(folder / "planners").iterdir()]
