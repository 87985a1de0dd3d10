"""The leaderboard: entries say whose rows they are, whoever edits one is found, and unlike things are not ranked together."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from pathlib import Path

import pytest
from tests.leaderboard.entries import HERE, change, edit
from typer.testing import CliRunner

from agora.benchmark.bench import run_all
from agora.benchmark.knowledge import Knowledge
from agora.benchmark.request import Request
from agora.benchmark.results import recording_shards, store
from agora.benchmark.results.run_record import RunRecord
from agora.cli.app import app
from agora.config import load
from agora.errors import InputError, ResultsError
from agora.leaderboard import submission
from agora.leaderboard.entry import CHECK, ENTRY, ROWS, digest_of, locate_weights
from agora.leaderboard.entry_folder import PostedEntry, read_check, read_entry
from agora.leaderboard.page import own_entries, render, write
from agora.leaderboard.submission import Words, carry, submit
from agora.leaderboard.verification import Sample, chance_to_miss, check, one_cpu_only
from agora.planners.presets import named_planner
from agora.tasks import suite as suites

NAME = "<script>alert('x')</script> & <img src=x>"


def test_an_entry_of_each_planner_has_its_rows_and_no_other(run, made):
    assert [place.relative_to(run.parent / "board").as_posix() for place in made] == [
        "single_pedestrian/go_to_goal",
        "single_pedestrian/pure_pursuit_speed_0.5",
    ]
    every = {row["key"]: row for row in store.read_rows(run / "episodes")}
    for place, label in zip(made, ("go_to_goal", "pure_pursuit:speed=0.5"), strict=True):
        posted = read_entry(place)
        assert {row["key"]: row for row in posted.rows} == {key: row for key, row in every.items() if row["planner"] == label}
        assert not posted.problems()
        assert posted.planner == named_planner(label)[1]


def test_a_run_with_a_counterfactual_is_an_entry_like_one_without(run, tmp_path):
    suite = submission.load_suite("single_pedestrian").compared()
    run_all(Request(suite, dict([named_planner("go_to_goal")]), tmp_path / "run", HERE))
    rows = store.read_rows(tmp_path / "run" / "episodes")
    assert any(row["pedestrian_displacement_max"] is not None for row in rows)
    (place,) = submit(tmp_path / "run", tmp_path / "board")
    assert all(row["pedestrian_displacement_max"] is None for row in store.read_rows(place / ROWS))
    assert check(place, Sample(episodes=4, seed=1), HERE).agrees


def test_a_planner_behind_an_interplanner_is_an_entry_too(run, tmp_path):
    planner = dict([named_planner("pure_pursuit:speed=0.5+polite")])
    run_all(Request(submission.load_suite("single_pedestrian"), planner, tmp_path / "run", HERE))
    (place,) = submit(tmp_path / "run", tmp_path / "board")
    assert read_entry(place).planner == planner["pure_pursuit:speed=0.5+polite"]
    assert check(place, Sample(episodes=1, seed=1), HERE).agrees
    assert "pure_pursuit:speed=0.5+polite" in render([read_entry(place)])


def test_a_run_of_other_code_of_agora_makes_no_entry(run, tmp_path):
    shutil.copytree(run, other := tmp_path / "other")
    code = RunRecord.read(run).packages["agora-nav"].rpartition(" ")[2]
    for name, old in (("run.yaml", code), ("code.txt", "  agora/planners/adapters.py\n")):
        text = (other / name).read_text()
        assert text.count(old) == 1
        (other / name).write_text(text.replace(old, "00" + old))
    with pytest.raises(
        InputError,
        match=r"agora-nav was 0\.1\.0, code 00\w+ and is .* since the run; install that version, "
        r"or run",
    ):
        submit(other, tmp_path / "board")


def test_an_entry_of_other_code_of_one_version_is_checked_by_its_values(entry):
    assert check(edit(entry, "0.1.0, code ", "0.1.0, code 00"), Sample(1, seed=1), HERE).agrees


def test_what_a_robot_knows_is_what_its_planner_reads():
    def knows(text, *told):
        return dataclasses.astuple(Knowledge.of(named_planner(text)[1], told))[:2]

    assert knows("go_to_goal", "truth") == ("none", "none")
    assert knows("pure_pursuit", "truth") == ("none", "map")
    assert knows("orca", "tracked") == ("tracked", "map")
    assert knows("orca", "tracked", "visible") == ("visible", "map")
    assert knows("orca:wall_horizon=0.0,follow_path=false+bypass", "truth")[0] == "truth"
    assert knows("dwa", "visible") == ("visible", "map")
    assert knows("dwa:window={sources: [scan]}", "visible") == ("none", "map")


def test_an_honest_entry_comes_out_again_and_the_check_is_kept(entry):
    result = check(entry, Sample(2, seed=1), HERE)
    assert result.agrees
    assert (result.episodes, result.of) == (2, 4)
    assert read_check(read_entry(entry)) == result
    assert check(entry, Sample(2, seed=1), HERE).seed == 1
    assert "checked" in render([read_entry(entry)])


def test_one_value_that_was_edited_in_one_row_is_found_and_named(entry):
    rows = read_entry(entry).rows
    key = rows[0]["key"]
    true = rows[0]["path_length"]
    change(entry, key, path_length=true + 1e-12)
    result = check(entry, Sample(4, seed=0), HERE)
    assert [(one.key, one.column, one.entry, one.here) for one in result.differences] == [
        (key, "path_length", repr(true + 1e-12), repr(true))
    ]
    page = render([read_entry(entry)])
    assert "was not reproduced" in page
    assert 'class="board"' not in page


def test_rows_that_are_edited_without_more_are_not_even_read(entry):
    rows = [{**row, "outcome": "reached"} for row in read_entry(entry).rows]
    store.write_rows(entry / ROWS, rows)
    with pytest.raises(InputError, match=rf"{ROWS}: was changed since the entry was made"):
        check(entry, Sample(1), HERE)


def test_a_summary_that_the_rows_do_not_say_is_found(entry):
    edit(entry, "  rows: 4\n", "  rows: 5\n")
    assert check(entry, Sample(1, seed=0), HERE).problems == ("its results differ from those computed from its rows",)
    assert "its results differ from those computed from its rows" in render([read_entry(entry)])


def test_a_row_that_was_left_out_or_is_of_another_episode_is_found(entry):
    posted = read_entry(entry)
    assert PostedEntry(entry, posted.entry, posted.rows[1:]).problems() == ["1 episodes of the suite have no row"]
    strange = [{**posted.rows[0], "seed": 99}, *posted.rows[1:]]
    assert "does not belong to this suite, seed and planner" in PostedEntry(entry, posted.entry, strange).problems()[0]
    words = [{**row, "path_length": "short"} for row in posted.rows]
    assert PostedEntry(entry, posted.entry, words).problems() == ["column 'path_length' does not contain numbers"]


def test_a_replay_of_another_drive_is_found(entry, made):
    other = made[1] / "replays.parquet"
    kept = entry / "replays.parquet"
    ours, theirs = recording_shards.read_recordings(kept), list(recording_shards.read_recordings(other).values())
    recording_shards.write_recordings(kept, {key: theirs[0] for key in ours})
    files = load(entry / ENTRY, dict)["files"]
    edit(entry, files["replays.parquet"], digest_of(kept))
    result = check(entry, Sample(1, seed=0), HERE)
    assert {one.file for one in result.differences} == {"replays.parquet"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  agora: 0.1.0\n", "  agora: 0.0.1\n", r"pins\.agora: the entry was made with Agora 0\.0\.1, but the"),
        ("  packages:\n    agora", "  packages:\n    lost: 2.0.0\n    agora", r"pins\.packages\.lost was '2\.0\.0'"),
        ("  version: 4\n", "  version: 1\n", r"suite\.version was 1, but is now 4"),
        ("  weights: {}\n", "  weights: {mine.bin: 00ff}\n", r"pins\.weights\.mine\.bin was '00ff', but is now nothing"),
        ("    pedestrians: none\n", "    pedestrians: tracked\n", r"pins\.knows\.pedestrians was 'tracked', but is now 'none'"),
        ("    name: go_to_goal\n", "    name: go_to_gaol\n", r"(?s)did you mean 'go_to_goal'.*was made with agora-nav"),
        ("author: A. Author", "autor: A. Author", r"entry\.yaml:\d+: autor: .*author"),
        ("name: go_to_goal\nsuite", "suite", r"entry\.yaml.*name"),
        ("  name: single_pedestrian\n", "  name: ../single_pedestrian\n", r"suite\.name: expected a suite that comes with Agora"),
    ],
)  # fmt: skip
def test_an_entry_that_cannot_be_run_here_is_refused_with_the_reason_and_nothing_is_written(entry, old, new, message):
    edit(entry, old, new)
    with pytest.raises(InputError, match=message):
        check(entry, Sample(1), HERE)
    assert not (entry / CHECK).exists()


def test_a_check_of_an_entry_that_was_changed_afterwards_counts_no_more(entry):
    check(entry, Sample(1, seed=0), HERE)
    edit(entry, "author: A. Author", "author: B. Author")
    assert read_check(read_entry(entry)) is None
    assert "changed since its check" in render([read_entry(entry)])


def test_no_entry_is_overwritten_and_one_name_is_for_one_planner(run, made):
    with pytest.raises(ResultsError, match="go_to_goal: already exists"):
        submit(run, run.parent / "board", ["go_to_goal"])
    with pytest.raises(InputError, match="one name for 2 planners"):
        submit(run, run.parent / "board", words=Words(name="mine"))
    with pytest.raises(InputError, match="did you mean 'go_to_goal'"):
        submit(run, run.parent / "board", ["go_to_gaol"])


def test_a_run_that_is_not_whole_or_of_other_versions_or_files_makes_no_entry(run, tmp_path):
    folder = shutil.copytree(run, tmp_path / "run")
    lost = next((folder / "episodes").glob("*.parquet"))
    moved = lost.rename(tmp_path / lost.name)
    with pytest.raises(ResultsError, match="incomplete.*have no row"):
        submit(folder, tmp_path / "board")
    moved.rename(lost)
    record = folder / "run.yaml"
    text = record.read_text()
    for old, new, message in (
        ("version: 0.1.0\n", "version: 0.0.1\n", "made with Agora 0.0.1, but the"),
        ("  version: 4\n", "  version: 1\n", "used version 1 of suite 'single_pedestrian', but the installed version is 4"),
        ("    safety: 0.25\n", "    safety: 0.35\n", r"suite\.stages\[0\]\.safety was 0\.35, but is now 0\.25"),
        ("configs/pedestrians/types.yaml: ", "configs/pedestrians/types.yaml: f", "types.yaml was changed since the run"),
        ("name: single_pedestrian\n", "name: double_pedestrian\n", "'double_pedestrian' does not come with Agora"),
    ):
        assert old in text, old
        record.write_text(text.replace(old, new, 1))
        with pytest.raises((InputError, ResultsError), match=message):
            submit(folder, tmp_path / "board")
    assert not (tmp_path / "board").exists()


def test_names_and_texts_of_strangers_are_text_on_the_page(entry, tmp_path):
    posted = read_entry(edit(entry, "name: go_to_goal\nsuite", f'name: "{NAME}"\nsuite'))
    other = dataclasses.replace(posted.entry, author="</table><b>", description="</pre><script>")
    page = render([posted, dataclasses.replace(posted, entry=other)])
    assert "&lt;script&gt;alert" in page
    for danger in ("<script>alert", "<img src=x>", "</table><b>", "</pre><script>"):
        assert danger not in page
    assert page.count("<script") == 4  # ranks, the page's own, and the replay's two


def test_entries_of_other_versions_and_seeds_have_tables_of_their_own(made):
    first, second = (read_entry(place) for place in made)
    ranks = boards(render([first, second]))
    assert [sorted(board) for board in ranks] == [["0", "1"]]
    for change_ in (
        {"pins": dataclasses.replace(second.entry.pins, agora="0.0.1")},
        {"suite": dataclasses.replace(second.entry.suite, version=1)},
        {"suite": dataclasses.replace(second.entry.suite, seed=99)},
    ):
        page = render([first, dataclasses.replace(second, entry=dataclasses.replace(second.entry, **change_))])
        assert boards(page) == [{}, {}]
        assert page.count('class="board"') == 2
        assert ("Other versions" in page) is not ("suite" in change_ and change_["suite"].seed == 99)


def boards(page: str) -> list[dict]:
    """The ranks of each table without filters, by the entries' numbers."""
    text = re.search(r'id="ranks">(.*?)</script>', page)[1]
    return [board["reached"].get("||", {}) for board in json.loads(text)]


