"""The engine in plain NumPy: the file ``plain.py`` of the manual's page on engines, word by word."""

from __future__ import annotations

import sys
from types import ModuleType

from tests.test_docs import ROOT, blocks

PAGE = ROOT / "docs" / "how-to" / "add_a_backend.md"

plain = sys.modules["plain"] = ModuleType("plain")
exec(compile(next(block.text for block in blocks(PAGE) if block.file == "plain.py"), "plain.py", "exec"), plain.__dict__)
Plain, PlainEngine = plain.Plain, plain.PlainEngine
