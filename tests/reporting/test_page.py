"""The report: complete, honest, safe, and in need of nothing from elsewhere."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from agora.core.recording import Outcome
from agora.errors import UnknownNameError
from agora.interfaces import Metric
from agora.metrics.registered import HEADLINE
from agora.registry import load
from agora.reporting._pictures import pictured_keys
from agora.reporting.failures import choose
from agora.reporting.headline import ARENA
from agora.reporting.page import render
from agora.reporting.statistics import bootstrap, detectable, paired_difference, paired_values, wilson
from agora.reporting.tables import metric_lines
from agora.viewer.why import why
from viewer.synthetic import METRICS, crash, episode, hall, rows

RUN = {
    "suite": "demo",
    "planners": ["social_force", "orca", "dwa"],
    "version": "0.1.0",
    "commit": "abc1234",
    "hardware": {"cpu": "EPYC"},
}
SUCCESS = Metric("success", "0/1", "higher", "goal reached", "Francis et al. 2023", 1, lambda _: None)


def metric_best(table, name):
    """The planners whose mean of a metric is marked in the first table of metrics."""
    (line,) = [line for line in metric_lines(table, [SUCCESS], ["a", "b", "c"]) if line.metric["name"] == name]
    return {planner for planner, cell in zip(("a", "b", "c"), line.cells, strict=True) if cell.best}


class Page(HTMLParser):
    """Tables of a page as lists of rows of cell texts, by section; all tags; all text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.tables, self.text, self._section, self._cell = [], {}, [], "", None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if tag == "section":
            self._section = attributes["id"]
        elif tag == "table":
            self.tables.setdefault(self._section, []).append([])
        elif tag == "tr":
            self.tables[self._section][-1].append([])
        elif tag in ("td", "th"):
            self._cell = []

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.tables[self._section][-1][-1].append(" ".join(self._cell))
            self._cell = None

    def handle_data(self, data):
        if data.strip():
            self.text.append(data.strip())
            if self._cell is not None:
                self._cell.append(data.strip())


def parse(table=None, metrics=METRICS, recordings=None, run=RUN, **options):
    return Page(render(run, rows(episodes=8) if table is None else table, metrics, recordings or {}, **options))


def both_reached(table, metric, first, second):
    """The paired difference over the episodes that both planners reached, and how many they are."""
    reached = [
        {(r["stage"], r["episode"]) for r in table if r["planner"] == p and r["outcome"] == "reached"} for p in (first, second)
    ]
    some = [row for row in table if (row["stage"], row["episode"]) in set.intersection(*reached)]
    return paired_difference(some, metric, first, second), len(set.intersection(*reached))


def line(table, name):
    (found,) = [cells for cells in table if cells[0].split()[0] == name]
    return found


def test_shares_of_outcomes_carry_wilsons_interval():
    table = rows(episodes=8)
    reached = sum(row["outcome"] == "reached" and row["planner"] == "orca" for row in table)
    low, high = (100 * v for v in wilson(reached, 16))
    cells = line(parse(table).tables["outcomes"][0], "orca")
    assert cells[1] == "16"
    assert cells[2] == f"{100 * reached / 16:.1f} [{low:.1f}, {high:.1f}]"


def test_means_carry_their_bootstrap_interval_and_the_number_of_values():
    table = rows(episodes=8)
    mean = bootstrap([row["clearance.min"] for row in table if row["planner"] == "dwa"])
    page = parse(table).tables["metrics"][0]
    assert page[0][1:] == ["social_ force n = 16", "orca n = 16", "dwa n = 16"]
    value, low, high = map(
        float, re.match(r"([-.\d]+) \[([-.\d]+), ([-.\d]+)\] \d+ % reached$", line(page, "clearance.min")[3]).groups()
    )
    assert (value, low, high) == pytest.approx((mean.value, mean.low, mean.high), abs=6e-4)


def test_a_mean_over_successes_never_stands_without_the_share_of_successes():
    table = rows(episodes=8)
    reached = sum(row["outcome"] == "reached" and row["planner"] == "orca" for row in table)
    for page in (parse(table).tables["metrics"], parse(table).tables["metrics"][:1]):
        assert f"{reached} of 16, {100 * reached / 16:.0f} % reached" in line(page[0], "time_to_goal")[2]
        assert page[0][1][0].startswith("reached")


