"""The table on the terminal: every episode is in one column, and no label is cut."""

from __future__ import annotations

import re

from agora.core.recording import Outcome
from agora.reporting._answers import Answer
from agora.reporting.terminal import print_rows


def row(planner, outcome, success=None):
    reached = outcome == "reached"
    success = float(reached) if success is None else success
    return {"planner": planner, "outcome": outcome, "success": success, "time_to_goal": 9.25 if reached else None, "failure": "why"}


def table(capsys, rows):
    """Cells by planner, and the heads; lines of a label that goes on are put together."""
    print_rows(rows, sorted({row["planner"] for row in rows}))
    lines = [
        [cell.strip() for cell in re.split("[│┃]", line)[1:-1]] for line in capsys.readouterr().out.splitlines() if line[:1] in "│┃"
    ]
    found = {}
    for cells in lines[1:]:
        if not cells[1]:
            last = list(found)[-1]
            found[last + cells[0]] = found.pop(last)
        else:
            found[cells[0]] = cells[1:]
    return lines[0][1:], found


def test_each_line_adds_up_to_its_number_of_episodes(capsys):
    rows = [row("orca", outcome.label) for outcome in Outcome] + [row("orca", "reached"), row("orca", "reached", success=0.0)]
    heads, lines = table(capsys, rows)
    assert heads == [
        "n",
        "success",
        "95 %",
        "clean",
        "95 %",
        "most often spoilt by",
        "hit person",
        "hit wall",
        "hit robot",
        "time-out",
        "out of map",
        "failed",
        "simulator failed",
        "touched",
        "time",
    ]
    count, share, _, clean, _, spoilt, *ends, time = lines["orca"]
    assert (clean, spoilt) == ("-", "not measured")
    assert (count, time) == ("10", "9.2 s") and ends == ["1"] * 8
    assert round(float(share) * int(count)) + sum(map(int, ends)) == int(count)


def test_the_share_of_clean_arrivals_has_its_interval_and_the_most_frequent_cause(capsys):
    arrived = row("orca", "reached")
    spoilt = [arrived | {"clean_arrival": 0.0, name: 1.0} for name in ("spoilt_by_time", "spoilt_by_group", "spoilt_by_time")]
    rows = [*spoilt, arrived | {"clean_arrival": 1.0}, row("orca", "timeout") | {"clean_arrival": 0.0}, row("dwa", "reached")]
    _, lines = table(capsys, rows)
    assert lines["orca"][3:6] == ["0.20", "0.04 - 0.62", "time"]
    assert lines["dwa"][3:6] == ["-", "", "not measured"]


def test_columns_that_only_some_suites_need_are_left_out(capsys):
    heads, _ = table(capsys, [row("orca", "reached"), row("orca", "out_of_map")])
    assert "out of map" in heads and not {"hit robot", "touched"} & set(heads)


def test_long_labels_are_whole(capsys):
    long = "orca:horizon=4.0,radius_factor=1.05,walls=edges,settle=true"
    _, lines = table(capsys, [row(planner, "reached") for planner in (long, f"{long}+taga", "orca", "orca+taga")])
    assert set(lines) == {long, f"{long}+taga", "orca", "orca+taga"}


def test_planners_stand_in_the_order_of_the_run_and_the_answers_below(capsys):
    said = [Answer("Which planner reached the most goals?", "Of 2 episodes: [b] 100.0 %; then a 0.0 %.", "Not sure.")]
    print_rows([row("a", "timeout"), row("[b]", "reached")], ["[b]", "none", "a"], answers=said)
    printed = capsys.readouterr().out
    assert printed.index("│ [b]") < printed.index("│ a") and "none" not in printed
    assert printed.endswith("Which planner reached the most goals?\n  Of 2 episodes: [b] 100.0 %; then a 0.0 %. Not sure.\n")


def test_a_planner_that_failed_is_told_once_with_the_command_that_runs_the_episode_again(capsys):
    rows = [{**row("mine", "planner_failed"), "episode": k} for k in (4, 5)] + [row("orca", "reached")]
    print_rows(rows, ["mine", "orca"], lambda row: f"agora run demo --episode {row['episode']}")
    said = capsys.readouterr().out
    assert said.endswith("mine failed: why\n  to repeat that episode: agora run demo --episode 4\n")
    print_rows(rows, ["orca", "mine"])
    assert capsys.readouterr().out.endswith("mine failed: why\n")


def test_a_simulator_that_failed_has_a_column_of_its_own_and_is_not_told_as_the_planners_failure(capsys):
    rows = [row("mine", "reached"), *({**row("mine", "simulator_failed"), "episode": k} for k in (4, 5))]
    heads, lines = table(capsys, rows)
    ends = dict(zip(heads, lines["mine"], strict=False))
    assert (ends["n"], ends["success"], ends["failed"], ends["simulator failed"]) == ("3", "0.33", "0", "2")
    print_rows(rows, ["mine"], lambda row: f"agora run demo --episode {row['episode']}")
    said = capsys.readouterr().out
    assert said.endswith("the simulator failed in 2 episodes of mine: why\n  to repeat that episode: agora run demo --episode 4\n")


def test_episodes_in_shared_places_have_a_second_interval_by_place(capsys):
    rows = [row("orca", "reached" if k < 20 else "timeout") | {"place": f"map {k // 4}", "episode": k} for k in range(32)]
    heads, lines = table(capsys, rows)
    assert heads[:4] == ["n", "success", "95 %", "by place"]
    (low, high), (wide_low, wide_high) = (map(float, lines["orca"][k].split(" - ")) for k in (2, 3))
    assert wide_low < low < high < wide_high
    heads, _ = table(capsys, [one | {"place": f"map {k}"} for k, one in enumerate(rows)])
    assert "by place" not in heads
