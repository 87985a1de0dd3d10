"""Imports the modules that all workers need, once, in the process from which the workers are forked."""

import pyarrow as pa
import pyarrow.parquet
import scipy.ndimage
import scipy.sparse.csgraph  # noqa: F401
from numba.core.registry import cpu_target

import agora.benchmark.job  # noqa: F401

pa.array([0])  # pyarrow imports pandas, if installed, when the first array is created
cpu_target.typing_context.refresh()  # otherwise done when the first kernel is compiled
cpu_target.target_context.refresh()
