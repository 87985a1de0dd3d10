"""The scenario editor as a person uses it, in Debian's Chromium, where it and the built pages are."""

from __future__ import annotations

import json
import re

import pytest

from agora.tasks.suite import load_suite
from tests.web.browsing import check_access, need_pages

need_pages()

from playwright.sync_api import BrowserContext, Page, expect  # noqa: E402

HALL = {"map": "hall", "robots": [{"start": [1.5, 5.1, 0.2], "goal": [13.2, 4.6]}], "obstacles": {}}


@pytest.fixture
def name(request) -> str:
    """The name of a scenario of one test."""
    return re.sub(r"\W+", "-", request.node.name)[-60:].strip("-_")


class Board:
    """The map of the world ``hall``, pressed at places in metres."""

    def __init__(self, page: Page) -> None:
        self.page, (left, bottom, right, top) = page, page.request.get("/api/worlds/hall").json()["extent"]
        page.get_by_role("toolbar").wait_for()
        self.canvas, self.middle = page.locator("canvas"), ((left + right) / 2, (bottom + top) / 2)
        self.size = right - left, top - bottom

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        box = self.canvas.bounding_box()
        scale = min(box["width"] / self.size[0], box["height"] / self.size[1])
        return (
            box["x"] + box["width"] / 2 + (x - self.middle[0]) * scale,
            box["y"] + box["height"] / 2 - (y - self.middle[1]) * scale,
        )

    def press(self, x: float, y: float) -> None:
        self.page.mouse.click(*self.pixel(x, y))

    def drag(self, x: float, y: float, to_x: float, to_y: float) -> None:
        self.page.mouse.move(*self.pixel(x, y))
        self.page.mouse.down()
        self.page.mouse.move(*self.pixel(to_x, to_y), steps=4)
        self.page.mouse.up()

    def tool(self, words: str) -> None:
        button = self.page.get_by_role("toolbar").get_by_role("button", name=words)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")


def keep(context: BrowserContext, name: str, content: dict, version: str = "") -> str:
    answer = context.request.put(f"/api/scenarios/{name}", data={"content": content, "version": version})
    assert answer.ok, answer.text()
    return answer.json()["version"]


def element(page: Page, name: str):
    return page.get_by_role("list").locator("button", has_text=name)


def test_two_who_talk_and_one_who_walks_are_drawn_saved_and_watched(page, folder, name):
    page.goto("/scenarios")
    expect(page.get_by_role("button", name="Open a copy of five_crossing in hall")).to_be_visible()
    check_access(page)
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Draw it").click()
    board = Board(page)
    expect(page.get_by_text("the scenario has no robot yet")).to_be_visible()
    board.tool("Robot")
    board.drag(1.5, 5.0, 2.5, 6.0)
    expect(page.locator(".hint")).to_contain_text("press at the robot's goal")
    board.press(13.0, 4.5)
    board.tool("Person")
    board.press(6.0, 5.6)
    board.press(7.0, 4.8)
    board.tool("Talk")
    board.press(6.0, 5.6)
    expect(page.get_by_text("person_2 (pedestrian 2, an adult) stands at", exact=False)).to_contain_text("talks with person_1")
    board.tool("Person")
    board.drag(10.0, 1.0, 10.0, 2.0)
    board.tool("Way")
    board.press(10.0, 8.9)
    expect(page.get_by_text("Way of 1 point")).to_be_visible()
    page.get_by_label("Name").fill("lena <b>x</b>")
    page.get_by_label("Name").press("Enter")
    page.get_by_role("combobox", name=re.compile("^Does")).select_option("phone")
    expect(page.get_by_text("lena <b>x</b> (pedestrian 3, an adult)", exact=False)).to_contain_text(
        "walks at half speed while it talks on the phone"
    )
    expect(page.get_by_text("None: the scenario can be played.")).to_be_visible()
    check_access(page)
    page.keyboard.press("Control+s")
    expect(page.get_by_text("saved", exact=True)).to_be_visible()
    content = json.loads((folder / "scenarios" / f"{name}.json").read_text(encoding="utf-8"))
    (robot,), (one, two, three) = content["robots"], content["obstacles"]["dynamic"]
    assert robot["start"] == pytest.approx([1.5, 5.0, 0.785], abs=0.05) and robot["goal"][:2] == pytest.approx(
        [13.0, 4.5], abs=0.05
    )
    assert one["pos"] == pytest.approx([6.0, 5.6], abs=0.05) and two["with"] == "person_1"
    assert three["heading"] == pytest.approx(1.57, abs=0.05) and three["waypoints"][0] == pytest.approx([10.0, 8.9], abs=0.05)
    assert (three["state"], three["name"]) == ("phone", "lena <b>x</b>")
    assert load_suite(folder / "scenarios" / f"{name}.json").start(name, 0).pedestrians.talk.tolist() == [0, 0, -1]
    page.get_by_label("Planner").select_option("orca")
    page.get_by_role("button", name="Watch it").click()
    expect(page.locator(".readout")).to_contain_text("people")
    page.get_by_role("link", name="Back to the drawing").click()
    expect(element(page, "person_1")).to_be_visible()


