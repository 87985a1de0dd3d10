"""The answers at the beginning of a report: which planner reached the most goals, which had the most clean arrivals, which was
fastest, and which disturbed people least.

Each answer states how certain it is. The certainty depends on which planners differ significantly on the same episodes
(`agora.reporting.ranking`). A robot that fails stops early, which makes its time and its distance to people look better. The last
two answers therefore compare only the planner that reached the most goals with the planners that do not differ significantly from
it, on the episodes in which all of these planners reached the goal.

Planners that were not requested but run for comparison (`agora.benchmark.control`) are not included in these answers; a final
answer compares them with the requested planners.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from agora.benchmark.informed import INFORMED
from agora.benchmark.results.copies import distinct
from agora.benchmark.results.store import Row
from agora.interfaces import Metric
from agora.reporting.clean_arrivals import CLEAN, most_often
from agora.reporting.ranking import Pair, Ranked, ranking
from agora.reporting.tables import REACHED, by_planner, same_episodes

_NAMED = 3
"""Number of planners that a sentence lists by name before "and N more"; if N would be 1, all planners are listed."""


class Answer(NamedTuple):
    """A question about a run, with its answer.

    Attributes:
        question: the question.
        words: the answer, with numbers.
        sure: how certain the answer is, as text.
    """

    question: str
    words: str
    sure: str


def answers(rows: Sequence[Row], planners: Sequence[str], metrics: Sequence[Metric], control: Sequence[str] = ()) -> list[Answer]:
    """Return the answers about a run; empty if planners have different episodes, or if there are fewer than two planners or
    episodes.

    Args:
        rows: rows of the run.
        planners: labels of the planners.
        metrics: metrics that have a value in at least one row.
        control: labels of the planners that were not requested.
    """
    rows = distinct(rows)
    marked = [{**row, REACHED.name: float(row["outcome"] == "reached")} for row in rows]
    if not same_episodes(by_planner(rows, planners)):
        return []
    asked = asked_of(planners, control)
    return _of_asked(marked, asked, metrics) + [
        one for label in planners if label not in asked for one in _of_control(marked, label, asked)
    ]


def asked_of(planners: Sequence[str], control: Sequence[str]) -> list[str]:
    """Return the requested planners, or all planners if none was requested."""
    return [label for label in planners if label not in control] or list(planners)


def _of_control(marked: Sequence[Row], control: str, asked: Sequence[str]) -> list[Answer]:
    """Return an answer that compares the control planner, which was not requested, with the requested planners."""
    ranked, pairs, count = ranking(marked, REACHED, [*asked, control])
    if not ranked:
        return []
    share = {one.planner: one.mean for one in ranked}
    untold = _untold(control, pairs)
    more, fewer = ([one for one in asked if one not in untold and (share[one] > share[control]) is up] for up in (True, False))
    sure = [
        f"{_list(some)} reached {words}; the difference is significant."
        for some, words in ((more, "more"), (fewer, "fewer"))
        if some
    ]
    sure += [f"The difference from {_list(untold)} may be due to chance."] if untold else []
    reached = f"it reached the goal in {_percent(share[control])} of {count} episodes"
    if control.partition("@")[0] == INFORMED:
        return [
            Answer("What is achievable?", f"{control} knows the future and was added as a reference: {reached}.", " ".join(sure))
        ]
    words = f"{control}, which does not see people, was added as a reference: {reached}."
    said = Answer("Does seeing people help here?", words, " ".join(sure))
    if len(asked) > 1:
        return [said]
    return [Answer(f"How often did {asked[0]} reach the goal?", f"In {_percent(share[asked[0]])} of {count} episodes.", ""), said]


def _of_asked(marked: Sequence[Row], planners: Sequence[str], metrics: Sequence[Metric]) -> list[Answer]:
    """Answer the questions about the requested planners."""
    ranked, pairs, count = ranking(marked, REACHED, planners)
    if not ranked:
        return []
    said = [
        _answer(
            "Which planner reached the most goals?", f"Of {count} episodes", ranked, pairs, lambda share: f"{100.0 * share:.1f} %"
        )
    ]
    if ranked[0].mean == 0.0:
        return [Answer(said[0].question, f"No planner reached the goal in any of {count} episodes.", "")]
    said += _clean(marked, planners)
    most = [place.planner for place in ranked if place is ranked[0] or place.planner in _untold(ranked[0].planner, pairs)]
    asked = most if len(most) > 1 else [place.planner for place in ranked]
    some = "all planners" if len(asked) == len(planners) > 2 else _list(asked)
    defined = {metric.name: metric for metric in metrics}
    for question, measures in _QUESTIONS.items():
        name = next((name for name in measures if name in defined), None)
        if name is None:
            continue
        words, shown = measures[name]
        found, told, common = ranking(marked, defined[name], asked)
        if found:
            said.append(
                _answer(question, f"{words}, on the {common} episodes in which {some} reached the goal", found, told, shown)
            )
        else:
            said.append(Answer(question, f"Too few to say: the goal was reached by {some} in {common} of {count} episodes.", ""))
    return said


def _clean(marked: Sequence[Row], planners: Sequence[str]) -> list[Answer]:
    """Return an answer that states which planner has the most clean arrivals and which cause spoils most arrivals; empty if clean
    arrivals are not measured.
    """
    ranked, pairs, count = ranking(marked, CLEAN, planners)
    if not ranked:
        return []
    cause = most_often([row for row in marked if row["planner"] in planners])
    spoilt = f"Most arrivals are spoilt by: {cause}." if cause else ""
    found = _answer("Which planner had the most clean arrivals?", f"Of {count} episodes", ranked, pairs, _percent)
    if ranked[0].mean == 0.0:
        return [Answer(found.question, f"No planner reached the goal clean in any of {count} episodes. {spoilt}".rstrip(), "")]
    return [found._replace(words=f"{found.words} {spoilt}".rstrip())]


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"


_QUESTIONS: dict[str, dict[str, tuple[str, Callable[[float], str]]]] = {
    "Which of the best was fastest?": {"time_to_goal": ("Time to the goal", lambda time: f"{time:.1f} s")},
    "Which of the best disturbed people least?": {
        "pedestrian_displacement_average": (
            "Mean distance of people from their positions without robots",
            lambda d: f"{d:.2f} m",
        ),
        "personal_space_compliance.robosense": (
            "Time with at least 1 m between the robot's centre and every person's",
            _percent,
        ),
    },
}
"""The other questions. Each question has metrics that can answer it, of which the first available metric is used, with the wording
of the answer.
"""


def _answer(question: str, where: str, ranked: Sequence[Ranked], pairs: Sequence[Pair], shown: Callable[[float], str]) -> Answer:
    """Return an answer that names the best planner or planners and the runners-up, and states which differences are significant."""
    best, untold = ranked[0], _untold(ranked[0].planner, pairs)
    level = [one.planner for one in ranked if shown(one.mean) == shown(best.mean)]
    after = [one for one in ranked if one.planner not in level]
    then = f"; then {_list([f'{one.planner} {shown(one.mean)}' for one in after])}" if after else ""
    words = f"{where}: {_list(level)} {shown(best.mean)}{then}."
    unclear = [planner for planner in untold if planner not in level]
    clear = [one.planner for one in after if one.planner not in untold]
    if len(level) == 1 and not unclear:
        return Answer(question, words, f"Sure: the difference from {_list(clear)} is significant.")
    doubts = [f"{_list(level)} are level"] if len(level) > 1 else []
    doubts += [f"the difference from {_list(unclear)} may be due to chance"] if unclear else []
    more = f" The difference from {_list(clear)} is significant." if clear else ""
    return Answer(question, words, f"Not sure: {', and '.join(doubts)}.{more}")


def _untold(planner: str, pairs: Sequence[Pair]) -> list[str]:
    """Return the planners that do not differ significantly from ``planner``, in the order of the pairs."""
    return [
        pair.second if pair.first == planner else pair.first
        for pair in pairs
        if planner in (pair.first, pair.second) and not pair.apart
    ]


def _list(words: Sequence[str]) -> str:
    """Return names as an enumeration such as "a, b and c"; if there are more than four names, list three and give the number of the
    others.
    """
    if len(words) > _NAMED + 1:
        return f"{', '.join(words[:_NAMED])} and {len(words) - _NAMED} more"
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
