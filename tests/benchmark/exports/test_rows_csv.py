"""Rows as one CSV file, and what the Parquet files say of their columns."""

from __future__ import annotations

import csv
import json
import math

import pyarrow.parquet as pq
import pytest
from tests.suites import plane, planners

from agora.benchmark.bench import run_all
from agora.benchmark.exports.rows_csv import write_csv
from agora.benchmark.request import Options, Request
from agora.core.recording import Outcome
from agora.errors import ResultsError
from agora.metrics.registered import metrics


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("csv") / "run"
    return folder, run_all(Request(plane(episodes=3, timeout=3.0), planners("go_to_goal"), folder, Options(workers=0)))


def said(folder, part, word):
    (path,) = (folder / part).iterdir()
    return json.loads(pq.read_metadata(path).metadata[word.encode()])


def test_every_row_and_value_is_in_the_file_and_outcomes_by_name_and_number(run, tmp_path):
    folder, rows = run
    lines = list(csv.DictReader(write_csv(tmp_path / "new" / "rows.csv", folder).read_text().splitlines()))
    assert [line["key"] for line in lines] == [row["key"] for row in rows]
    for line, row in zip(lines, rows, strict=True):
        assert line["outcome_number"] == str(int(Outcome[row["outcome"].upper()]))
        assert float(line["path_length"]) == row["path_length"]
        assert all((line[name] == "") == (value is None or value == "") for name, value in row.items())
    with pytest.raises(ResultsError, match="already exists"):
        write_csv(tmp_path / "new" / "rows.csv", folder)


def test_files_say_the_units_of_their_columns(run):
    folder, _ = run
    units = said(folder, "episodes", "units")
    (path,) = (folder / "episodes").iterdir()
    known = {metric.name: metric.unit for metric in metrics()}
    columns = pq.read_schema(path).names
    assert units == {name: known[name] for name in sorted(columns) if known.get(name)} | {"duration": "s"}
    assert said(folder, "timing", "units")["calls"] == "s"
    tracks = said(folder, "trajectories", "units")
    assert (tracks["time"], tracks["pose"], tracks["pedestrian_velocity"]) == ("s", "m, m, rad", "m/s")


def test_outcomes_are_said_by_name_and_number_where_either_stands(run):
    folder, rows = run
    numbers = said(folder, "episodes", "outcomes")
    assert numbers == {outcome.label: int(outcome) for outcome in Outcome}
    (path,) = (folder / "trajectories").iterdir()
    kept = {row["key"]: (row["outcome_name"], row["outcome"]) for row in pq.read_table(path).to_pylist()}
    assert kept == {row["key"]: (row["outcome"], numbers[row["outcome"]]) for row in rows}


def test_shapes_say_how_a_flat_list_becomes_an_array(run):
    folder, _ = run
    shapes = said(folder, "trajectories", "shapes")
    (path,) = (folder / "trajectories").iterdir()
    row = pq.read_table(path).to_pylist()[0]
    sizes = {
        "T": len(row["time"]),
        "T-1": len(row["time"]) - 1,
        "P": len(row["pedestrian_id"]),
        "K": len(row.get("planned_path") or ()) // 3,
    }
    for name, shape in shapes.items():
        assert row[name] is None or len(row[name]) == math.prod(
            sizes[axis] if axis in sizes else int(axis) for axis in shape.split()
        )


def test_a_finished_run_has_no_list_of_interrupted_episodes(run):
    assert {path.name for path in run[0].iterdir()} == {"code.txt", "episodes", "timing", "trajectories", "run.yaml"}
