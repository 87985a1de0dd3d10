"""How kernels are compiled: one place, one set of options.

No ``fastmath=True``: reassociation would change results with padding and CPU. ``contract`` allows fused multiply-add only.
Threads do not enter here: a kernel takes the range of worlds ``first <= w < last``, releases the GIL, and the engine runs
ranges on threads (`docs/decisions/2026-11-20-threads.md`), so that no result depends on their number.
"""

from __future__ import annotations

import functools
import hashlib
import os
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

_SOURCE = Path(__file__).resolve().parents[1]


def _source_stamp() -> str:
    """Digest of the files with compiled functions: Numba's own key does not see that a called function in another file changed."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(_SOURCE.rglob("*.py")):
        text = path.read_bytes()
        if b"core.jit" in text:
            digest.update(text)
    return digest.hexdigest()


def _cache_root() -> Path:
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agora"


import numba  # noqa: E402
from numba.experimental import structref  # noqa: E402
from numba.extending import intrinsic, overload  # noqa: E402

numba.config.CACHE_DIR = str(_cache_root() / _source_stamp())

OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}, "nogil": True}

LEAN: dict[str, Any] = OPTIONS | {"_nrt": False}
"""Without Numba's reference counts, which cost as much as a quarter of a scan."""

device: Callable[..., Any] = numba.njit(**OPTIONS)
"""Compiles a function that kernels call: scalars, or the arrays of one world."""

lean: Callable[..., Any] = numba.njit(**LEAN)
"""`device` for what allocates nothing and returns no array."""

inlined: Callable[..., Any] = numba.njit(**OPTIONS, forceinline=True)
"""`device` for the long body of an inner loop: LLVM would leave it as a call, and a loop with a call in it is not vectorised."""

lean_inlined: Callable[..., Any] = numba.njit(**LEAN, forceinline=True)
"""`lean` for what is given whole records, every array of which a call would copy."""


def _shell(box: Any, first: int, last: int) -> Any:
    """The code of every kernel's shell; ``inner`` is the kernel."""
    return inner(*box.arguments, first, last)  # type: ignore[name-defined]  # noqa: F821


def kernel(function: Callable[..., Any], options: dict[str, Any] = OPTIONS) -> Any:
    """Compile a function that loops over worlds ``first <= w < last``, its last two arguments.

    The result is called like the function; ``shell`` on it is the same with all arguments but those two in one box (`bind`).
    """
    # Inlined, because else the process that compiles would call this copy and later ones the copy in the cached shell, whose
    # multiply-adds may be fused differently.
    compiled = numba.njit(**options, forceinline=True)(function)
    name, file = function.__name__ + "_shell", function.__code__.co_filename
    code = _shell.__code__.replace(co_name=name, co_filename=file, co_firstlineno=function.__code__.co_firstlineno)
    shell = types.FunctionType(code, {"inner": compiled, "__name__": function.__module__, "__file__": file}, name)
    shell.__module__, shell.__qualname__ = function.__module__, function.__qualname__ + "_shell"
    compiled.shell = numba.njit(**OPTIONS)(shell)
    return compiled


def lean_kernel(function: Callable[..., Any]) -> Any:
    """`kernel` for a function that allocates nothing."""
    return kernel(function, LEAN)


@structref.register
class _BoxType(numba.types.StructRef):  # type: ignore[misc]
    """The type of a box: a tuple of arguments, kept as kernels want it."""


class _Box(structref.StructRefProxy):  # type: ignore[misc]
    """What Python holds of a box."""


structref.define_boxing(_BoxType, _Box)


def _borrow(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The value with every array in it borrowed: without the reference that a call would count up and down."""
    if isinstance(kind, numba.types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo, array.parent = array.meminfo.type(None), array.parent.type(None)
        return array._getvalue()
    if isinstance(kind, numba.types.BaseTuple):
        for index, part in enumerate(kind.types):
            borrowed = _borrow(context, builder, part, builder.extract_value(value, index))
            value = builder.insert_value(value, borrowed, index)
    return value


@intrinsic
def _borrowed(context: Any, arguments: Any) -> Any:
    """A tuple with its arrays borrowed; who uses it keeps them alive."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _borrow(context, builder, signature.args[0], values[0])

    return arguments(arguments), generate


def _boxed(arguments: Any) -> Any:
    """A box of a tuple; for compiled code only."""


@overload(_boxed)
def _compile_boxed(arguments: Any) -> Any:
    kind = _BoxType((("arguments", arguments),))

    def make(arguments: Any) -> Any:
        box = structref.new(kind)
        box.arguments = _borrowed(arguments)
        return box

    return make


@numba.njit(**OPTIONS)
def _pack(arguments: Any) -> Any:
    return _boxed(arguments)


def bind(function: Any, *arguments: Any) -> Callable[[int, int], Any]:
    """Return a kernel with all its arguments but the last two fixed.

    Numba looks at every array of every argument at every call, 40 ns each, and the engine's kernels have a hundred: boxed once and
    borrowed, a call costs 0.3 us.

    Args:
        function: a kernel.
        *arguments: arrays, scalars, or tuples of them. The box holds the arrays, not copies.

    Returns:
        A callable of ``(first, last)``.
    """
    box = _pack(arguments)
    signature = (numba.typeof(box), numba.int64, numba.int64)
    function.shell.compile(signature)
    bound = functools.partial(function.shell.overloads[signature].entry_point, box)
    bound.keeps = arguments  # type: ignore[attr-defined]
    return bound