def marked(table):
    """The metrics of the synthetic rows with a best mean on the page."""
    text = render(RUN, table, METRICS, {}).split('id="metrics"')[1].split("</table>")[0]
    blocks = dict(re.findall(r'<th scope="row" data-value="([\w.]+)">(.*?)</tr>', text, re.S))
    return {name for name, block in blocks.items() if 'class="best"' in block}


def test_the_best_mean_is_marked_only_where_all_planners_have_all_values_and_a_failure_flatters_nobody():
    table = rows(episodes=8)
    assert any(row["outcome"] != "reached" for row in table)
    assert marked(table) == {"spl"}
    whole = [{**row, "outcome": "reached"} for row in table]
    assert marked(whole) == {"spl", "clearance.min", "jerk.mean"}
    whole[3]["outcome"] = "timeout"
    assert marked(whole) == {"spl"}


def test_who_stops_at_once_is_neither_best_nor_better_by_any_metric_that_a_failure_flatters():
    """One planner stands at its start in every second episode: nobody comes near, it is smooth, and its paths are short."""
    table = [{**row, "outcome": "reached", "clearance.min": 0.4, "jerk.mean": 1.0} for row in rows(("a", "idle"), episodes=12)]
    for row in table:
        row["clearance.min"] += 0.01 * row["episode"]
        if row["planner"] == "idle":
            late = row["episode"] % 2 == 1
            row |= {"outcome": "timeout", "spl": 0.0, "clearance.min": 5.0, "jerk.mean": 0.0} if late else {"jerk.mean": 1.5}
    page = parse(table, run={}, baseline="a")
    (differences,), head = page.tables["differences"], page.tables["metrics"][0]
    assert "better" not in " ".join(cell for cells in differences for cell in cells)
    assert line(differences, "jerk.mean")[1].startswith("+0.5") and line(differences, "jerk.mean")[1].endswith("worse, 12 pairs")
    assert line(differences, "clearance.min")[1].startswith("+0 ") and "50 % reached" in line(head, "clearance.min")[2]
    assert marked(table) <= {"spl"}


def test_differences_are_paired_by_episode_and_say_what_is_better():
    table = rows(("a", "b"), episodes=8)
    for row in table:
        row["jerk.mean"] = row["episode"] * 1.0 + (2.0 + 0.01 * row["episode"] if row["planner"] == "b" else 0.0)
    (differences,) = parse(table, run={}, baseline="a").tables["differences"]
    difference, pairs = both_reached(table, "jerk.mean", "b", "a")
    assert differences[0] == ["metric", "b"]
    assert (
        line(differences, "jerk.mean")[1]
        == f"+{difference.value:.3f} [+{difference.low:.3f}, +{difference.high:.3f}] worse, {pairs} pairs"
    )
    assert "pairs" in line(differences, "time_to_goal")[1]


def test_every_metric_says_its_formula_source_and_direction():
    text = render(RUN, rows(episodes=3), METRICS, {})
    assert "S L* / max(L, L*) — Anderson et al. 2018 (version 1)" in text
    assert "own &#34;definition&#34; &lt;i&gt;" in text
    assert line(parse(rows(episodes=3)).tables["metrics"][0], "spl")[0] == "spl ↑"
    assert line(parse(rows(episodes=3)).tables["metrics"][0], "jerk.mean")[0] == "jerk.mean m/s3 ↓"


def test_rates_are_in_percent_with_wilsons_interval():
    table = [{**row, "success": row["outcome"] == "reached"} for row in rows(("a",), episodes=8, stages=("s",))]
    good = sum(row["success"] for row in table)
    low, high = (100 * v for v in wilson(good, 8))
    cells = line(parse(table, [SUCCESS], run={}).tables["metrics"][0], "success")
    assert cells == ["success % ↑", f"{100 * good / 8:.1f} [{low:.1f}, {high:.1f}]"]


def test_each_stage_has_its_tables_and_one_stage_needs_no_choice():
    several, single = parse(rows(episodes=4, stages=("x", "y", "z"))), parse(rows(episodes=4, stages=("x",)))
    assert len(several.tables["outcomes"]) == len(several.tables["metrics"]) == 4
    assert [a["value"] for tag, a in several.tags if tag == "option"] == ["0", "1", "2", "3"]
    assert len(single.tables["metrics"]) == 1 and "option" not in [tag for tag, _ in single.tags]


