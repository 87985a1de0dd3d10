"""Benchmark runs: the request from the front end or a program, and its execution by `agora.benchmark.bench`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from agora.benchmark.bench import bench
from agora.benchmark.events import Advanced
from agora.benchmark.request import Request
from agora.benchmark.request_form import RequestForm
from agora.benchmark.results.run_folder import RunFolder
from agora.config import build
from agora.errors import StoppedError
from agora.reporting.report import report
from agora.web._runs.execution import Execution
from agora.web._runs.inputs import settings_of_run
from agora.web._user_content.collection import UserContent
from agora.web._user_planners.policies import Policies


def form_of(
    fields: Any, folder: Path, executor: str = "", suite: Callable[[str], str] = str, planner: Callable[[str], str] = str
) -> RequestForm:
    """Return the form filled in by a user, with a folder on the server as the folder of the results.

    Args:
        fields: fields of `RequestForm` by name, as plain data.
        folder: folder of the results; if it holds a run, the run is resumed.
        executor: executor of the run's jobs; if empty, the form's executor.
        suite: function that converts the name of a suite to an argument of `agora.tasks.suite.load_suite`.
        planner: function that converts a planner string to an argument of `agora.planners.presets.named_planner`.

    Raises:
        InputError: a field is unknown or invalid.
    """
    form = build(fields, RequestForm, "run")
    name, planners, chosen = suite(form.suite), tuple(map(planner, form.planners)), executor or form.executor
    resume = RunFolder.is_at(folder)
    return replace(form, suite=name, planners=planners, output=folder, resume=resume, add=False, executor=chosen)


def request_of(fields: Any, folder: Path, suite: Callable[[str], str], policies: Policies, executor: str = "") -> Request:
    """Return the request for a filled-in form; labels refer to the server's scenarios and policies by name.

    Args:
        fields: as in `form_of`.
        folder: folder of the results.
        suite: function that converts the name of a suite to an argument of `agora.tasks.suite.load_suite`.
        policies: policies of the server.
        executor: executor of the run's jobs; if empty, the form's executor.

    Raises:
        InputError: a field is unknown or invalid.
    """
    request = form_of(fields, folder, executor, suite, policies.planner).request()
    labels = policies.labels(request.planners)
    controls = tuple(labels[label] for label in request.controls)
    return replace(request, planners={labels[label]: one for label, one in request.planners.items()}, controls=controls)


class BenchmarkExecution(Execution):
    """A benchmark run executed by a worker; the rows are the same as for the same request on the command line."""

    def work(self) -> None:
        """Run the episodes, and write the report."""
        settings = self.settings
        form_of(self.fields, self.folder, settings.executor).prepare()
        home = settings_of_run(settings, self.folder)
        request = request_of(self.fields, self.folder, UserContent(home).suite, Policies(home), settings.executor)
        try:
            with closing(bench(request, self.token)) as events:  # type: ignore[type-var]
                for event in events:
                    if isinstance(event, Advanced):
                        self.done, self.total, self.status = event.done, event.total, ""
        except StoppedError as error:
            raise StoppedError("") from error
        report(self.folder)
