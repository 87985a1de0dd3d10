"""The card of a trained policy: how the policy was trained, its results compared with published results, and its limitations.

`agora train` writes the card next to the policy: as YAML, as a page, and as a plot of the learning curve. The cards of the policies
that come with Agora are in ``configs/policies``; pages of the manual are generated from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agora.config import dump, load
from agora.errors import UnknownNameError
from agora.files import write_whole
from agora.reporting.statistics import wilson
from agora.share import folder
from agora.viewer.figures import blank, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CARD, PAGE, PICTURE, SEED = "card.yaml", "card.md", "curve.png", "seed.yaml"


_COUNTS = ("episodes", "reached", "collided", "late", "failed", "left", "walls", "lost")


@dataclass(frozen=True)
class Result:
    """The outcomes of all episodes of a stage.

    Attributes:
        stage: name of the stage.
        episodes: number of episodes.
        reached: number of episodes in which the robot reached the goal.
        collided: number of episodes that ended in a collision.
        late: number of episodes that ran out of time.
        seconds: mean duration of the episodes in which the robot reached the goal, s; None if there are none.
        failed: number of episodes that ended because the planner failed.
        left: number of episodes that ended outside the map; None if they were counted in ``collided`` instead.
        walls: number of episodes that ended in a collision with a wall; None if they were not counted separately.
        lost: number of episodes that ended because the simulator failed.
    """

    stage: str
    episodes: int
    reached: int
    collided: int
    late: int
    seconds: float | None = None
    failed: int = 0
    left: int | None = None
    walls: int | None = None
    lost: int = 0

    @staticmethod
    def together(name: str, results: Sequence[Result]) -> Result:
        """Return the combined outcomes of several stages under the given name."""
        if len(results) == 1:
            return results[0]
        counts = {field: sum(getattr(one, field) or 0 for one in results) for field in _COUNTS}
        timed = [one for one in results if one.seconds is not None]
        seconds = sum(one.reached * (one.seconds or 0.0) for one in timed) / sum(one.reached for one in timed) if timed else None
        return Result(name, seconds=seconds, **counts)

    @property
    def success(self) -> tuple[float, float, float]:
        """The success rate and its 95 % confidence interval (Wilson)."""
        low, high = wilson(self.reached, self.episodes)
        return self.reached / self.episodes, low, high

    def __str__(self) -> str:
        share, low, high = self.success
        time = "" if self.seconds is None else f", {self.seconds:.2f} s"
        hits = f"{'collisions' if self.left is not None else 'collisions or left the map'} {self.collided / self.episodes:.3f}"
        left = f", left the map {self.left / self.episodes:.3f}" if self.left else ""
        failed = f", planner failed in {self.failed}" if self.failed else ""
        failed += f", simulator failed in {self.lost}" if self.lost else ""
        return f"success {share:.3f} [{low:.3f}, {high:.3f}], {hits}{left}{time}{failed}"


@dataclass(frozen=True)
class SeedRecord:
    """A training run with one seed.

    Attributes:
        seed: seed of all random numbers.
        steps: number of environment steps.
        seconds: wall-clock time of the training, including validations, s.
        made_on: processor, operating system, software versions and commit used for the training.
        curve: pairs of environment steps and success rate on the validation stage.
        results: test results of the policy with the best validation, one per stage of the test; empty if the policy was not tested.
        stopped: whether the training was stopped before its end.
    """

    seed: int
    steps: int
    seconds: float
    made_on: dict[str, Any]
    curve: tuple[tuple[float, float], ...]
    results: tuple[Result, ...]
    stopped: bool = False


@dataclass(frozen=True)
class PolicyCard:
    """The card of a policy.

    Attributes:
        training: the resolved training configuration (`agora.learning.training.Training`) as plain data.
        seeds: one training run per seed; the policy is from the first run.
        ablations: descriptions of the success rates on the first stage of the test with changed parameters.
        elsewhere: results of the policy in environments in which it was not trained, one per stage of the training's ``elsewhere``
            suite.
    """

    training: dict[str, Any]
    seeds: tuple[SeedRecord, ...]
    ablations: dict[str, str] = field(default_factory=dict)
    elsewhere: tuple[Result, ...] = ()

    def save(self, place: Path, stem: str = "") -> None:
        """Write the card, its page and the plot of its learning curve into a folder.

        Args:
            place: folder to write to.
            stem: file name without extension, instead of ``card``.
        """
        write_whole(place / (f"{stem}.yaml" if stem else CARD), dump(self))
        write_whole(place / (f"{stem}.md" if stem else PAGE), self.page(f"{stem}.png" if stem else PICTURE))
        save(self.curve(), place / (f"{stem}.png" if stem else PICTURE), dpi=120)

    def page(self, picture: str) -> str:
        """Return the card as Markdown; ``picture`` is the link to the plot of the learning curve."""
        said, first = self.training, self.seeds[0]
        cpu, python = first.made_on.get("cpu", "unknown"), first.made_on.get("python", "unknown")
        lines = [
            f"# Policy `{said['name']}`\n",
            f"{said['method']}\n",
            f"Label\n: {said['label']}\n",
            f"Planner\n: `{said['planner']}`\n",
        ]
        rows = self._rows()
        table = _table(rows) if len(rows) > 1 else "The policy was not tested.\n"
        warning = [f"Elsewhere\n: {said_of(self.elsewhere)}\n"] if self.elsewhere else []
        lines += [f"Cannot\n: {said['cannot']}\n", *warning, "## Success\n", table, _note(self.seeds)]
        if self.elsewhere:
            grounds = f"The suite `{said['elsewhere']}`, on which it was not trained; with true pedestrian states.\n"
            lines += ["## Elsewhere\n", grounds, _table(_elsewhere(self.elsewhere))]
        if self.ablations:
            lines += ["## Ablations\n", _table([("changed", "result"), *self.ablations.items()])]
        lines += [
            "## Training\n",
            f"Trainer `{said['trainer']['name']}`:\n",
            _table([("parameter", "value"), *_flat(said["trainer"])]),
        ]
        lines += [f"Suite `{said['suite']}`, stage `{said['stage']}`; validation on stage `{said['validation']}`.\n"]
        lines += [f"Made on {cpu}, Python {python}, commit {first.made_on.get('commit', 'unknown')}.\n"]
        spent = [(str(one.seed), f"{one.steps:,}", f"{one.seconds / 60.0:.1f}") for one in self.seeds]
        lines += [_table([("seed", "environment steps", "minutes"), *spent])]
        lines += [f"`agora train {said['name']}` reproduces it.\n", f"![Success on the validation stage over steps]({picture})"]
        return "\n".join(lines) + "\n"

    def _rows(self) -> list[tuple[str, ...]]:
        """Return the table of results: one row per stage and seed, followed by the published result."""
        rows: list[tuple[str, ...]] = []
        rows += [("stage", "made by", "episodes", "success", "collisions", "left the map", "out of time", "time to the goal (s)")]
        published = self.training.get("published") or ()
        tested = [one for one in self.seeds if one.results]
        for k, result in enumerate(tested[0].results if tested else ()):
            for one in tested:
                r = one.results[k]
                share, low, high = r.success
                interval = f"{100 * share:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
                left = "in collisions" if r.left is None else f"{100 * r.left / r.episodes:.1f} %"
                ends = (f"{100 * r.collided / r.episodes:.1f} %", left, f"{100 * r.late / r.episodes:.1f} %")
                time = "none" if r.seconds is None else f"{r.seconds:.2f}"
                rows.append((f"`{r.stage}`", f"seed {one.seed}", str(r.episodes), interval, *ends, time))
            for number in published:
                if number["stage"] == result.stage:
                    time = "" if number.get("seconds") is None else f"{number['seconds']:.2f}"
                    reached = f"{100 * number['success']:.0f} %"
                    rows.append((f"`{result.stage}`", f"published: {number['source']}", "", reached, "", "", "", time))
        return rows

    def curve(self) -> Figure:
        """Return a figure of the validation success rate over environment steps, with one line per seed."""
        figure, axes = blank(6.0, 3.2)
        for one in self.seeds:
            steps, success = zip(*one.curve, strict=True) if one.curve else ((), ())
            axes.plot([step / 1e6 for step in steps], success, marker=".", label=f"seed {one.seed}")
        axes.set(xlabel="million environment steps", ylabel="success in validation", ylim=(0.0, 1.02), title=self.training["name"])
        axes.grid(alpha=0.3)
        axes.legend(loc="lower right")
        return figure


def said_of(results: Sequence[Result]) -> str:
    """Return a sentence on how a policy performs outside its training environment: its success rate and its most frequent kind of
    failure.
    """
    said = []
    for r in results:
        walls = r.walls or 0
        ends = {"meet people": r.collided - walls, "meet walls": walls, "leave the map": r.left or 0, "are late": r.late}
        ends |= {"fail": r.failed}
        worst = max(ends, key=lambda name: ends[name])
        said.append(f"`{r.stage}` {r.reached} of {r.episodes}" + (f" ({ends[worst]} {worst})" if ends[worst] else ""))
    return f"it reaches its goal in {', '.join(said)}."


def _elsewhere(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """Return the table of results outside the training environment."""
    rows: list[tuple[str, ...]] = [
        ("stage", "episodes", "success", "hit a person or robot", "hit a wall", "left the map", "out of time", "failed")
    ]
    for r in results:
        share, low, high = r.success
        walls = r.walls or 0
        counts = (r.collided - walls, walls, r.left or 0, r.late, r.failed)
        interval = f"{100 * share:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        rows.append((f"`{r.stage}`", str(r.episodes), interval, *map(str, counts)))
    return rows


def _flat(values: dict[str, Any], inside: str = "") -> Iterator[tuple[str, str]]:
    """Return the parameters of a trainer, keyed by dotted names."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{inside}{key}.")
        elif key != "name":
            yield f"`{inside}{key}`", str(value)


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *rest = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([head, "|" + " --- |" * len(rows[0]), *rest]) + "\n"


def _note(seeds: Sequence[SeedRecord]) -> str:
    several = f"{len(seeds)} seeds were trained; the policy in this folder is that of seed {seeds[0].seed}, chosen before training."
    said = [several if len(seeds) > 1 else "One seed was trained."]
    said += ["Intervals are of 95 % (Wilson) over episodes."] if any(one.results for one in seeds) else []
    for one in seeds:
        if one.stopped:
            which = "the best in validation up to then" if one.curve else "that of the last round, as no policy was validated"
            said.append(f"The training with seed {one.seed} was stopped after {one.steps:,} steps; its policy is {which}.")
    return " ".join(said) + "\n"


def card_names() -> list[str]:
    """Return the names of the policies that come with Agora and have a card, sorted."""
    return sorted(path.stem for path in (folder("configs") / "policies").glob("*.yaml"))


def load_policy_card(name: str) -> PolicyCard:
    """Return the card of a policy that comes with Agora.

    Raises:
        UnknownNameError: there is no card with this name.
    """
    if name not in card_names():
        raise UnknownNameError("policy card", name, card_names())
    return load(folder("configs") / "policies" / f"{name}.yaml", PolicyCard)
