"""The suite editor and several live worlds as a person uses them, in Debian's Chromium, where it and the built pages are."""

from __future__ import annotations

import re

import pytest

from agora.tasks.suite import load_suite
from tests.web.browsing import check_access, need_pages

need_pages()

from playwright.sync_api import expect  # noqa: E402

FILE = "# by hand\nname: anything\nstages:\n  - {name: one, episodes: 2, world: {name: folder, path: hall}}\n"


def problem(page, words):
    return page.get_by_role("region", name=re.compile("problem", re.IGNORECASE)).get_by_role("button", name=words)


def test_three_densities_are_put_together_looked_at_and_run(page, folder):
    page.goto("/suites")
    expect(page.get_by_role("button", name="Open a copy of demo", exact=True)).to_be_visible()
    check_access(page)
    page.get_by_label("Name").fill("densities")
    page.get_by_role("combobox", name="World").select_option("corridor")
    page.get_by_role("button", name="Create the suite").click()
    for count, name in ((1, "one"), (4, "few"), (9, "many")):
        if count > 1:
            page.get_by_role("button", name="Copy this one").click()
        page.get_by_label("Name (name)").fill(name)
        people = page.get_by_role("group", name="People, minimum and maximum").get_by_role("spinbutton")
        people.nth(0).fill(str(count))
        people.nth(1).fill(str(count))
        expect(page.get_by_text(re.compile(rf"^{count} (person|people);"))).to_be_visible()
    page.get_by_label("Episodes (episodes)").fill("2")
    page.get_by_role("button", name="Next episode").click()
    expect(page.get_by_role("heading", name="Episode 1 of 0 to 1")).to_be_visible()
    check_access(page)
    page.get_by_role("button", name=re.compile("^many")).focus()
    page.keyboard.press("Alt+ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.get_by_label("Name (name)").fill("a <b>")
    page.get_by_label("Crowd model (model)").select_option("orca")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("saved", exact=True)).to_be_visible()
    kept = load_suite(folder / "suites" / "densities.yaml")
    assert [(stage.name, stage.count) for stage in kept.stages] == [("a <b>", 5), ("many", 2), ("few", 5)]
    assert kept.stages[0].crowd.parts[0].name == "orca" and kept.stages[1].obstacles.part.dynamic == (9, 9)
    page.get_by_role("button", name="Run planners on it").click()
    expect(page.get_by_text("12 episodes for each of 2 planners")).to_be_visible()
    expect(page.locator(".command")).to_contain_text(
        re.compile(r"agora bench \S+/suites/densities.yaml --planner orca --planner dwa")
    )


@pytest.mark.parametrize("context", ["light", "dark"], indirect=True)
def test_a_file_is_opened_and_what_is_wrong_is_found_undone_and_kept_over_a_reload(page, context):
    page.goto("/suites")
    upload = page.get_by_label("Or open a file")
    upload.set_input_files(
        {"name": "bad.yaml", "mimeType": "application/yaml", "buffer": b"name: x\nstages: [{name: <b>, wrld: hall}]"}
    )
    expect(page.get_by_role("alert")).to_contain_text("stages[0].wrld: unknown key")
    upload.set_input_files({"name": "by hand.yaml", "mimeType": "application/yaml", "buffer": FILE.encode()})
    expect(page.get_by_role("heading", level=1)).to_contain_text("by-hand")
    page.get_by_role("button", name="one", exact=False).first.press("Tab")
    page.get_by_label("Time limit (timeout)").fill("-3")
    problem(page, "one, timeout: expected a number in (0, 36000]").click()
    expect(page.get_by_label("Time limit (timeout)")).to_be_focused()
    expect(page.get_by_role("button", name="Run planners on it")).to_be_disabled()
    check_access(page)
    page.reload()
    expect(page.get_by_text("were restored")).to_be_visible()
    page.get_by_role("button", name="Discard them").click()
    expect(page.get_by_text("None: the suite can be run.")).to_be_visible()
    page.get_by_text("The file", exact=True).click()
    expect(page.locator("pre")).to_contain_text("# by hand")
    version = context.request.get("/api/suites/own/by-hand").json()["version"] if context else ""
    page.get_by_label("Episodes (episodes)").fill("7")
    changed = {"content": FILE.replace("episodes: 2", "episodes: 3"), "version": version}
    name = page.get_by_role("heading", level=1).inner_text().strip()
    theirs = context.request.get(f"/api/suites/own/{name}").json()["version"]
    assert context.request.put(f"/api/suites/own/{name}", data=changed | {"version": theirs}).ok
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Another user has saved this suite")).to_be_visible()
    page.get_by_role("button", name="Use theirs").click()
    expect(page.get_by_label("Episodes (episodes)")).to_have_value("3")


def test_four_worlds_run_side_by_side_and_keys_act_on_those_that_are_ticked(page):
    lives = [
        page.request.post("/api/live", data={"suite": "demo", "stage": "doorway", "episode": k, "planner": "go_to_goal"}).json()[
            "id"
        ]
        for k in range(4)
    ]
    page.goto(f"/live/{','.join(lives)}")
    lines = page.locator(".readout")
    for k in range(4):
        expect(lines.nth(k)).to_contain_text("speed")
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Continue")).to_be_visible()
    page.keyboard.press("r")
    for k in range(4):
        expect(lines.nth(k)).to_contain_text(re.compile(r"^0\.[01] s"))
    check_access(page)
    page.keyboard.press("2")
    page.keyboard.press("4")
    expect(page.get_by_text("Buttons and keys act on the ticked 2: 1, 3.")).to_be_visible()
    page.keyboard.press("r")
    stood = [lines.nth(k).inner_text() for k in (1, 3)]
    for k in (0, 2):
        expect(lines.nth(k)).to_contain_text(re.compile(r"^0\.[01] s"))
    for _ in range(5):
        page.get_by_role("button", name="Step").click()
    for k in (0, 2):
        expect(lines.nth(k)).to_contain_text(re.compile(r"^0\.[456] s"))
    assert [lines.nth(k).inner_text() for k in (1, 3)] == stood
    page.get_by_role("link", name="Remove world 4").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("3 worlds side by side")