def test_what_was_run_stands_at_the_head_and_no_time_of_day_anywhere():
    text = " ".join(parse(run={**RUN, "seeds": [3, 4], "interrupted": [{"key": "demo/x/1/orca", "reason": "30 s"}]}).text)
    for words in ("demo", "0.1.0", "abc1234", "cpu: EPYC", "3, 4", "key: demo/x/1/orca, reason: 30 s", "48 episodes"):
        assert words in text
    assert render(RUN, rows(episodes=4), METRICS, {"a": crash()}) == render(RUN, rows(episodes=4), METRICS, {"a": crash()})


def test_failures_are_listed_with_reason_and_command_and_can_be_played():
    table = rows(episodes=8)
    failed = [row for row in table if row["outcome"] != "reached"]
    failed[1] |= {"outcome": "planner_failed", "failure": "ValueError: no <path>", "duration": 3.25}
    page = parse(table, recordings={failed[0]["key"]: crash()}, run={**RUN, "folder": "results/demo"})
    (listed,) = page.tables["failures"]
    assert len(listed) == 1 + len(failed)
    assert listed[2][3:] == [
        "planner failed",
        "3.2 s: ValueError: no <path>.",
        f"agora play results/demo {failed[1]['key']}",
    ]
    assert listed[1][4] == why(crash()).words and "touched pedestrian 9" in listed[1][4]
    assert [a["data-play"] for tag, a in page.tags if "data-play" in a] == [failed[0]["key"]]


def test_what_happened_is_the_reason_that_was_given_where_the_page_does_not_play_the_episode():
    table = rows(("a",), episodes=2, stages=("s",))
    table[0] |= {"outcome": "planner_failed", "key": "k"}
    page = parse(table, run={}, recordings={"k": episode(outcome=Outcome.PLANNER_FAILED)})
    assert page.tables["failures"][0][1][4].endswith("s: the planner failed: ValueError: the <b>path</b> is empty")
    page = parse(table, run={}, reasons={"k": "3 s: it rained."})
    assert page.tables["failures"][0][1][4] == "3 s: it rained."


@pytest.mark.parametrize(
    ("counts", "could", "words"),
    [
        ((1, 0, 0), 1.0, " Gap closed by robot, avoidable."),
        ((0, 1, 0), 0.0, " Gap closed by person, not avoidable."),
        ((0, 0, 1), None, " Gap closed by both."),
        ((2, 1, 0), 1.0, " Gap closed by robot 2, person 1, 1 of 3 avoidable."),
        ((None, None, None), None, ""),
    ],
)
def test_of_failures_without_a_recording_the_row_says_who_closed_the_gap_and_whether_it_was_avoidable(counts, could, words):
    table = rows(("a",), episodes=2, stages=("s",))
    names = [f"collisions_by_{closer}" for closer in ("robot", "person", "both")]
    table[0] |= {"outcome": "pedestrian_collision", "collisions_avoidable": could} | dict(zip(names, counts, strict=True))
    table[1] |= {"outcome": "wall_collision", "collisions_by_robot": 1.0, "reason": "no_path"}
    (listed,) = parse(table, run={}).tables["failures"]
    assert [line[4] for line in listed[1:]] == [f"pedestrian collision.{words}", "wall collision. The planner noted: no path."]


def test_a_planner_that_does_not_read_what_it_drove_into_is_named():
    table = rows(("a", "b"), episodes=2, stages=("s",))
    for row, outcome in zip(table, ["wall_collision", "pedestrian_collision"] * 2, strict=True):
        row["outcome"] = outcome
    (listed,) = parse(table, run={"blind": ["a"], "unaware": ["b"]}).tables["failures"]
    said = {(line[0], line[2][0]): line[4] for line in listed[1:]}
    assert said["a", "0"].endswith(" a does not read walls.") and said["b", "1"].endswith(" b does not read pedestrians.")
    assert "reads" not in said["a", "1"] + said["b", "0"]


def test_planning_times_have_their_percentiles_in_ms():
    table = rows(episodes=2)
    first, second, *_ = (row["key"] for row in table if row["planner"] == "orca")
    page = parse(table, timing={first: [0.001] * 94, second: [0.01] * 6, "of nobody": [1.0]})
    assert page.tables["planning"][0][1:] == [["orca", "100", "1.54", "1", "10", "10", "10"]]
    means = bootstrap([1.0, 10.0])
    assert (
        line(page.tables["summary"][0], "orca")[-1] == f"{means.value:.1f} [{means.low:.1f}, {means.high:.1f}] 2 of 4, 50 % reached"
    )
    recorded = parse(table, recordings={table[0]["key"]: crash()})
    assert recorded.tables["planning"][0][1][:2] == ["social_force", "151"]
    assert "planning" not in parse(table, timing={}).tables


