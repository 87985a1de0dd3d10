"""Parts of walks through the pages: where browser and pages are, and a look for what keeps people out."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from agora.web.app import STATIC

CHROMIUM = shutil.which("chromium")
AXE = STATIC.parent / "front" / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE = 300_000.0
"""Time after which a page that does not come is a failure, ms; no page is to be fast here."""


def need_pages() -> None:
    """Leave a module of tests out where there is no Chromium, or the pages are not built; where changes are checked they are."""
    if not (CHROMIUM and AXE.is_file() and (STATIC / "index.html").is_file()):
        pytest.skip("make web has not built the pages, or there is no Chromium", allow_module_level=True)


def check_access(page: Any) -> None:
    """Have axe look for what keeps people out (https://github.com/dequelabs/axe-core)."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run(document, {iframes: false})).violations")
    grave = [(one["id"], [node["html"] for node in one["nodes"]]) for one in found if one["impact"] in ("serious", "critical")]
    assert grave == [], grave
