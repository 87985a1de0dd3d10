"""Results of episodes that were played elsewhere are whole after the same call, whenever the call before was killed."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from tests.suites import results

from agora.benchmark.external_results import write_played
from agora.benchmark.provenance.machine import Machine
from agora.benchmark.results.audit import audit_run
from agora.benchmark.results.run_folder import RunFolder
from agora.datasets.played import PlayedEpisode, PlayedRobot
from agora.errors import ResultsError
from agora.metrics.registered import FEW
from agora.registry import load
from agora.testing.recordings import recording

EPISODES = [
    PlayedEpisode(Path("a.bag"), "hall", "walk", k, 1, (PlayedRobot("teb", "jackal", recording(30, 2, seed=k)),), why)
    for k, why in enumerate(["", "", "the bag ends before the episode"])
]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr("agora.benchmark.external_results.metrics", lambda: [load("metrics", name) for name in FEW])
    monkeypatch.setattr("agora.benchmark.provenance.resumption.check_imported", lambda: None)
    here = Machine.here()
    monkeypatch.setattr(Machine, "here", staticmethod(lambda: here))


def killed_after(folder, writes):
    """Write the results in a process that is killed as it gives a file its name; return whether it was."""
    pid = os.fork()
    if pid == 0:
        usual, done = Path.replace, []

        def replaced(path, target):
            done.append(path)
            if len(done) > writes:
                os.kill(os.getpid(), signal.SIGKILL)
            return usual(path, target)

        Path.replace = replaced
        write_played(folder, EPISODES)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


def test_results_that_were_killed_at_any_moment_are_whole_after_the_same_call(tmp_path):
    write_played(tmp_path / "whole", EPISODES)
    whole, moment = results(tmp_path / "whole", tmp_path), 0
    while killed_after(folder := tmp_path / str(moment), moment):
        assert not RunFolder.is_at(folder)
        rows = write_played(folder, EPISODES)
        assert [row["episode"] for row in rows] == [0, 1] and list(RunFolder.read(folder).interrupted()) == ["hall/walk/2/teb/0"]
        assert results(folder, tmp_path) == whole
        assert audit_run(folder).problems() == [] and not list(folder.rglob("*.part"))
        moment += 1
    assert moment == 9  # three files of either episode, the map, the interrupted episodes, the record


def test_results_of_other_episodes_and_whole_results_are_not_written_over(tmp_path):
    write_played(tmp_path, EPISODES)
    with pytest.raises(ResultsError, match="already contains a run"):
        write_played(tmp_path, EPISODES)
    (tmp_path / "run.yaml").unlink()
    other = [replace(one, suite="court") for one in EPISODES]
    with pytest.raises(ResultsError, match="already contains a run"):
        write_played(tmp_path, other)