def test_the_page_needs_nothing_from_elsewhere():
    table = rows(episodes=4)
    text = render(RUN, table, METRICS, {table[0]["key"]: episode(surroundings=hall()), table[1]["key"]: crash()})
    page = Page(text)
    assert "http://" not in text and "https://" not in text and "@import" not in text and "url(" not in text
    assert "default-src 'none'" in text
    assert not [a for tag, a in page.tags if "src" in a or tag == "link"]
    inside = {a["href"][1:] for tag, a in page.tags if "href" in a and tag != "image"}
    assert inside <= {a["id"] for _, a in page.tags if "id" in a}
    assert all(a["href"].startswith("#") for tag, a in page.tags if "href" in a and tag != "image")
    assert [a["href"].partition(",")[0] for tag, a in page.tags if tag == "image"] == ["data:image/png;base64"]


def test_hostile_names_stay_text():
    hostile = "<script>alert('x')</script>"
    table = rows((hostile, "b"), episodes=3, stages=(hostile,))
    for row in table:
        row["failure"] = hostile
    metric = replace(METRICS[2], formula=hostile, source='"><img src=x onerror=alert(1)>')
    calm = parse(rows(("a", "b"), episodes=3, stages=("s",)), recordings={"k": crash()}, run={})
    page = parse(table, [metric], {hostile: crash()}, {"suite": hostile, "planners": [hostile], "interrupted": [hostile]})
    assert [tag for tag, _ in page.tags].count("script") == [tag for tag, _ in calm.tags].count("script")
    assert "img" not in [tag for tag, _ in page.tags]
    assert line(page.tables["outcomes"][0], hostile.split()[0])[0] == hostile


def test_a_planner_without_episodes_is_shown_as_such():
    page = parse(rows(("orca",), episodes=5), run={**RUN, "planners": ["orca", {"name": "teb"}]})
    assert line(page.tables["outcomes"][0], "teb") == ["teb", "0", *"——————"]
    assert line(page.tables["metrics"][0], "spl")[2] == "—"
    assert line(page.tables["differences"][0], "spl")[1] == "—"


def test_a_metric_that_is_never_defined_is_named_and_one_that_no_row_has_is_not():
    table = [{**row, "spl": None} for row in rows(episodes=3)]
    page = parse(table, [*METRICS, SUCCESS])
    assert "Undefined in every episode: spl." in page.text
    assert not any("success" in cells[0] for cells in page.tables["metrics"][0])


@pytest.mark.parametrize("count", [1, 12])
def test_one_planner_and_twelve_planners_make_a_page(count):
    names = tuple(f"planner_{i}" for i in range(count))
    page = parse(rows(names, episodes=3), run={})
    assert len(page.tables["outcomes"][0]) == 1 + count
    assert ("differences" in page.tables) == (count > 1)
    assert all(len(cells) == len(page.tables["metrics"][0][0]) for cells in page.tables["metrics"][0])


def test_no_rows_at_all_make_a_page_that_says_so():
    page = parse([], run={"suite": "demo", "planners": ["a"]})
    assert "No episode was finished." in page.text


def test_robots_are_told_apart_and_compared_with_their_like():
    table = [
        {**row, "robot": robot, "key": f"{row['key']}/{robot}"}
        for row in rows(("a", "b"), episodes=4)
        for robot in ("burger", "jackal")
    ]
    page = parse(table, run={"planners": ["b", "a"]})
    assert [cells[0] for cells in page.tables["outcomes"][0][1:]] == ["b · burger", "b · jackal", "a · burger", "a · jackal"]
    assert line(page.tables["differences"][0], "spl")[1] != ""


def test_robots_of_one_model_are_one_planner():
    table = [
        {**row, "robot": robot, "model": "burger", "key": f"{row['key']}/{robot}"}
        for row in rows(("a", "b"), episodes=4)
        for robot in (0, 1, 2)
    ]
    page = parse(table, run={"planners": ["b", "a"]})
    assert [cells[0] for cells in page.tables["outcomes"][0][1:]] == ["b", "a"]
    assert [cells[1] for cells in page.tables["outcomes"][0][1:]] == ["24", "24"]


