"""The first answers name the best planner of each question among planners and episodes that are fair to compare."""

from __future__ import annotations

import pytest

from agora.registry import load
from agora.reporting._answers import answers

SPACE, MOVED = "personal_space_compliance.robosense", "pedestrian_displacement_average"
METRICS = [load("metrics", name) for name in ("time_to_goal", SPACE, MOVED)]


def run(**planners):
    """Rows of planners: for each a list of times to the goal, None where it did not reach it, and its share of time at 1 m."""
    return [
        {
            "planner": planner,
            "stage": "hall",
            "episode": number,
            "outcome": "timeout" if time is None else "reached",
            "reached": float(time is not None),
            "time_to_goal": time,
            SPACE: space if time is not None else 1.0,
        }
        for planner, (times, space) in planners.items()
        for number, time in enumerate(times)
    ]


def said(rows, planners=None):
    return answers(rows, planners or list(dict.fromkeys(row["planner"] for row in rows)), METRICS[:2])


def test_a_planner_that_fails_early_is_neither_the_fastest_nor_the_most_considerate():
    rows = run(
        slow=([20.0 + k for k in range(16)], 0.8), brisk=([9.0 + k for k in range(16)], 0.6), rash=([3.0] * 4 + [None] * 12, 1.0)
    )
    reached, faster, kinder = said(rows)
    assert reached.words == "Of 16 episodes: slow and brisk 100.0 %; then rash 25.0 %."
    assert reached.sure == "Not sure: slow and brisk are level. The difference from rash is significant."
    assert (
        faster.words
        == "Time to the goal, on the 16 episodes in which slow and brisk reached the goal: brisk 16.5 s; then slow 27.5 s."
    )
    assert faster.sure == "Sure: the difference from slow is significant."
    assert "slow 80.0 %; then brisk 60.0 %." in kinder.words and "rash" not in faster.words + kinder.words


def test_where_one_planner_reached_clearly_more_all_are_compared_on_the_episodes_that_all_reached():
    rows = run(sure=([20.0] * 12, 0.8), half=([8.0] * 4 + [None] * 8, 0.7), third=([7.0] * 4 + [None] * 8, 0.9))
    reached, faster, _ = said(rows)
    assert reached.sure == "Sure: the difference from half and third is significant."
    assert faster.words == (
        "Time to the goal, on the 4 episodes in which all planners reached the goal: third 7.0 s; then half 8.0 s and sure 20.0 s."
    )
    assert faster.sure == "Not sure: the difference from half and sure may be due to chance."


def test_a_common_episode_alone_is_too_little_to_say():
    _, faster, _ = said(run(a=([5.0, 6.0, None], 0.8), b=([None, 7.0, 8.0], 0.6)))
    assert faster.words == "Too few to say: the goal was reached by a and b in 1 of 3 episodes." and faster.sure == ""


def test_where_nobody_reached_a_goal_nothing_else_is_asked():
    (only,) = said(run(a=([None, None], 1.0), b=([None, None], 1.0)))
    assert only.words == "No planner reached the goal in any of 2 episodes."


def test_one_planner_has_nobody_to_be_compared_with():
    assert said(run(a=([5.0, 6.0], 0.8))) == []


@pytest.mark.parametrize("count", [3, 9])
def test_of_many_planners_three_are_named_and_the_rest_counted(count):
    reached, *_ = said(run(**{f"p{k}": ([5.0, 6.0, 7.0], 0.8) for k in range(count)}))
    assert ("and 6 more" in reached.words) == (count == 9)
    assert reached.sure.endswith(" are level.") and "chance" not in reached.sure


def test_planners_that_share_the_first_place_are_named_together_and_the_others_may_be_chance():
    reached, *_ = said(run(a=([5.0, 6.0, 7.0], 0.8), b=([5.0, None, 7.0], 0.8), c=([9.0, 6.0, 7.0], 0.8)))
    assert reached.words == "Of 3 episodes: a and c 100.0 %; then b 66.7 %."
    assert reached.sure == "Not sure: a and c are level, and the difference from b may be due to chance."


def test_how_far_people_were_moved_counts_before_their_distance_where_a_run_has_it():
    rows = run(a=([5.0] * 3, 0.8), b=([6.0] * 3, 0.6))
    kinder = answers([row | {MOVED: 0.25 if row["planner"] == "a" else 0.125} for row in rows], ["a", "b"], METRICS)[-1]
    assert kinder.words.startswith("Mean distance of people from their positions without robots,")
    assert kinder.words.endswith("b 0.12 m; then a 0.25 m.")


def test_planners_with_different_episodes_are_not_compared():
    rows = run(a=([5.0, 6.0, 7.0, 8.0], 0.8), b=([5.0, 6.0, 7.0, 8.0], 0.8))
    assert said(rows) and said(rows[:-1]) == []


def test_the_answers_are_about_the_planners_that_were_asked_for_and_the_last_about_the_one_that_sees_nobody():
    rows = run(a=([5.0] * 12, 0.8), b=([6.0] * 4 + [None] * 8, 0.8), blind=([4.0] * 12, 0.2))
    *asked, last = answers(rows, ["a", "b", "blind"], METRICS[:2], ["blind"])
    assert asked[0].words == "Of 12 episodes: a 100.0 %; then b 33.3 %."
    assert not any("blind" in one.words + one.sure for one in asked)
    assert (
        last.words == "blind, which does not see people, was added as a reference: it reached the goal in 100.0 % of 12 episodes."
    )
    assert last.sure == "b reached fewer; the difference is significant. The difference from a may be due to chance."


def test_one_planner_beside_the_one_that_sees_nobody_is_told_of_first():
    rows = run(a=([5.0, None, 7.0], 0.8), blind=([4.0, 4.0, 4.0], 0.2))
    first, second = answers(rows, ["a", "blind"], METRICS[:2], ["blind"])
    assert (first.question, first.words) == ("How often did a reach the goal?", "In 66.7 % of 3 episodes.")
    assert second.words.startswith("blind, which does not see people")


def clean(rows, share, cause="spoilt_by_time"):
    """Rows in which a share of the arrivals of each planner is clean, and a cause spoils the others."""
    found = []
    for one in rows:
        tidy = one["outcome"] == "reached" and one["episode"] % 10 < 10 * share[one["planner"]]
        found.append(one | {"clean_arrival": float(tidy), cause: float(one["outcome"] == "reached" and not tidy)})
    return found


def test_the_second_answer_is_about_clean_arrivals_and_names_the_most_frequent_cause():
    rows = clean(run(a=([9.0] * 40, 0.9), b=([9.0] * 40, 0.9)), {"a": 0.2, "b": 0.9})
    _, second, *_ = answers(rows, ["a", "b"], METRICS)
    assert second.question == "Which planner had the most clean arrivals?"
    assert second.words == "Of 40 episodes: b 90.0 %; then a 20.0 %. Most arrivals are spoilt by: time."
    assert second.sure == "Sure: the difference from a is significant."


def test_the_second_answer_says_if_no_planner_arrives_clean_and_is_missing_without_the_metric():
    rows = run(a=([9.0] * 12, 0.9), b=([9.0] * 12, 0.9))
    _, second, *_ = answers(clean(rows, {"a": 0.0, "b": 0.0}), ["a", "b"], METRICS)
    assert second.words == "No planner reached the goal clean in any of 12 episodes. Most arrivals are spoilt by: time."
    assert not any("clean" in one.question for one in answers(rows, ["a", "b"], METRICS))
