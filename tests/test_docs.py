"""README, CONTRIBUTING and the manual: what they show runs, and what they list is what there is."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from PIL import Image
from typer.testing import CliRunner

from agora.cli.app import app
from agora.field_docs import meanings
from agora.planners.presets import named_planner
from agora.registry import available, load
from agora.robots.model import robot_names
from agora.tasks.cards.card import card_names
from agora.tasks.modules.axis import axis_of
from agora.tasks.suite import load_suite, suite_names
from tests.perception.models import picture, write_model

ROOT = Path(__file__).resolve().parents[1]
MANUAL = sorted(path for path in (ROOT / "docs").rglob("*.md") if not {"_build", "generated"} & set(path.parts))
PAGES = [ROOT / "README.md", *MANUAL]
NEEDS_DATA = {"use_real_data"}
NEEDS_MODEL = {"perceive_pedestrians"}
NEEDS_PIP = {
    "add_a_backend",
    "add_a_crowd_model",
    "add_a_policy",
    "add_a_sensor",
    "add_a_simulator",
    "add_a_trainer",
    "add_an_executor",
}  # followed in tests/test_plugin.py
WHOLE = {"submit_to_the_leaderboard"}  # which takes no part of a suite
NEEDS_A_PROGRAM = {"planner_in_another_language"}  # followed in tests/planners/test_remote.py
BLOCK = re.compile(r"(?:^`(?P<file>[\w./-]+)`:\n\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


LAUNCHED = re.compile(r'local_planner:="?([^"\s`|]+)')


class Block(NamedTuple):
    """A fenced block: its text, its language, and the name of the file that it is, where the line before gives one."""

    language: str
    text: str
    file: str | None


def blocks(path: Path) -> Iterator[Block]:
    return (Block(m["language"], m["text"], m["file"]) for m in BLOCK.finditer(path.read_text(encoding="utf-8")))


def commands(block: Block) -> Iterator[list[str]]:
    for line in block.text.splitlines() if block.language == "console" else ():
        words = shlex.split(line, comments=True)
        if words[:1] == ["agora"]:
            yield words[1:]


def follow(path: Path) -> int:
    """Do what a page says, in the working folder: write its files, run its Python and its ``agora`` commands.

    A benchmark has two episodes of a stage where the page neither says how many nor needs all.
    """
    names: dict[str, object] = {"__name__": "page"}
    done = 0
    for block in blocks(path):
        if block.file is not None:
            place = Path(block.file)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            exec(compile(block.text, f"{path.name}", "exec", dont_inherit=True), names)
        done += 1
        for words in commands(block):
            if words[0] == "bench" and "--episodes" not in words and path.stem not in WHOLE:
                words = [word for word in words if word != "--quick"] + ["--episodes", "2"]
            answer = CliRunner().invoke(app, words, catch_exceptions=False)
            assert answer.exit_code == 0, f"agora {shlex.join(words)}\n{answer.output}"
    return done


@pytest.fixture
def generate() -> ModuleType:
    return script("generate")


@pytest.fixture
def standings() -> ModuleType:
    return script("standings")


def script(name: str) -> ModuleType:
    """Load a script from docs/, which may import other scripts there."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "path", [p for p in PAGES if any(blocks(p)) and p.stem not in NEEDS_PIP | NEEDS_A_PROGRAM], ids=lambda path: path.stem
)
def test_what_a_page_shows_runs(path, request, monkeypatch, tmp_path):
    if path.stem in NEEDS_DATA:
        request.getfixturevalue("data")
    if path.stem in NEEDS_MODEL:
        Image.fromarray(picture(96, 160, [(34, 46)])).save(tmp_path / "hall.png")
        write_model(tmp_path / "people.onnx")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "page", ModuleType("page"))
    assert follow(path)


def test_the_planners_that_the_manual_gives_to_a_launch_are_there():
    named = {
        text
        for path in PAGES
        for text in LAUNCHED.findall(path.read_text(encoding="utf-8"))
        if "$" not in text and not text.isupper()
    }
    assert "dwa(vx_samples=12)" in named and "mpc_ros" in named
    for text in named:
        named_planner(text)


def test_the_links_of_readme_and_contributing_lead_somewhere():
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
            assert "://" in target or (ROOT / target).exists(), target