def test_everything_is_moved_turned_undone_and_taken_away_by_keys(page, context, name):
    keep(
        context,
        name,
        HALL | {"obstacles": {"dynamic": [{"name": "ada", "pos": [6.0, 5.5], "with": "ben"}, {"name": "ben", "pos": [7.0, 5.5]}]}},
    )
    page.goto(f"/scenarios/{name}")
    element(page, "ada").focus()
    page.keyboard.press("Enter")
    for key in ("ArrowUp", "ArrowUp", "Shift+ArrowLeft"):
        page.keyboard.press(key)
    expect(page.get_by_label("x m")).to_have_value("5.5")
    expect(page.get_by_label("y m")).to_have_value("5.7")
    page.keyboard.press("]")
    expect(page.get_by_label("Heading °")).not_to_have_value("0")
    page.keyboard.press("Delete")
    expect(element(page, "ada")).to_have_count(0)
    expect(page.get_by_text("ben (pedestrian 1, an adult) stands at", exact=False)).to_contain_text("has no waypoints")
    for _ in range(3):
        page.keyboard.press("Control+z")
    expect(page.get_by_text("saved", exact=True)).to_be_visible()
    page.keyboard.press("Control+Shift+z")
    expect(page.get_by_text("unsaved edits")).to_be_visible()
    page.get_by_role("group", name="Map.").focus()
    page.keyboard.press("p")
    page.keyboard.press("Enter")
    expect(element(page, "person_1")).to_be_visible()


def test_edits_that_were_not_saved_are_there_after_a_reload_and_can_be_thrown_away(page, context, name):
    keep(context, name, HALL)
    page.goto(f"/scenarios/{name}")
    board = Board(page)
    board.tool("Person")
    board.press(5.0, 5.0)
    expect(page.get_by_text("unsaved edits")).to_be_visible()
    page.reload()
    expect(page.get_by_text("were restored")).to_be_visible()
    expect(element(page, "person_1")).to_be_visible()
    check_access(page)
    page.get_by_role("button", name="Discard them").click()
    expect(element(page, "person_1")).to_have_count(0)
    expect(page.get_by_text("saved", exact=True)).to_be_visible()


@pytest.mark.parametrize("choice", ["Keep mine as a copy", "Use theirs"])
def test_who_saves_what_somebody_else_has_changed_chooses(page, context, name, choice):
    version = keep(context, name, HALL)
    page.goto(f"/scenarios/{name}")
    board = Board(page)
    board.tool("Person")
    board.press(5.0, 5.0)
    expect(element(page, "person_1")).to_be_visible()
    keep(context, name, HALL | {"obstacles": {"dynamic": [{"name": "theirs", "pos": [9.0, 5.0]}]}}, version)
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Another user has saved this scenario")).to_be_visible()
    check_access(page)
    page.get_by_role("button", name=choice).click()
    expect(page.get_by_text("saved", exact=True)).to_be_visible()
    mine = choice.startswith("Keep")
    expect(element(page, "person_1" if mine else "theirs")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"{name}-mine" if mine else name)
    there = context.request.get(f"/api/scenarios/{name}").json()["content"]["obstacles"]["dynamic"]
    assert [person["name"] for person in there] == ["theirs"]


@pytest.mark.parametrize("context", ["light", "dark"], indirect=True)
def test_a_problem_is_told_where_it_is_and_a_press_on_it_chooses_who_has_it(page, context, name):
    keep(context, name, HALL | {"obstacles": {"dynamic": [{"name": "ada", "pos": [7.5, 7.2]}]}})
    page.goto(f"/scenarios/{name}")
    page.get_by_role("button", name="ada starts at (7.50, 7.20), inside an obstacle").click()
    expect(page.get_by_role("heading", name="ada")).to_be_visible()
    board = Board(page)
    board.drag(7.5, 7.2, 7.5, 5.0)
    expect(page.get_by_text("None: the scenario can be played.")).to_be_visible()


def test_a_world_is_made_or_taken_and_a_scenario_begins_in_it(page, context, folder, name):
    page.goto("/scenarios")
    page.get_by_text("Generate a world for it").click()
    page.get_by_label("Generator").select_option("corridor")
    page.get_by_label("Called").fill(f"{name}-c")
    page.get_by_role("button", name="Create this world").click()
    expect(page.get_by_role("combobox", name="World")).to_have_value(f"{name}-c")
    check_access(page)
    page.get_by_label("Its world").fill(f"{name}-m")
    page.get_by_label("Files", exact=True).set_input_files(
        [folder / "worlds" / f"{name}-c" / "map" / file for file in ("map.yaml", "map.png")]
    )
    expect(page.get_by_role("combobox", name="World")).to_have_value(f"{name}-m")
    page.get_by_label("Files", exact=True).set_input_files(
        {
            "name": "from Arena.json",
            "mimeType": "application/json",
            "buffer": b'{"robots": [{"start": [2, 4], "goal": [9, 4], "colour": "red"}]}',
        }
    )
    expect(page.get_by_text("from Arena.json: robots[…].colour")).to_be_visible()
    check_access(page)
    page.get_by_role("link", name="scenario from-Arena").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"in {name}-m")