def test_a_planner_that_failed_is_never_the_best():
    table = [{**row, "success": float(row["planner"] == "a"), "outcome": "reached"} for row in rows(("a", "b", "c"), episodes=4)]
    for row in table:
        row["success"] += 0.5 * (row["planner"] == "b")
    assert metric_best(table, "success") == {"a"}
    for row in table:
        row["outcome"] = "planner_failed" if row["planner"] == "a" else "reached"
    assert metric_best(table, "success") == {"b"}


def test_an_unknown_baseline_is_an_error_that_names_the_nearest():
    with pytest.raises(UnknownNameError, match="orca"):
        parse(baseline="orka")


def test_an_episode_without_pedestrians_or_map_is_replayed():
    text = render(RUN, rows(episodes=2), METRICS, {"empty": episode(pedestrians=0)})
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', text, re.S)[1])
    assert data["episodes"][0]["radii"] == [] and data["maps"] == []


def test_replays_show_every_outcome_of_every_planner_first_then_more_failures():
    table = rows(("a", "b"), episodes=20)
    outcome = {row["key"]: (row["planner"], row["outcome"]) for row in table}
    chosen = choose(table, 10)
    assert len(chosen) == len(set(chosen)) == 10
    assert [outcome[key][0] for key in chosen[:6]] == ["a", "b"] * 3
    assert {outcome[key] for key in chosen[:6]} == set(outcome.values())
    assert all(outcome[key][1] != "reached" for key in chosen[6:])
    assert choose(table, 0) == choose([], 5) == []


def test_the_price_of_perception_stands_beside_the_truth_with_intervals_and_paired_differences():
    def told(level, reached):
        base = rows(episodes=8, planners=("orca",))
        return [
            {**row, "planner": f"orca@{level}", "key": f"{row['key']}@{level}", "pedestrians": level, "reached": float(won)}
            | {"outcome": "reached" if won else "timeout"}
            for k, row in enumerate(base)
            for won in [k in reached]
        ]

    table = told("truth", range(14)) + told("tracked", range(4, 12))
    count = len(table) // 2
    page = parse(table, run={**RUN, "names": {"orca@truth": "orca", "orca@tracked": "orca"}})
    cells = line(page.tables["perception"][0], "orca")
    for cell, won in zip(cells[1:3], (14, 8), strict=True):
        low, high = (100 * v for v in wilson(won, count))
        assert cell.startswith(f"{100 * won / count:.1f} [{low:.1f}, {high:.1f}]")
    assert page.tables["perception"][0][0] == ["planner", "truth", "tracked", "tracked minus truth"]
    wanted = bootstrap([float(k in range(4, 12)) - float(k in range(14)) for k in range(count)])
    assert cells[3].startswith(f"{100 * wanted.value:+.1f} [{100 * wanted.low:+.1f}, {100 * wanted.high:+.1f}]")


def test_a_run_at_one_level_says_nothing_of_a_price():
    assert "perception" not in parse([{**row, "pedestrians": "tracked"} for row in rows(episodes=3)]).tables


def test_the_page_says_which_episodes_count():
    text = " ".join(" ".join(parse().text).split())
    assert "Every planned episode counts, for every planner." in text
    assert "ends its process is the planner's failure" in text


def _real(planners=("orca", "dwa"), episodes=10, stages=("hall", "corridor")):
    """Rows with the metrics of the head of the page, and these metrics; some episodes end at a person."""
    table, spread = rows(planners, episodes=episodes, stages=stages), np.random.default_rng(5)
    measures = [load("metrics", name) for name in (*HEADLINE, "collisions_by_robot", "velocity_max", "timeout")]
    for number, row in enumerate(table):
        row |= {name: float(value) for name, value in zip(HEADLINE, spread.gamma(4.0, 1.0, len(HEADLINE)), strict=True)}
        arrived, clean = row["outcome"] == "reached", number % 3 == 0
        row |= {"clean_arrival": float(arrived and clean), "spoilt_by_time": float(arrived and not clean)}
        row |= {"spoilt_by_group": float(arrived and number % 6 == 1)}
        row |= {"velocity_max": 1.0 + 0.1 * (number % 3), "timeout": float(row["outcome"] == "timeout")}
        hit = row["outcome"] == "pedestrian_collision"
        row |= {"collisions_by_robot": float(hit and number % 2), "collisions_by_person": float(hit and not number % 2)}
        row |= {"collisions_by_both": 0.0, "collisions_avoidable": float(hit)}
        row["time_to_goal"] = row["time_to_goal"] if row["outcome"] == "reached" else None
    return table, measures