def test_the_filters_rank_among_those_that_they_leave(made):
    first, second = (read_entry(place) for place in made)
    [table] = json.loads(re.search(r'id="ranks">(.*?)</script>', render([first, second, first]))[1])
    board = table["reached"]
    assert set(board["||"]) == {"0", "1", "2"}
    assert set(board["|none|"]) == {"0", "2"}
    assert "|map|" not in board, "one entry alone is not ranked"


def test_entries_can_be_sorted_and_ranked_by_clean_arrivals(made):
    posted = [read_entry(place) for place in made]
    page = render(posted)
    [table] = json.loads(re.search(r'id="ranks">(.*?)</script>', page)[1])
    assert set(table["clean_arrival"]["||"]) == set(table["reached"]["||"]) == {"0", "1"}
    assert '<option value="clean_arrival">' in page
    for name, column in {"reached": "success", "clean_arrival": "clean_arrival"}.items():
        shares = {float(value) for value in re.findall(rf'data-{name}="([^"]*)"', page)}
        assert shares == {sum(row[column] for row in one.rows) / len(one.rows) for one in posted}


def test_entries_of_one_name_are_told_apart(made):
    posted = read_entry(made[0])
    page = render([posted, posted])
    assert ">go_to_goal</a>" in page
    assert ">go_to_goal (2)</a>" in page


