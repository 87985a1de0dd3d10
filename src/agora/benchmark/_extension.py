"""Adds planners to an existing run: the new planners run on the same episodes, and existing rows are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agora.benchmark.provenance.resumption import difference_of
from agora.benchmark.request import Request
from agora.benchmark.results.run_record import RunRecord
from agora.config import plain
from agora.errors import InputError, ResultsError
from agora.planners.presets import planner_of
from agora.registry import Named


def extended_request(request: Request) -> Request:
    """Return a request that adds its planners to the run in its folder. Missing episodes of the earlier planners are also run.

    Args:
        request: suite, options and folder of the run, and the planners to add.

    Raises:
        ResultsError: the folder contains no run or a run of an external planner, or the run already has a different planner with
            the same label.
        InputError: a planner of the run is not installed, or the request's levels of perception differ from those of the run.
    """
    record, folder = RunRecord.read(request.folder), request.folder
    levels = tuple(dict.fromkeys((record.pedestrians or {}).values()))
    if request.pedestrians not in ((), levels):
        raise InputError(
            f"pedestrians: the run in {folder} uses {', '.join(levels) or 'the levels of its stages'}; leave this option out"
        )
    begun: dict[str, Named] = {}
    values: Mapping[str, object] = record.planners if isinstance(record.planners, dict) else {}
    for label, name in record.names.items():
        own = values.get(label)
        if not isinstance(own, Mapping) or own.get("name") == "external":
            raise ResultsError(
                f"{folder}: {label} was driven by an external program; run other planners in another folder and compare the "
                "folders with agora compare"
            )
        begun[name] = planner_of(own, f"{folder}: planners.{label}")
    for name, planner in request.planners.items():
        if name in begun and (now := plain(planner)) != (was := plain(begun[name])):
            raise ResultsError(
                f"{folder}: already contains a planner called {name!r}: {difference_of(was, now, name)}; give it another label"
            )
    planners = begun | {name: planner for name, planner in request.planners.items() if name not in begun}
    controls = tuple(dict.fromkeys(record.names[label] for label in record.control or ()))
    return replace(request, planners=planners, pedestrians=levels, resume=True, begun=tuple(begun), controls=controls)
