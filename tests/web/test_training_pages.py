"""The page of trainings as a person uses it, in Debian's Chromium: a small training is asked for, read, and driven with."""

from __future__ import annotations

import re
from pathlib import Path

from tests.web._runs.test_trainings import SMALL
from tests.web.browsing import check_access, need_pages

need_pages()

from playwright.sync_api import expect  # noqa: E402


def test_a_person_trains_a_policy_reads_its_curve_and_drives_with_it(page):
    page.goto("/training?training=ga3c_cadrl")
    page.get_by_text("No changes").click()
    page.get_by_label("trainer.steps", exact=True).fill("-3")
    check_access(page)
    page.get_by_role("button", name="Start the training").click()  # the browser refuses it, and shows where
    expect(page.get_by_label("trainer.steps", exact=True)).to_be_focused()
    for name, value in SMALL.items():
        page.get_by_label(name, exact=True).fill(f"[{', '.join(value)}]" if isinstance(value, list) else str(value))
    page.get_by_label("Find a field").fill("no field at all")
    expect(page.get_by_label("trainer.steps", exact=True)).to_have_value("120")  # what was changed stays in sight
    page.get_by_label("Title").fill("<b>small</b>")
    page.get_by_role("button", name="Start the training").click()
    expect(page.get_by_text("finished")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("<b>small</b>")
    _read(page)
    _use(page)


def _read(page) -> None:
    """Read the curve by keys and as a table, and take a file along."""
    chart = page.get_by_role("figure", name="Success")
    chart.get_by_role("group", name="arrow keys").press("End")
    expect(chart.get_by_role("status")).to_contain_text(re.compile(r"120 steps.*validation: \d+\.\d %"))
    chart.get_by_role("group", name="arrow keys").press("Home")
    expect(chart.get_by_role("status")).to_contain_text(re.compile(r"\d+ steps"))
    page.get_by_label("The second chart shows").select_option("value_loss")
    expect(page.get_by_role("figure", name="Value loss")).to_be_visible()
    chart.get_by_text("The values as a table").click()
    expect(chart.get_by_role("row").last).to_contain_text("120")
    expect(page.get_by_role("region", name="Seeds")).to_contain_text("120 steps")
    check_access(page)
    page.emulate_media(color_scheme="dark")
    check_access(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="policy.safetensors").click()
    assert Path(download.value.path()).stat().st_size > 1000


def _use(page) -> None:
    """Watch the policy drive, and find it among the planners of a run."""
    address = page.url
    page.get_by_role("button", name="Watch it drive").click()
    page.wait_for_url("**/live/*")
    expect(page.get_by_role("heading", level=1)).to_contain_text("ga3c_cadrl-")
    page.goto(address)
    page.get_by_role("link", name="Compare it with orca").click()
    expect(page.get_by_role("checkbox", name="own/ga3c_cadrl-")).to_be_checked()
    expect(page.get_by_role("checkbox", name=re.compile("^orca ")).first).to_be_checked()