def test_weights_that_a_path_names_travel_with_the_entry(tmp_path):
    source = tmp_path / "far" / "mine.yaml"
    source.parent.mkdir()
    source.write_text("weights")
    folder = tmp_path / "entry"
    folder.mkdir()
    carried = carry({"name": "policy", "file": str(source), "parts": [str(source)]}, folder)
    assert carried == {"name": "policy", "file": "weights/mine.yaml", "parts": ["weights/mine.yaml"]}
    assert locate_weights(carried, folder)["file"] == str(folder / "weights" / "mine.yaml")
    source.write_text("others")
    assert carry(str(source), folder) == "weights/_mine.yaml"
    assert locate_weights("weights/../../secret", folder) == "weights/../../secret"


def test_the_chance_to_miss_altered_episodes_is_that_of_drawing_none():
    assert chance_to_miss(1, 10, 500) == pytest.approx(0.98)
    assert chance_to_miss(2, 1, 4) == pytest.approx(0.5)
    assert chance_to_miss(1, 4, 4) == 0.0


def test_only_planners_of_others_are_bound_to_one_cpu(made):
    entry = read_entry(made[0]).entry
    foreign = dataclasses.replace(entry, pins=dataclasses.replace(entry.pins, packages={"agora-nav": "0.1.0", "theirs": "1"}))
    assert not one_cpu_only(entry, "another")
    assert one_cpu_only(foreign, "another")
    assert not one_cpu_only(foreign, entry.made_on[0].cpu)


