"""The drawing of worlds as a person does it, in Debian's Chromium, where it and the built pages are."""

from __future__ import annotations

import re

import pytest

from agora.maps.place import read_place
from agora.share import folder as shared
from tests.web.browsing import check_access, need_pages

need_pages()

from playwright.sync_api import Page, expect  # noqa: E402


@pytest.fixture
def name(request) -> str:
    """The name of a world of one test."""
    return re.sub(r"\W+", "-", request.node.name)[-60:].strip("-_")


class Board:
    """The map of an empty world of 10 x 8 m, pressed at places in metres."""

    def __init__(self, page: Page) -> None:
        self.page, self.tools = page, page.get_by_role("toolbar")
        self.tools.wait_for()
        self.canvas = page.locator("canvas")

    def at(self, x: float, y: float) -> tuple[float, float]:
        box = self.canvas.bounding_box()
        scale = min(box["width"] / 10.6, box["height"] / 8.6)
        return box["x"] + box["width"] / 2 + (x - 5) * scale, box["y"] + box["height"] / 2 - (y - 4) * scale

    def press(self, *places: tuple[float, float]) -> None:
        for x, y in places:
            self.page.mouse.click(*self.at(x, y))

    def drag(self, x: float, y: float, to_x: float, to_y: float) -> None:
        self.page.mouse.move(*self.at(x, y))
        self.page.mouse.down()
        self.page.mouse.move(*self.at(to_x, to_y), steps=4)
        self.page.mouse.up()

    def tool(self, words: str) -> None:
        button = self.tools.get_by_role("button", name=words)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize("context", ["light", "dark"], indirect=True)
def test_two_rooms_a_door_a_zone_and_a_desk_are_drawn_and_saved(page, folder, name):
    page.goto("/worlds")
    expect(page.get_by_role("button", name="Draw in a copy of hall")).to_be_visible()
    check_access(page)
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Draw it").click()
    board = Board(page)
    board.tool("Wall")
    board.drag(5.0, 0.0, 5.0, 8.0)
    board.tool("Door")
    board.press((5.0, 2.0), (5.0, 3.0))
    board.tool("Zone")
    board.press((0.5, 0.5), (4.5, 0.5), (4.5, 5.0), (0.5, 5.0), (0.5, 0.5))
    page.get_by_label("Name").fill("office <b>1</b>")
    page.get_by_label("Kinds").fill("room, staff")
    board.tool("Thing")
    board.press((2.0, 4.0))
    page.get_by_label("Heading °").fill("90")
    page.get_by_label("Heading °").press("Tab")
    check_access(page)
    page.keyboard.press("Control+s")
    expect(page.get_by_text("saved", exact=True)).to_be_visible()
    expect(page.get_by_text("for a robot of radius 0.3 m, the map has one area")).to_be_visible()
    place = read_place(folder / "worlds" / name)
    inside = place.map.gap([[5.0, 1.0], [5.0, 2.5], [5.0, 5.0], [2.0, 4.0]]) <= 0.0
    assert inside.tolist() == [True, False, True, True]
    assert [(zone.label, zone.category) for zone in place.zones] == [("office <b>1</b>", ("room", "staff"))]
    assert place.zones[0].polygons[0].tolist() == [[0.5, 0.5], [4.5, 0.5], [4.5, 5.0], [0.5, 5.0]]
    assert [(one.model, round(one.heading, 3)) for one in place.furniture] == [("office_desk", 1.571)]
    page.get_by_role("button", name="Draw a scenario in it").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"in {name}")


def test_everything_is_drawn_undone_and_moved_by_keys_and_edits_outlive_a_reload(page, context, folder, name):
    assert context.request.post("/api/worlds/empty", data={"name": name, "width": 10, "height": 8}).ok
    page.goto(f"/worlds/{name}")
    board = Board(page)
    page.get_by_role("group", name="Map.").focus()
    for key in ("w", "Enter", "Shift+ArrowRight", "Shift+ArrowRight", "Enter", "Escape", "f", "Shift+ArrowUp", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name="office desk")).to_be_visible()
    page.keyboard.press("v")
    page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("]")
    expect(page.get_by_label("y m")).to_have_value("5.5")
    expect(page.get_by_label("Heading °")).to_have_value("-5")
    page.keyboard.press("Delete")
    expect(page.get_by_text("No zones and no furniture yet.")).to_be_visible()
    page.keyboard.press("Control+z")
    expect(page.get_by_role("button", name="office desk")).to_be_visible()
    while not page.evaluate("localStorage.length"):
        page.wait_for_timeout(50)
    page.reload()
    expect(page.get_by_text("were restored")).to_be_visible()
    board.tools.wait_for()
    page.keyboard.press("Control+s")
    expect(page.get_by_text("saved", exact=True)).to_be_visible()
    place = read_place(folder / "worlds" / name)
    assert (place.map.gap([[5.0, 4.0], [6.9, 4.0], [4.5, 4.0]]) <= 0.0).tolist() == [True, True, False]
    assert [(one.x, one.y) for one in place.furniture] == [(7.0, 5.5)]


def test_who_saves_what_somebody_else_has_changed_keeps_a_copy(page, context, folder, name):
    assert context.request.post("/api/worlds/empty", data={"name": name, "width": 10, "height": 8}).ok
    page.goto(f"/worlds/{name}")
    board = Board(page)
    board.tool("Block")
    board.press((2.0, 2.0), (3.0, 3.0))
    drawing = context.request.get(f"/api/worlds/{name}/drawing").json()
    zone = {"label": "theirs", "category": ["room"], "polygon": [[[1, 1], [2, 1], [2, 2]]]}
    kept = context.request.put(
        f"/api/worlds/{name}/drawing", data={"version": drawing["version"], "zones": [zone], "furniture": []}
    )
    assert kept.ok
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Another user has saved this world")).to_be_visible()
    check_access(page)
    page.get_by_role("button", name="Keep mine as a copy").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"{name}-mine")
    mine, theirs = (read_place(folder / "worlds" / one) for one in (f"{name}-mine", name))
    assert (mine.map.gap([[2.5, 2.5]]) <= 0.0, mine.zones) == (True, ()) and [zone.label for zone in theirs.zones] == ["theirs"]


def test_a_policy_is_brought_and_offered_as_a_planner(page):
    page.goto("/policies")
    page.get_by_text("Upload your own policy").click()
    page.get_by_label("File").set_input_files(shared("configs") / "policies" / "hall.safetensors")
    expect(page.get_by_role("heading", name="own/hall")).to_be_visible()
    check_access(page)
    page.get_by_role("link", name="Run it").click()
    expect(page.get_by_role("checkbox", name="own/hall")).to_be_checked()
    expect(page.locator(".command")).to_contain_text(re.compile(r"--planner policy:file=\S+/policies/hall.safetensors"))
