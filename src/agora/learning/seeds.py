"""Runs a training experiment over all of its seeds: a run and a test per seed, the first seed's policy, a card for all seeds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from agora.benchmark.stop_token import StopToken
from agora.config import plain
from agora.errors import StoppedError
from agora.files import write_whole
from agora.learning.card import PolicyCard, Result, SeedRecord
from agora.learning.events import Trained, TrainingEvent
from agora.learning.run import POLICY, policy_kept
from agora.learning.seed_records import played_elsewhere, record_of, untested
from agora.learning.training import Training, train
from agora.yaml_tree import require_file

__all__ = ["seed_folder", "train_seeds"]


def seed_folder(folder: Path, seed: int) -> Path:
    """Return the folder of the run with the given seed, inside the experiment's folder."""
    return folder / f"seed_{seed}"


def train_seeds(
    training: Training,
    folder: Path,
    *,
    resume: bool = False,
    token: StopToken | None = None,
    seconds: float = math.inf,
) -> Iterator[tuple[int, TrainingEvent | SeedRecord]]:
    """Train with each seed, and test the best policy of each run; yield pairs of seed and event. The last event of each seed is its
    record.

    The folder receives one run per seed and, at the end, the first seed's policy and the card. If the token stops the training, the
    policy and the card are also written, for the seeds so far; the last seed is then not tested.

    Args:
        training: the training configuration, which contains the seeds.
        folder: folder of the results.
        resume: whether to resume runs in the folder.
        token: token through which another thread can stop the training run.
        seconds: wall-clock time after which a seed's run is stopped at the end of a round, s; its policy is still tested.

    Raises:
        StoppedError: the token requested a stop.
        ResultsError: the folder contains another training run, or cannot be written.
        DivergedError: a training run produced non-finite numbers.
    """
    records, elsewhere = list[SeedRecord](), tuple[Result, ...]()
    try:
        for seed in training.seeds:
            place, whole = seed_folder(folder, seed), False
            try:
                with closing(train(training, place, seed, resume=resume, token=token, seconds=seconds)) as events:  # type: ignore[type-var]
                    for event in events:
                        yield seed, event
                        if isinstance(event, Trained):
                            whole = event.whole
                            records.append(record_of(event.run, whole=whole))
                            if seed == training.seeds[0] and (policy := policy_kept(place)):
                                elsewhere = played_elsewhere(event.run.planner(policy), training.elsewhere, event.run.token)
                            yield seed, records[-1]
            except StoppedError:
                records += [untested(place, seed, whole=whole)] if policy_kept(place) else []
                raise
    except StoppedError:
        _keep(training, folder, records, elsewhere)
        raise
    _keep(training, folder, records, elsewhere)


def _keep(training: Training, folder: Path, records: list[SeedRecord], elsewhere: tuple[Result, ...]) -> None:
    """Write the policy of the first seed, if there is one, and the card."""
    best = policy_kept(seed_folder(folder, training.seeds[0]))
    if best is not None:
        require_file(best)
        write_whole(folder / POLICY, best.read_bytes())
        PolicyCard(plain(training), tuple(records), elsewhere=elsewhere).save(folder)
