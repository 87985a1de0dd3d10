"""Fresh virtual environments that see this one's packages, but not its Agora."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Environment:
    """A virtual environment.

    Attributes:
        folder: of the environment.
    """

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> Environment:
        """Make an environment."""
        venv.create(folder, with_pip=False, symlinks=True)
        made = cls(folder)
        others = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
        (made.packages / "others.pth").write_text("\n".join(others) + "\n")
        return made

    @property
    def packages(self) -> Path:
        """The folder of its packages."""
        return next((self.folder / "lib").glob("python3*/site-packages"))

    def add_checkout(self) -> None:
        """Give it Agora from the checkout, as ``pip install --editable`` does."""
        (self.packages / "checkout.pth").write_text(f"{ROOT / 'src'}\n")
        command = self.folder / "bin" / "agora"
        main = "from agora.cli.app import main\n\nif __name__ == '__main__':\n    main()\n"
        command.write_text(f"#!{self.folder / 'bin' / 'python'}\n{main}")
        command.chmod(0o755)

    def pip(self, *words: str, where: Path) -> None:
        """Run pip for it, without network."""
        offline = ("--no-index", "--no-deps", "--no-build-isolation", "--quiet", "--disable-pip-version-check")
        python = str(self.folder / "bin" / "python")
        self.run(sys.executable, "-m", "pip", "--python", python, "install", *offline, *words, where=where)

    def run(self, *words: str, where: Path, given: str | None = None) -> str:
        """Run a command in a folder, those of the environment first, and return what it printed; one that fails is an error.

        ``given`` is what it reads from its input.
        """
        keep = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL", "DISPLAY"))}
        keep["PATH"] = f"{self.folder / 'bin'}{os.pathsep}{keep['PATH']}"
        done = subprocess.run(words, cwd=where, env=keep, input=given, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}\n{done.stderr}"
        return done.stdout
