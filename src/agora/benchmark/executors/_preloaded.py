"""Imports of all workers, made by the process that they are forked from: once, in place of once in each of them."""

import pyarrow as pa
import pyarrow.parquet
import scipy.ndimage
import scipy.sparse.csgraph  # noqa: F401
from numba.core.registry import cpu_target

import agora.benchmark.job  # noqa: F401

pa.array([0])  # where there is pandas, it is imported by the first array
cpu_target.typing_context.refresh()  # as the first kernel does
cpu_target.target_context.refresh()
