"""The measurements of the catalogue as tasks of pytask, which compares what they depend on with ``pytask.lock``.

A change of this file makes every measurement stale, so it only connects `catalogue` with pytask.
"""

import subprocess
import sys
from pathlib import Path

from pytask import PythonNode, task

sys.path.insert(0, str(Path(__file__).parents[1]))
from measurements.catalogue import ROOT, catalogue

for one in catalogue():
    depends = {name: PythonNode(name=name, value=digest, hash=True) for name, digest in one.depends.items()}

    @task(id=one.id, name=one.task, kwargs={"depends": depends, "commands": PythonNode(value=one.commands)})
    def measure(depends: dict[str, str], commands: tuple[str, ...]) -> None:
        """Run the commands of a measurement; they write its values into the manual."""
        for command in commands:
            subprocess.run(command, shell=True, check=True, cwd=ROOT)
