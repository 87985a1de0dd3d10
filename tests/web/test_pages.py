"""The pages as a person uses them, in Debian's Chromium, where it and the built pages are: where changes are checked they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agora.benchmark.bench import run_all
from agora.benchmark.request_form import RequestForm
from agora.benchmark.results.audit import audit_run
from tests.web.browsing import PATIENCE, check_access, need_pages

LISTS = ("results", "training", "leaderboard", "planners", "robots", "policies")
COLOURS = """() => {
    const canvas = document.querySelector("canvas"), all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(all.data.buffer)).size;
}"""
"""Counts the colours of the first canvas."""
BOTH_AT_ONCE = """
    const begun = [], ask = window.fetch;
    window.fetch = async (path, how) => {
        const answer = await ask(path, how);
        if (path !== "/api/live") return answer;
        const said = await answer.json(), answered = { ok: true, status: answer.status, headers: answer.headers };
        if (how.method === "GET") return { ...answered, json: async () => [] };
        return new Promise((resolve) => {
            begun[JSON.parse(how.body).drive ? 0 : 1] = () => resolve({ ...answered, json: async () => said });
            if (begun[0] && begun[1]) for (const tell of begun) tell();
        });
    };
"""
"""Hides the episodes that run, and answers requests for new ones when the second is there, first the one of who drives."""

need_pages()

from playwright.sync_api import expect  # noqa: E402


def test_the_first_page_shows_people_who_walk_and_is_paused_stepped_and_begun_again_by_hand(page):
    page.goto("/")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Continue").wait_for()
    expect(page.locator(".readout")).to_contain_text("people")
    assert page.evaluate(COLOURS) > 10
    before = page.locator(".readout").inner_text()
    page.get_by_role("button", name="Step").click()
    expect(page.locator(".readout")).not_to_have_text(before)
    check_access(page)
    title = page.get_by_role("heading", level=1)
    shown = title.inner_text()
    page.keyboard.press("n")
    expect(title).not_to_have_text(shown)


def test_a_person_drives_the_robot_by_the_keys(page):
    page.goto("/")
    page.get_by_role("button", name="Drive now").click()
    expect(page.get_by_text("You drive.")).to_be_visible()
    expect(page.get_by_text("Press an arrow key to start.")).to_be_visible()
    page.keyboard.down("ArrowUp")
    page.get_by_role("button", name="Pause").wait_for()
    expect(page.locator(".readout")).to_contain_text(re.compile(r"command 0\.[1-9]"))
    page.keyboard.up("ArrowUp")
    expect(page.locator(".readout")).to_contain_text("command 0.00 m/s")
    check_access(page)


def test_a_button_that_is_held_while_the_first_episode_begins_is_pressed(page):
    page.goto("/")
    button = page.get_by_role("button", name="Drive now")
    button.hover()
    place = button.bounding_box()
    page.mouse.down()
    page.wait_for_url("**/live/*")
    page.get_by_role("button", name="Pause").wait_for()
    assert button.bounding_box() == place  # it does not move from under the pointer
    page.mouse.up()
    expect(page.get_by_text("You drive.")).to_be_visible(timeout=0.3 * PATIENCE)  # a press that is lost is soon known


def test_who_drives_goes_on_driving_where_the_first_episode_begins_at_the_same_moment(page):
    page.add_init_script(BOTH_AT_ONCE)
    page.goto("/")
    page.get_by_role("button", name="Drive now").click()
    expect(page.get_by_text("You drive.")).to_be_visible()


def test_two_planners_are_compared_from_the_page_and_the_command_line_gives_the_same_rows(page, folder, tmp_path):
    page.goto("/run?suite=demo&planner=go_to_goal&planner=pure_pursuit&episodes=1")
    check_access(page)
    page.get_by_label("Title").fill("<b>two</b> & <script>alert(1)</script>")
    page.get_by_role("button", name="Start the run").click()
    expect(page.get_by_text("finished, 8 episodes")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("<b>two</b> & <script>alert(1)</script>")
    report = page.frame_locator("iframe")
    expect(report.get_by_text("Which planner reached the most goals?")).to_be_visible()
    check_access(page)
    page.get_by_role("link", name="Episodes").click()
    expect(page.locator("table tbody tr")).to_have_count(8)
    check_access(page)
    page.get_by_role("button", name=re.compile("^Replay ")).first.click()
    shown = page.frame_locator("iframe")
    expect(shown.locator(".replay-readout")).to_contain_text(re.compile(r"^(?!0\.0 s)\d"))
    expect(shown.locator(".replay-play")).to_be_in_viewport()
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    expect(shown.get_by_role("button", name="Play")).to_be_in_viewport()
    expect(shown.locator(".replay-readout")).to_contain_text(re.compile(r"^0\.0 s"))
    page.get_by_role("link", name="Tables and files").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").first.click()
    assert Path(download.value.path()).read_text(encoding="utf-8").count("\n") == 9
    check_access(page)
    form = RequestForm("demo", ("go_to_goal", "pure_pursuit"), episodes=1, output=tmp_path / "terminal", workers=0)
    run_all(form.request())
    runs = sorted((folder / "runs").iterdir())
    shown, typed = ({row["key"]: dict(row) for row in audit_run(place).rows} for place in (runs[-1], tmp_path / "terminal"))
    timed = {name for row in typed.values() for name in row if "planning" in name}
    assert {k: {n: v for n, v in row.items() if n not in timed} for k, row in shown.items()} == {
        k: {n: v for n, v in row.items() if n not in timed} for k, row in typed.items()
    }


@pytest.mark.parametrize("context", ["light", "dark"], indirect=True)
@pytest.mark.parametrize("name", ["", "run", *LISTS, "nowhere", "results/nothing", "live/nothing"])
def test_no_page_is_empty_and_all_can_be_used_by_everybody(page, name):
    page.goto(f"/{name}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("main")).to_contain_text(re.compile(r"\w{3,}.*\w{3,}", re.DOTALL))
    check_access(page)


def test_a_page_is_drawn_within_a_second_of_processor_time(browser, address):
    context = browser.new_context(base_url=address)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    session = context.new_cdp_session(page)
    session.send("Performance.enable")
    page.goto("/planners")
    page.get_by_role("heading", level=1).wait_for()
    spent = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    assert spent["ScriptDuration"] + spent["LayoutDuration"] < 1.0
    context.close()