def test_the_head_of_the_page_has_what_matters_with_intervals_and_a_chart_each():
    table, measures = _real()
    text = render({}, table, measures, {}, timing={row["key"]: [0.001, 0.003] for row in table})
    page = Page(text)
    assert [a["id"] for tag, a in page.tags if tag == "section"][0] == "summary"
    head, *_ = page.tables["summary"]
    wanted = [
        "planner",
        "Reached",
        "Reached clean",
        "Time to the goal",
        "Path efficiency",
        "Closest approach",
        "Personal space",
        "Smoothness",
        "Planning time",
    ]
    assert [cell.split(" % ")[0] for cell in head[0]][:2] == wanted[:2]
    assert all(cell.startswith(words) for cell, words in zip(head[0], wanted, strict=True))
    orca = [row for row in table if row["planner"] == "orca"]
    mean, cell = bootstrap([row["jerk_average"] for row in orca]), line(head, "orca")[7]
    share = 100 * np.mean([row["outcome"] == "reached" for row in orca])
    assert [float(v) for v in re.findall(r"[\d.]+", cell)] == pytest.approx([mean.value, mean.low, mean.high, share], abs=0.006)
    hits = [row for row in orca if row["outcome"] == "pedestrian_collision"]
    robots, people = (sum(int(row[f"collisions_by_{who}"]) for row in hits) for who in ("robot", "person"))
    assert f"gap closed by robot {robots}, person {people}; {len(hits)} avoidable" in line(head, "orca")[1] and robots and people
    rows_of = text.partition('id="summary"')[2].partition("</table>")[0].split("<tr>")[2:]
    assert [block.count('<svg class="small"') for block in rows_of] == [8, 8]
    assert all(block.count('class="violin"') == 5 for block in rows_of)


def test_the_second_number_is_the_share_of_clean_arrivals_with_interval_and_causes():
    table, measures = _real()
    orca = [row for row in table if row["planner"] == "orca"]
    clean, slow, crossed = (sum(int(row[name]) for row in orca) for name in ("clean_arrival", "spoilt_by_time", "spoilt_by_group"))
    assert clean and slow > crossed > 0
    head, *_ = parse(table, measures, run={}).tables["summary"]
    low, high = wilson(clean, len(orca))
    cell = line(head, "orca")[2]
    assert cell.startswith(f"{100 * clean / len(orca):.1f} [{100 * low:.1f}, {100 * high:.1f}]")
    assert f"most often: time time {slow}, group crossed {crossed}" in cell


def test_rows_of_runs_without_the_second_number_show_not_measured():
    table, measures = _real()
    old = [{name: value for name, value in row.items() if name != "clean_arrival" and "spoilt" not in name} for row in table]
    page = parse(old, measures, run={})
    assert {line(page.tables["summary"][0], planner)[2] for planner in ("orca", "dwa")} == {"not measured"}
    assert "spoilt" not in page.tables and len(page.tables["ranking"]) == 2
    assert "clean?" not in " ".join(page.text)


def test_spoilt_arrivals_are_listed_with_their_causes_and_play_like_failures():
    table, measures = _real(episodes=4)
    spoilt = [row for row in table if row["spoilt_by_time"] or row["spoilt_by_group"]]
    text = render({"folder": "results/x"}, table, measures, {spoilt[0]["key"]: episode()}, reasons={spoilt[0]["key"]: "6 s: so."})
    (listed,) = Page(text).tables["spoilt"]
    assert len(listed) - 1 == len(spoilt) and f'data-play="{spoilt[0]["key"]}"' in text
    causes = {(cells[0], cells[1], cells[2].split()[0]): (cells[3], cells[4]) for cells in listed[1:]}
    for row in spoilt:
        found, said = causes[row["planner"], row["stage"], str(row["episode"])]
        assert found == ", ".join(["group crossed"] * bool(row["spoilt_by_group"]) + ["time"] * bool(row["spoilt_by_time"]))
        assert said == "6 s: so." if row is spoilt[0] else found in said


