"""Reads and writes shards: Parquet files that are written atomically and can be checked for damage.

A shard is written under a temporary name and then renamed. Its metadata contain a digest of all bytes of the file, which reveals
truncated and corrupted shards; the mark of the run that the shard belongs to, if any; the version of the layout; and information on
the columns. The bytes depend only on the contents, the run and the version of pyarrow.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agora.errors import InputError, ResultsError, in_words
from agora.files import write_whole
from agora.yaml_tree import require_file as refuse_what_is_no_file

if TYPE_CHECKING:
    import pyarrow

_NOTHING: Mapping[str, Mapping[str, Any]] = {}
_DIGEST, _ZEROS = b"blake2b:", b"0" * 32


def write(path: Path, data: bytes) -> None:
    """Write the bytes of a shard; the folder is created if necessary.

    Raises:
        ResultsError: the shard cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error}") from error


def encode(
    table: pyarrow.Table,
    smooth: Sequence[str] = (),
    run: str = "",
    version: int = 1,
    about: Mapping[str, Mapping[str, Any]] = _NOTHING,
) -> bytes:
    """Return the bytes of a shard.

    Args:
        table: rows of the shard.
        smooth: Parquet names of float32 columns in which consecutive values differ little; these columns are stored with the
            encoding byte stream split.
        run: mark of the shard's run (`run_of`); empty if none.
        version: version of the layout of the columns (`version_of`).
        about: further metadata, by name; each entry is a mapping that is written as JSON. The entry ``units`` contains the units of
            columns.
    """
    # The metadata of the Parquet file end with `_DIGEST` and the digest of the file, computed with zeros in place of the digest.
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink,
        table.schema,
        compression="zstd",
        compression_level=3,
        use_dictionary=False,
        write_statistics=False,
        use_byte_stream_split=list(smooth) or False,
        store_schema=False,
    ) as writer:
        writer.write_table(table, row_group_size=max(1, table.num_rows))
        said = ({"run": run} if run else {}) | ({"version": str(version)} if version > 1 else {})
        said |= {name: json.dumps(values, separators=(",", ":")) for name, values in about.items() if values}
        writer.add_key_value_metadata({"agora": (_DIGEST + _ZEROS).decode()} | said)
    data = sink.getvalue().to_pybytes()
    head, tail = _around_digest(data)
    return head + _digest(head, tail) + tail


def _around_digest(data: bytes) -> tuple[bytes, bytes]:
    begin = data.rfind(_DIGEST) + len(_DIGEST)
    return data[:begin], data[begin + len(_ZEROS) :]


def _digest(head: bytes, tail: bytes) -> bytes:
    digest = hashlib.blake2b(head, digest_size=len(_ZEROS) // 2)
    digest.update(tail)
    return digest.hexdigest().encode()


def read(path: Path, columns: Sequence[str] | None = None) -> pyarrow.Table | str:
    """Return the table of a shard, with all or some columns, or a description of the problem with the shard."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        refuse_what_is_no_file(path)
        data = path.read_bytes()
    except (OSError, InputError) as error:
        return f"cannot be read: {error}"
    head, tail = _around_digest(data)
    if head + _digest(head, tail) + tail != data:
        return "truncated or changed since it was written"
    try:
        return pq.ParquetFile(pa.BufferReader(data)).read(columns, use_threads=False)
    except Exception as error:  # noqa: BLE001 - a file with a forged digest may contain anything
        return f"is not an Agora Parquet file: {in_words(error)[:200]}"


class ShardSize(NamedTuple):
    """The size of a shard's table, according to the file's metadata.

    Attributes:
        rows: number of rows.
        columns: number of columns; each field of a list of structures counts as a column.
        values: number of values in all columns.
        size: decoded size, bytes.
    """

    rows: int
    columns: int
    values: int
    size: int


def extent(path: Path) -> ShardSize:
    """Return the size of a shard's table, reading only the file's metadata.

    Raises:
        Exception: the file is not a Parquet file.
    """
    import pyarrow.parquet as pq

    about = pq.read_metadata(path)
    columns = [about.row_group(k).column(i) for k in range(about.num_row_groups) for i in range(about.num_columns)]
    values, size = sum(one.num_values for one in columns), sum(one.total_uncompressed_size for one in columns)
    return ShardSize(about.num_rows, about.num_columns, values, size)


def run_of(table: pyarrow.Table) -> str:
    """Return the mark of the run that a shard's table belongs to; empty if the metadata contain no mark."""
    return ((table.schema.metadata or {}).get(b"run") or b"").decode()


def version_of(table: pyarrow.Table) -> int:
    """Return the version of the layout of a shard's columns; 1 if the metadata contain no version."""
    said = (table.schema.metadata or {}).get(b"version", b"1")
    return int(said) if said.isdigit() else 1
