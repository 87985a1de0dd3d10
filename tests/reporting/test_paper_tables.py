"""Tables for papers: the right numbers, over the right episodes, in texts that LaTeX, Markdown and a table's reader take."""

from __future__ import annotations

import csv
import io
import re

import pytest
from tests.suites import plane, planners

from agora.benchmark.bench import run_all
from agora.benchmark.request import Options, Request
from agora.errors import InputError, UnknownNameError
from agora.reporting.paper_tables import FORMATS, paper_table
from agora.reporting.statistics import bootstrap, wilson

STRANGE = r"[a_b]|50%#{x}~^\&$"


def row(planner, episode, outcome="reached", **more):
    key = {"suite": "s", "stage": "hall", "episode": episode, "seed": 4, "planner": planner, "robot": 0, "outcome": outcome}
    return key | {"time_to_goal": None, "path_length": None, "collisions": 0.0, "jerk_average": None} | more


ROWS = [
    *(row("steady", k, time_to_goal=10.0 + k, jerk_average=-1.0 - k) for k in range(4)),
    *(row(STRANGE, k, time_to_goal=8.0, jerk_average=-2.0 - k) for k in range(3)),
    row(STRANGE, 3, "timeout", collisions=1.0, jerk_average=-100.0),
]


def table(rows=ROWS, labels=("steady", STRANGE), metrics=("time_to_goal", "collisions"), **more):
    return paper_table(rows, labels, "Suite s_1, 50 %", metrics, **more)


def read(text):
    return {(line["planner"], line["metric"]): line for line in csv.DictReader(io.StringIO(text))}


def numbers(line):
    return tuple(float(line[name]) for name in ("value", "low", "high"))


def test_shares_have_wilson_s_interval_and_times_the_mean_s_of_the_episodes_that_all_reached():
    found = read(table().csv())
    assert numbers(found[STRANGE, "reached"]) == (0.75, *wilson(3, 4))
    mine = bootstrap([10.0, 11.0, 12.0])
    assert numbers(found["steady", "time_to_goal"]) == pytest.approx((11.0, mine.low, mine.high))
    assert [found["steady", name]["n"] for name in ("reached", "time_to_goal", "collisions")] == ["4", "3", "4"]
    own = read(table(common=False).csv())["steady", "time_to_goal"]
    assert (own["n"], float(own["value"])) == ("4", 11.5)
    assert "of the 3 episodes that every planner reached" in table().markdown()
    assert "of each planner's own episodes" in table(common=False).markdown()


def test_who_failed_is_no_best_in_what_failing_flatters_and_nobody_else_is():
    marked = {key for key, line in read(table().csv()).items() if line["best"] == "true"}
    assert marked == {("steady", "reached"), ("steady", "collisions")}
    all_reached = [one for one in ROWS if one["episode"] < 3]
    marked = {key for key, line in read(table(all_reached).csv()).items() if line["best"] == "true"}
    assert marked == {(STRANGE, "time_to_goal")}
    assert "**8.0**" in table(all_reached).markdown() and "\\textbf{8.0}" in table(all_reached).latex()


def test_latex_escapes_its_own_signs_and_has_as_many_cells_in_each_line():
    text = table(metrics=("jerk_average",)).latex()
    assert r"{[a\_b]\textbar{}50\%\#\{x\}\textasciitilde{}\textasciicircum{}\textbackslash{}\&\$} & 4 & " in text
    assert r"\caption{Suite s\_1, 50~\%." in text and r"[m/s$^{3}$]" in text
    body = text.partition(r"\toprule")[2].partition(r"\bottomrule")[0]
    lines = [line for line in body.splitlines() if line.endswith(r" \\")]
    assert len(lines) == 6 and {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {3}
    assert text.count(r"\begin{tabular}{lrrr}") == 1 and re.search(r"& \$-\$\d+\.\d+ ", text)
    assert r"& \shortstack[r]{Time to \\ the goal} &" in table().latex() and text.startswith(r"% \usepackage{booktabs,graphicx}")
    assert text.count("{") == text.count("}") and text.count(r"\begin") == text.count(r"\end") == 2
    unescaped = re.sub(r"\\[#%_&$]", "", text.split("\n", 1)[1])
    assert not re.search(r"[#%]", unescaped) and unescaped.count("$") % 2 == 0


def test_markdown_has_one_cell_for_each_column_whatever_the_label():
    lines = [line for line in table().markdown().splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {6} and len(lines) == 4
    assert "| Reached (%) ↑ | Time to the goal (s) ↓ | collisions ↓ |" in lines[0]


def test_planners_of_which_nothing_is_common_have_no_mean_of_what_failing_flatters():
    rows = [row("a", 1, time_to_goal=3.0), row("b", 2, time_to_goal=4.0)]
    text = table(rows, ("a", "b"), ("time_to_goal",)).markdown()
    assert "| `a` | 1 | 100.0 [20.7, 100.0] | — |" in text and "0 episodes that every planner reached" in text


def test_a_planner_alone_has_all_its_episodes():
    rows = [one for one in ROWS if one["planner"] == "steady"]
    assert read(table(rows, ("steady",)).csv())["steady", "time_to_goal"]["n"] == "4"


def test_what_no_row_has_is_refused_by_name():
    with pytest.raises(InputError, match="metric path_length: no row has a value"):
        table(metrics=("path_length",))
    with pytest.raises(UnknownNameError, match="time_to_goal"):
        table(metrics=("time_to_gaol",))
    with pytest.raises(InputError, match="no rows"):
        table([])


def test_every_format_is_made_of_a_run_as_it_is(tmp_path):
    rows = run_all(Request(plane(episodes=2, timeout=4.0), planners("go_to_goal"), tmp_path, Options(workers=0)))
    made = paper_table(rows, ["go_to_goal"], "plane")
    assert {name: "Closest" in write(made) for name, write in FORMATS.items()} == {"latex": False, "csv": False, "markdown": False}
    assert all("go" in write(made) for write in FORMATS.values())