def test_planners_are_also_ranked_and_compared_by_clean_arrivals():
    table, measures = _real()
    table = [row | {"clean_arrival": float(row["outcome"] == "reached" and row["planner"] == "dwa")} for row in table]
    page = parse(table, measures, run={})
    _, second, _ = page.tables["ranking"][2]
    assert second[0] == "dwa" and second[4] == "all others"
    said = " ".join(" ".join(page.text).split())
    assert re.search(
        r"Which planner had the most clean arrivals\? Of 20 episodes: dwa [\d.]+ %; then orca 0.0 %. Most arrivals are", said
    )


def test_a_stage_has_a_summary_of_its_own():
    table, measures = _real()
    summary = parse(table, measures, run={}).tables["summary"]
    hall_rows = [row for row in table if row["planner"] == "dwa" and row["stage"] == "hall"]
    assert len(summary) == 3
    assert f"{100 * np.mean([row['outcome'] == 'reached' for row in hall_rows]):.1f}" in line(summary[1], "dwa")[1]


def test_all_metrics_stand_folded_by_group():
    table, measures = _real()
    text = render({}, table, measures, {})
    for section in ("metrics", "differences", "distributions"):
        block = text.partition(f'<section id="{section}">')[2].partition("</section>")[0]
        found = re.findall(r"<details><summary>(.*?) <span", block)
        groups = [
            "Outcome",
            "Clean arrival",
            "Blame",
            "Time and path",
            "Distance to people and walls",
            "Motion and smoothness",
        ]
        assert found == groups * (3 if section == "metrics" else 1)
        assert not re.search(r"<table|<figure", re.sub(r"<details>.*?</details>", "", block, flags=re.S))
    assert "open" not in re.findall(r"<details([^>]*)>", text)


def test_distributions_are_violins_within_the_range_of_the_values():
    table, measures = _real()
    chart = render({}, table, measures, {}).partition("<b>jerk_average</b>")[2].partition("</svg>")[0]
    violins = re.findall(r'class="violin" d="M(.*?)Z"', chart)
    assert len(violins) == 2
    for planner, drawn in zip(("orca", "dwa"), violins, strict=True):
        some = [row["jerk_average"] for row in table if row["planner"] == planner]
        dots = [float(x) for x in re.findall(r"M([\d.]+) [\d.]+h0", chart)]
        x = [float(point.split()[0]) for point in drawn.split("L")]
        assert min(dots) - 0.1 <= min(x) and max(x) <= max(dots) + 0.1 and len(some) == 20
    same = [{**row, "jerk_average": 2.0} for row in table]
    assert "violin" not in render({}, same, measures, {}).partition("<b>jerk_average</b>")[2].partition("</svg>")[0]


def test_a_comparison_says_its_pairs_and_what_difference_it_finds():
    table, measures = _real(episodes=12)
    text = " ".join(parse(table, measures, run={}, baseline="dwa").text)
    (said,) = re.findall(r"orca against dwa: .*?\.(?= [A-Z]|$)[^.]*\.[^;]*; .*?\. ", text + " ")
    least = detectable(paired_values(table, "jerk_average", "orca", "dwa", "reached"))
    assert said.startswith("orca against dwa: 24 pairs. Detectable in 8 of 10 such runs: the share that reached the goal ")
    assert f"smoothness (jerk) {least:.2g} m/s3" in text
    both = sum(
        {row["outcome"] for row in table if (row["stage"], row["episode"]) == place} == {"reached"}
        for place in {(row["stage"], row["episode"]) for row in table}
    )
    assert re.search(rf"time to the goal [\d.]+ s \({both} pairs\)", text)


def test_where_contacts_end_no_episode_the_failures_of_socnavbench_are_counted():
    ends = {"a": ["clean", "touched", "touched", "timeout"], "b": ["clean", "clean", "wall", "timeout"]}
    table = [
        row
        | {
            "outcome": {"timeout": "timeout", "wall": "wall_collision"}.get(end, "reached"),
            "success.socnavbench": float(end == "clean"),
            "reached": float(end in ("clean", "touched")),
            "timeout": float(end == "timeout"),
            "failure_pedestrian_collision": float(end == "touched"),
            "failure_wall_collision": float(end == "wall"),
        }
        for row, end in zip(rows(("a", "b"), episodes=4, stages=("s",)), ends["a"] + ends["b"], strict=True)
    ]
    first, second = Page(render({}, table, METRICS, {})).tables["outcomes"][1][1:]
    assert first == ["a", "1", "25.0 [4.6, 69.9]", "3", "1", "2", "0"]
    assert second == ["b", "2", "50.0 [15.0, 85.0]", "2", "1", "0", "1"]
    untouched = [row for row in table if row["planner"] == "b"]
    assert len(Page(render({}, untouched, METRICS, {})).tables["outcomes"]) == 1, "nobody was touched on the way to a goal"


