"""Trains the weights of `agora.predictors.learned_motion` on recorded and simulated people.

    python -m agora.learning.motion motion.safetensors --seed 1
    python -m agora.learning.motion motion.safetensors --scenes eth hotel zara01 zara02 --no-simulated

The first command created the weights that come with Agora. It uses the ETH/UCY scenes on which the crowd models are calibrated, and
simulated people in three training suites. The other scenes and the test suites are held out.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agora.core.state import Floats
from agora.errors import AgoraError, InputError
from agora.files import write_whole
from agora.learning.walks import Samples, recorded, samples_of, simulated
from agora.policies.weights import packed
from agora.predictors.learned_motion import FORMAT
from agora.predictors.motion_seen import Seen
from agora.tasks.suite import load_suite

TRAINING = ("eth", "students001", "zara01")
"""Default scenes to train on."""


@dataclass(frozen=True)
class Crowd:
    """Simulated people from a training suite.

    Attributes:
        suite: name of the suite.
        stages: names of the suite's stages to use; empty for all stages.
        episodes: number of episodes of each stage.
        seconds: duration of each episode, s.
        every: time between two samples, s.
        taken: only every ``taken``-th sample is used for training.
        share: relative weight of these samples in a batch.
    """

    suite: str
    stages: tuple[str, ...]
    episodes: int
    seconds: float
    every: float
    taken: int
    share: float

    def samples(self) -> Samples:
        """Return the samples of all stages."""
        names = self.stages or tuple(stage.name for stage in load_suite(self.suite).stages)
        walks = (simulated(self.suite, name, self.episodes, seconds=self.seconds, every=self.every) for name in names)
        return joined([samples_of(one, self.taken) for one in walks])


CROWDS = (
    Crowd("attngraph_training", ("crossing",), 192, 45.0, 0.25, taken=3, share=2.0),
    Crowd("crowdnav_training", ("circle",), 192, 12.0, 0.25, taken=1, share=0.5),
    Crowd("social_training", (), 5, 30.0, 0.2, taken=3, share=1.5),
)
"""Simulated people to train on."""


def joined(sets: Sequence[Samples]) -> Samples:
    """Combine several sets of samples that have the same prediction times into one set."""
    looked = Seen(*(np.concatenate(part) for part in zip(*(one.seen for one in sets), strict=True)))
    return Samples(looked, np.concatenate([one.off for one in sets]), sets[0].moments)


def lessons(scenes: Sequence[str], *, crowds: Sequence[Crowd] = CROWDS) -> Iterator[tuple[Samples, float]]:
    """Yield the sets of samples to train on, and the fraction of each set in a batch.

    Args:
        scenes: names of ETH/UCY scenes; may be empty.
        crowds: simulated people.

    Raises:
        InputError: the data set is missing.
    """
    for name in scenes:
        yield samples_of(recorded(name)), 3.5 / len(scenes)
    for crowd in crowds:
        yield crowd.samples(), crowd.share


def main(arguments: Sequence[str] | None = None) -> None:
    """Train weights as specified by the command-line options."""
    parser = argparse.ArgumentParser(prog="python -m agora.learning.motion", description="Learn to predict how people move.")
    parser.add_argument("output", type=Path, help="safetensors file to write")
    parser.add_argument("--scenes", nargs="*", default=list(TRAINING), help="ETH/UCY scenes to learn from")
    parser.add_argument("--simulated", action=argparse.BooleanOptionalAction, default=True, help="also learn from crowd models")
    parser.add_argument("--steps", type=int, default=6000, help="number of AdamW steps")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    try:
        _write(options, list(sys.argv[1:] if arguments is None else arguments))
    except AgoraError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from error


def _write(options: argparse.Namespace, command: Sequence[str]) -> None:
    """Train the weights, and write them with notes on how they were created."""
    from agora.learning.trainers.motion import fit  # needs PyTorch

    sets, shares = zip(*lessons(options.scenes, crowds=CROWDS if options.simulated else ()), strict=True)
    arrays = fit(sets, shares, steps=options.steps, seed=options.seed)
    count = sum(len(one.off) for one in sets)
    about = {
        "command": shlex.join(("python", "-m", "agora.learning.motion", *command)),
        "data": ", ".join([*options.scenes, *(crowd.suite for crowd in CROWDS if options.simulated)]),
        "samples": str(count),
    }
    save(arrays, options.output, about)
    print(f"{options.output}: trained on {count} samples")


def save(arrays: dict[str, Floats], path: Path, about: dict[str, str]) -> None:
    """Write weights as a safetensors file.

    Args:
        arrays: weights by name.
        path: path of the file.
        about: notes on how the weights were created, by name.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, packed(arrays, {"format": FORMAT, **about}))
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error


if __name__ == "__main__":
    main()
