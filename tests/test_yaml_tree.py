"""Text files that Windows wrote, with a byte order mark and its line endings, are read like all others."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.test_damaged_files import FORMATS

TEXTS = {".yaml", ".yml", ".json", ".txt", ".xml", ".csv", ".ndjson", ".vsp", ".obsmat"}
WRITTEN_BY_AGORA = {"run", "exact", "recording", "potential", "bag", "drive", "mcap", "pgm"}


def said(value):
    """The values that were read, as text: all arrays of all records."""
    if isinstance(value, np.ndarray):
        return repr((value.dtype, value.shape, value.tobytes()))
    if dataclasses.is_dataclass(value):
        return f"{type(value).__name__}{[said(getattr(value, field.name)) for field in dataclasses.fields(value)]}"
    if isinstance(value, dict):
        return repr([(key, said(one)) for key, one in value.items()])
    if isinstance(value, list | tuple):
        return repr([said(one) for one in value])
    return repr(value)


@pytest.mark.parametrize("name", sorted(set(FORMATS) - WRITTEN_BY_AGORA))
def test_a_file_from_windows_is_read_as_one_from_linux(tmp_path, name):
    FORMATS[name].make(tmp_path)
    usual, texts = said(FORMATS[name].read(tmp_path)), [path for path in tmp_path.rglob("*") if path.suffix in TEXTS]
    assert texts
    for path in texts:
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    assert said(FORMATS[name].read(tmp_path)) == usual