def test_the_readme_lists_what_is_registered():
    rows = dict(re.findall(r"^\| ([a-z ]+) \| (.*) \|$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
    kinds = {"local planners": "planners"} | {
        k.replace("_", " "): k for k in ("global_planners", "crowd_models", "map_generators", "costmap_layers")
    }
    for title, kind in kinds.items():
        assert re.findall(r"`(\w+)`", rows[title]) == sorted(available(kind))
    assert set(re.findall(r"`(\w+)`", rows["behaviours of pedestrians"])) == set(available("behaviours"))
    assert set(re.findall(r"`(\w+)`", rows["task modes"])) == {*available("robots_modes"), *available("obstacles_modes")}
    assert rows["scenario cards"].split(",")[0] == str(len(card_names()))
    assert rows["metrics"].split(",")[0] == str(len(available("metrics")))
    assert rows["robots"].split(":")[0] == str(len(robot_names()))


def test_the_readme_compares_the_numbers_of_what_is_registered(standings):
    """The column of Agora in the table of tools."""
    cells = dict(re.findall(r"^\| ([a-z ]+) \| ([^|]+?) \|", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
    measured = {row["planner"] for row in standings.read_episodes(standings.EDITION)} - {standings.INFORMED}
    assert cells["pedestrians"] == f"{len(available('crowd_models'))} models"
    assert cells["generated places"] == f"{len(available('map_generators'))} generators"
    assert cells["planners included"] == str(len(measured))
    assert cells["metric functions"] == str(len(available("metrics")))


def test_the_readme_ranks_planners_by_the_episodes_of_the_edition(standings):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "\n".join(["", *standings.standings(), ""]) in text and len(standings.standings()) == 2 + standings.FIRST
    assert f"`{standings.EDITION}`" in text


def test_kept_outcomes_give_the_ranks_of_the_first_ten_planners_and_the_table_adds_their_limits(standings, tmp_path):
    episodes, names = script("episodes"), [f"planner_{k}" for k in range(12)]
    for k, name in enumerate(names):
        rows = [
            {"stage": "hall", "episode": n, "place": f"hall {n}", "planner": name}
            | {"outcome": "reached" if n < 36 - 3 * k else "timeout", "clean_arrival": float(n < 4)}
            for n in range(36)
        ]
        episodes.write_episodes("social@2026.12", rows, tmp_path / "measured" / "episodes")
    with pytest.raises(SystemExit, match="and this run have different episodes"):
        episodes.write_episodes("social@2026.12", rows[:35], tmp_path / "measured" / "episodes")
    read = episodes.read_episodes("social@2026.12", tmp_path / "measured" / "episodes")
    assert episodes.by_stage(read)["hall"] == {name: 36 - 3 * k for k, name in enumerate(names)}
    assert sum(row["clean_arrival"] for row in read) == 12 * 4 - 1 and {row["outcome"] for row in read} == {"reached", "timeout"}
    shares = (
        "success,success_low,success_high,clean_arrival,clean_arrival_low,clean_arrival_high,clean_arrival_spoilt_by,after_draw"
    )
    marks = {"planner_1": "changed after the draw"}
    rows = [
        f"{name},{0.9 - 0.05 * k},0.3,0.95,0.12,0.07,0.2,intimate distance,{marks.get(name, '')}" for k, name in enumerate(names)
    ]
    (tmp_path / "measured" / "social@2026.12.csv").write_text("\n".join([f"planner,{shares}", *rows]))
    lines = standings.standings(tmp_path)
    assert len(lines) == 2 + 10 and all(line.endswith("| not measured |") for line in lines[2:])
    kinds = (("density", "success", 0.31), ("speed", "success", 1.2), ("density", "clean_arrival", 0.1))
    limits = [
        f"{name},{axis},{outcome},{d50},0.27,0.36,{'above' * (name == 'planner_1')}"
        for name in names[:10]
        for axis, outcome, d50 in kinds
    ]
    (tmp_path / "limits.csv").write_text("\n".join(["planner,axis,outcome,d50,d50_low,d50_high,bound", *limits]))
    lines = standings.standings(tmp_path)
    assert lines[2] == "| 1 [1, 2] | `planner_0` | 90 % [30, 95] | 12 % [7, 20] | intimate distance | 0.31 [0.27, 0.36] |"
    assert lines[3].endswith("| > 0.31 [0.27, 0.36] |") and "| `planner_1` (changed after the draw) |" in lines[3]


def test_limits_follow_from_the_kept_outcomes_of_runs_of_single_planners(tmp_path):
    episodes, limits, suite = script("episodes"), script("limits"), load_suite("limits")
    stages = {name: axis_of(suite.stage(name)) for name in ("density_square", "density_crossing")}
    for planner, end in {"orca": 0.4, "informed": 0.9, "pure_pursuit": 0.1}.items():
        rows = [
            {"stage": name, "episode": k, "place": f"{name}-{k}", "planner": planner, "clean_arrival": 0.0}
            | {"outcome": "reached" if axis.fraction(f"limits/{name}", suite.seed_of(name), k) < end else "timeout"}
            for name, axis in stages.items()
            for k in range(suite.stage(name).count)
        ]
        episodes.write_episodes("limits", rows, tmp_path)
    (found,) = limits.measured_limits(tmp_path)
    half = {limit.planner: limit.fits.half for limit in found.of("success")}
    assert half == pytest.approx({"orca": 0.4, "informed": 0.9, "pure_pursuit": 0.1}, abs=0.02)
    (score,) = [limit.relative for limit in found.of("success") if limit.planner == "orca"]
    assert score == pytest.approx((0.4 - 0.1) / (0.9 - 0.1), abs=0.03)
    assert limits.draw_limits([found], tmp_path / "limits.png").stat().st_size > 10_000
    episodes.write_episodes("limits", [row | {"planner": "teb"} for row in rows if row["stage"] == "density_square"], tmp_path)
    with pytest.raises(SystemExit, match="teb lacks stages of the axis density: density_crossing"):
        limits.measured_limits(tmp_path)


def test_the_page_about_limits_names_the_ends_of_every_axis():
    text = (ROOT / "docs" / "how-to" / "measure_limits.md").read_text(encoding="utf-8")
    axes = {axis.axis: axis for axis in map(axis_of, load_suite("limits").stages)}
    for name, axis in axes.items():
        (row,) = re.findall(rf"^\| {name} \|(.*)$", text, re.MULTILINE)
        numbers = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", row)}
        assert name in ("never reacting", "sensing", "together") or {axis.easy, axis.hard} <= numbers, name


def test_every_parameter_in_the_reference_is_explained(generate):
    parts = [load(kind, name) for kinds in generate.COMPONENTS.values() for kind in kinds for name in available(kind)]
    parts += [record for records in (generate.FILES | generate.RECORDS).values() for record in records]
    for part in parts:
        names = [field.name for field in dataclasses.fields(part) if field.init]
        assert set(meanings(part, names)) == set(names), part


def test_the_manual_says_in_a_line_what_every_public_name_of_the_library_is(generate):
    page = generate.python_api()
    modules = dict(generate.public())
    assert len(modules) > 90
    for module, names in modules.items():
        part, library = page.split(f"### `{module}`\n")[1].split("###")[0], importlib.import_module(module)
        for name in names:
            assert hasattr(library, name), f"{module}.{name}"
            line = next(line for line in part.splitlines() if line.startswith(f"| `{name}` |"))
            assert len(line) > len(f"| `{name}` |  |") or not inspect.isclass(getattr(library, name)), line


def test_generated_pages_are_written_once_and_say_what_is_there(generate, tmp_path):
    generate.write(tmp_path)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    generate.write(tmp_path)
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
    assert "[`dwa`](generated/planners/dwa.md)" in (tmp_path / "planners.md").read_text(encoding="utf-8")
    assert "## `agora data import`" in (tmp_path / "command_line.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in (tmp_path / "metrics.md").read_text(encoding="utf-8") for name in available("metrics"))


def test_a_planner_has_a_page_that_says_what_it_claims_reads_and_does(generate, tmp_path, monkeypatch):
    (tmp_path / "measured").mkdir()
    head = "planner,component,interplanner,suite_version,agora,date,episodes,success,success_low,success_high,"
    head += "pedestrian_collision,wall_collision,out_of_map,timeout,barn_score,barn_score_low,barn_score_high,"
    head += "time_to_goal,time_to_goal_low,time_to_goal_high"
    numbers = "3,0.1.0,2026-01-02,40,0.75,0.6,0.86,0.05,0.12,0.03,0.05,0.3,0.25,0.35,12.5,11,14"
    lines = [head, f"dwa_kinetic,dwa,,{numbers}", f"dwa+polite,dwa,polite,{numbers}"]
    (tmp_path / "measured" / "crooked.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.setitem(generate.measured.__globals__, "MEASURED", tmp_path / "measured")
    generate.write_planners(tmp_path / "pages")
    assert sorted(path.stem for path in (tmp_path / "pages").iterdir()) == sorted(available("planners"))
    page = (tmp_path / "pages" / "dwa.md").read_text(encoding="utf-8")
    for part in (
        "Label\n: faithful",
        "costmap, path",
        "Fox, Burgard, Thrun",
        "| `sim_time` | 0.8 | 3 | evenly |",
        "Suite `crooked`",
    ):
        assert part in page
    row = "| `dwa_kinetic` | 40 | 75 % [60, 86] | not measured | 5 % | 12 % | 3 % | 5 % | 0.3 [0.25, 0.35] | 12.5 [11, 14] |"
    assert f"{row} 0.1.0, 2026-01-02, version 3 |" in page
    assert "polite" not in page
    assert "Not measured yet" in (tmp_path / "pages" / "orca.md").read_text(encoding="utf-8")


def test_the_page_on_interplanners_says_what_each_is_where_it_comes_from_and_what_it_does(generate):
    page = generate.interplanners()
    table, *parts = re.split(r"\n(?=## `)", page)
    assert [part.partition("`")[2].partition("`")[0] for part in parts] == sorted(available("interplanners"))
    assert re.search(r"\| `dwa`( \(stale\))? \| ", table)
    for name, part in zip(sorted(available("interplanners")), parts, strict=True):
        assert "| name | type |" in part or "No parameters." in part
        assert re.search(rf"\| `dwa\+{name}`( \(stale\))? \| ", table)
        for stage in generate.PICTURES:
            assert f"(../images/interplanners/dwa_{name}_{stage}.png)" in part
        if name == "polite":  # the module of what it is made from says it
            assert "Source: After PoliteInter and SidewaysInter of Arena 3.0" in part


def test_measured_rows_name_a_suite_version_and_pages_say_how_many_are_older(generate):
    assert generate.measured_suites()
    for stem in generate.measured_suites():
        name, _, stage = (stem, "", "") if stem in suite_names() else stem.partition("_")
        suite, rows = load_suite(name), generate.measured(stem)
        assert not stage or suite.stage(stage)
        for row in rows:
            assert float(row["suite_version"]) <= suite.version, (
                f"{stem}.csv: {row['planner']} names a version that does not exist yet"
            )
            assert row["component"] in available("planners")
            assert row["interplanner"] in ("", *available("interplanners"))
        older = [row for row in rows if row["suite_version"] != str(suite.version)]
        said = f"{len(older)} of these {len(rows)} rows were measured on version" if older else ""
        assert generate.age(stem).startswith(said) and bool(generate.age(stem)) == bool(older)
        for page in {row["component"] for row in older}:
            assert generate.age(stem) in generate.planner_page(page)


def test_words_that_the_glossary_rules_out_are_not_used():
    """One word for one thing; where a page quotes another project's word, it is code."""
    for path in PAGES:
        text = re.sub(r"```.*?```|`[^`]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        if path.stem != "glossary":
            assert not re.findall(r"\b(dynamic obstacles?|humans?|rollouts?|contestants?)\b", text, re.IGNORECASE), path


def test_a_card_has_a_page_with_its_picture_which_is_drawn_once(generate, tmp_path):
    generate.write_cards(tmp_path, ["leading", "sean_empty"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["leading.md", "leading.png", "sean_empty.md", "sean_empty.png"]
    page = (tmp_path / "leading.md").read_text(encoding="utf-8")
    assert "![The situation, drawn once](leading.png)" in page and "| `gap` | 0.9 | 1.4 | m |" in page
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    generate.write_cards(tmp_path, ["leading", "sean_empty"])
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_the_index_of_decisions_names_each_of_them_by_its_title():
    folder = ROOT / "docs" / "decisions"
    listed = dict(
        re.findall(r"^\| [\d-]{10} \| \{doc\}`(.+) <([\w-]+)>` \|", (folder / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    titles = {path.read_text(encoding="utf-8").splitlines()[0]: path.stem for path in folder.glob("2*.md")}
    assert {f"# {title} ({name[:10]})": name for title, name in listed.items()} == titles