def test_each_stage_has_a_picture_of_the_episode_that_most_planners_have():
    table, measures = _real()
    del table[0]  # orca's first episode in the hall
    keys = pictured_keys(table, ["dwa", "orca"])
    assert {key.rpartition("/")[2] for key in pictured_keys(table, ["dwa", "teb"])} == {"dwa"}
    assert sorted(keys) == sorted(row["key"] for row in table if (row["stage"], row["episode"]) in (("hall", 1), ("corridor", 0)))
    recordings = dict.fromkeys(keys, episode(surroundings=hall()))
    text = render({}, table, measures, {}, pictures=recordings)
    pictures = text.partition('<section id="pictures">')[2].partition("</section>")[0]
    assert pictures.count('<svg class="stage-picture"') == 2 and pictures.count("data:image/png") == 2
    assert 'aria-label="Stage hall, episode 1"' in pictures and "orca" in pictures and "dwa" in pictures
    assert pictures.count('stroke="#0072B2"') == pictures.count('stroke="#CC79A7"') == 2
    assert "pictures" not in [a.get("id") for _, a in Page(render({}, table, measures, {})).tags]


def test_arenas_six_measures_have_a_section_of_their_own_where_rows_have_them():
    table, measures = _real()
    some = ["path_length", "time_in_private_zone", "collisions"]
    measures = [*measures, *(load("metrics", name) for name in some)]
    table = [row | {name: 1.0 + place % 4 for name in some} for place, row in enumerate(table)]
    section = render({}, table, measures, {}).partition('<section id="people">')[2].partition("</section>")[0]
    named = re.findall(r"<figcaption><b>([\w.]+)</b>", section)
    assert named == ["path_length", "time_to_goal", "collisions", "time_in_private_zone"]
    for planner in ("dwa", "orca"):
        assert section.count(f">{planner}<title>") == len(named)
    none = render({}, table, [metric for metric in measures if metric.name not in ARENA], {})
    assert "people" not in [a.get("id") for _, a in Page(none).tags]


def test_no_mean_is_marked_best_where_planners_have_different_episodes():
    table = [{**row, "outcome": "reached"} for row in rows(("a", "b"), episodes=8)]
    table[-1]["outcome"] = "timeout"
    whole = render({}, table, METRICS, {})
    assert 'class="best"' in whole and "Which planner reached the most goals?" in whole
    for gone in ({"episode": 3, "planner": "a"}, {"episode": 5, "planner": "b"}):
        table = [row for row in table if not gone.items() <= row.items()]
    page = render({}, table, METRICS, {})
    assert 'class="best"' not in page and "no best planner is named" in page and "Which planner" not in page


def test_the_head_says_which_planner_reads_no_walls_and_what_the_stages_say():
    told = {"blind": ("orca",), "robots": ["jackal", "f1tenth"], "crowds": ["anticipation"], "control": ["0.1 s"]}
    page = parse(run=RUN | told)
    summary = page.tables["summary"][0]
    assert {line[0] for line in summary if line[0].endswith("reads no walls")} == {"orca n = 16 reads no walls"}
    for fact, words in {"Robot": "jackal, f1tenth", "People moved by": "anticipation", "Control period": "0.1 s"}.items():
        assert page.text[page.text.index(fact) + 1] == words


def test_the_ranking_says_from_whom_the_best_is_told_and_the_head_answers():
    table = [
        {**row, "outcome": "reached" if row["planner"] != "a" or row["episode"] % 2 else "timeout"} for row in rows(("a", "b", "c"))
    ]
    for row in table:
        if row["planner"] == "c" and row["episode"] == 3:
            row["outcome"] = "timeout"
    page = parse(table, run={"planners": ["a", "b", "c"]})
    first, second, last = page.tables["ranking"][0][1:]
    assert [first[0], second[0], last[0]] == ["b", "c", "a"]
    assert (first[1], first[2], first[4], first[5]) == ("100.0", "1 to 2", "a", "c")
    assert last[4:] == ["—", "—"]
    assert "Not sure: the difference from c may be due to chance. The difference from a is significant." in page.text
    assert "ranking" not in parse(table, run={"planners": ["a", "b", "c"], "incomplete": True}).tables
