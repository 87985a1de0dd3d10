"""Configuration of the manual, built by Sphinx with MyST; tables of components are generated from the components."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import generate  # noqa: E402

from agora import __version__  # noqa: E402

project = "Agora"
author = "The Agora authors"
copyright = "The Agora authors, Apache-2.0"  # noqa: A001
release = version = __version__

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "reference/generated/*.md", "reference/measured/*.md"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"Agora {__version__}"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["tables.css"]

generate.write(HERE / "reference" / "generated")
generate.write_cards(HERE / "reference" / "generated" / "cards")
generate.write_policies(HERE / "reference" / "generated" / "policies")
generate.write_planners(HERE / "reference" / "generated" / "planners")