def test_the_command_exits_with_1_where_an_entry_differs_and_names_the_value(entry):
    ask = ["submit", "--check", str(entry), "--episodes", "4", "--workers", "0"]
    answer = CliRunner().invoke(app, ask)
    assert answer.exit_code == 0
    assert "reproduce every value" in answer.output
    change(entry, read_entry(entry).rows[2]["key"], jerk_max=999.25)
    answer = CliRunner().invoke(app, ask)
    assert answer.exit_code == 1
    assert "jerk_max is 999.25 in the file" in answer.output
    change(entry, read_entry(entry).rows[2]["key"], jerk_max=-0.25)
    answer = CliRunner().invoke(app, ask)
    assert answer.exit_code == 1
    assert "BREAKS THE RULES, so no episode was run again" in answer.output
    assert "is -0.25, but cannot be below 0" in answer.output


def test_a_folder_without_entries_is_refused(tmp_path):
    with pytest.raises(InputError, match="contains no entry"):
        write([tmp_path], tmp_path / "page.html", with_own=False)
    with pytest.raises(InputError, match="the folder does not exist"):
        write([tmp_path / "no"], tmp_path / "page.html", with_own=False)


def own() -> list[Path]:
    return sorted(path.parent for path in own_entries().rglob(ENTRY))


@pytest.mark.parametrize("place", own(), ids=lambda place: f"{place.parent.name}-{place.name}")
def test_the_entries_that_come_with_agora_are_whole(place):
    posted = read_entry(place)
    assert not posted.problems()
    assert (posted.entry.suite.name, posted.entry.author) == (place.parent.name, "Agora")


def test_an_entry_that_comes_with_agora_comes_out_again(tmp_path):
    place = shutil.copytree(own_entries() / "demo" / "go_to_goal", tmp_path / "entry")
    (place / CHECK).unlink(missing_ok=True)
    assert check(place, Sample(1, seed=3), HERE).agrees, "make leaderboard makes the entries anew"


def test_an_installed_agora_has_no_entries_and_asks_for_folders(tmp_path, monkeypatch):
    monkeypatch.setattr("agora.share._PACKAGE", tmp_path / "site-packages" / "agora")
    with pytest.raises(InputError, match="no folder with entries was given"):
        write([], tmp_path / "page.html")
    with pytest.raises(InputError, match="no folder with entries was given"):
        write([], tmp_path / "page.html", with_own=False)


def test_suites_of_the_entries_come_with_agora():
    assert {place.parent.name for place in own()} <= set(suites.suite_names())
    assert own()
