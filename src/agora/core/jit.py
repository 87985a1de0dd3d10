"""The compilation of kernels, in one place and with one set of options.

``fastmath=True`` is not used, because with reassociation the results would depend on padding and CPU. ``contract`` only allows
fused multiply-add. Threads are handled elsewhere: a kernel takes the range of worlds ``first <= w < last``, releases the GIL, and
the engine distributes ranges over threads (`docs/decisions/2026-11-20-threads.md`), so that results do not depend on the number of
threads.
"""

from __future__ import annotations

import ctypes
import fcntl
import functools
import hashlib
import importlib
import itertools
import os
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from agora.share import home

_SOURCE = Path(__file__).resolve().parents[1]


def _source_stamp() -> str:
    """Digest of the files that contain compiled functions; Numba's own key does not detect changes to called functions in other
    files.
    """
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(_SOURCE.rglob("*.py")):
        text = path.read_bytes()
        if b"core.jit" in text:
            digest.update(text)
    return digest.hexdigest()


def cache_root() -> Path:
    """Return the folder that holds the compiled functions of this and other versions of Agora."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or home() / ".cache") / "agora"


import numba  # noqa: E402
import numpy as np  # noqa: E402
from llvmlite.binding import get_host_cpu_features  # noqa: E402
from numba.core.caching import Cache, UserProvidedCacheLocator  # noqa: E402
from numba.core.codegen import JITCodeLibrary  # noqa: E402
from numba.core.compiler import CompilerBase, DefaultPassBuilder  # noqa: E402
from numba.core.compiler_lock import global_compiler_lock  # noqa: E402
from numba.core.compiler_machinery import register_pass  # noqa: E402
from numba.core.datamodel.models import OpaqueModel  # noqa: E402
from numba.core.typed_passes import NativeLowering  # noqa: E402
from numba.extending import NativeValue, intrinsic, register_model, unbox  # noqa: E402
from numba.np import linalg  # noqa: E402
from numba.np.arrayobj import get_itemsize, make_array, populate_array  # noqa: E402

from agora.core.compiling import record_compiling  # noqa: E402 - from now on, the log says what is compiled
from agora.core.kernel_files import verify_files  # noqa: E402

numba.config.CACHE_DIR = str(cache_root() / _source_stamp())

_PROCESSOR = "haswell"
_FEATURES = "+sse,+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16,+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt,+movbe,+fxsr,+xsave"


def _for_every_processor() -> None:
    """Compile kernels for generic x86-64-v3 if this processor supports it: with AVX-512, LLVM fuses different multiply-adds.

    With AVX-512, two of 96 episodes of `teb` ended differently (`docs/decisions/2026-11-28-processors.md`). Numba's own environment
    variables take precedence.
    """
    if numba.config.CPU_NAME is None and numba.config.CPU_FEATURES is None:
        here = get_host_cpu_features()
        if all(here.get(name.removeprefix("+")) for name in _FEATURES.split(",")):
            numba.config.CPU_NAME, numba.config.CPU_FEATURES = _PROCESSOR, _FEATURES


_for_every_processor()

OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}, "nogil": True}

LEAN: dict[str, Any] = OPTIONS | {"_nrt": False}
"""Options without Numba's reference counting, which can take a quarter of the time of a scan."""


class _PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """A compiled function that is part of kernels and has no machine code of its own: only the kernels' machine code runs.

    It is optimised together with all functions that it calls, as in Numba. If this were left to the kernels, code would be
    optimised once instead of once per function in the call chain, but different multiply-adds would be fused, and results would
    differ in their last bits.
    """

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> Any:
        """Return the address that Numba uses for calls from Python. It is the address of a C function that takes the same arguments
        and raises `TypeError`.
        """
        return ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value

    @property
    def codegen(self) -> Any:
        """Absorbs Numba's `set_env` call: parts have no machine code of their own."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        pass


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(NativeLowering):  # type: ignore[misc]
    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return bool(super().run_pass(state))


class _PartCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's own compiler, except that compiled functions are stored in a `_PartLibrary`."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(_PartLowering if step is NativeLowering else step, why) for step, why in passes.passes]
        passes.finalize()
        return [passes]


_PART: dict[str, Any] = {"cache": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": _PartCompiler}


def only_read_cache() -> None:
    """Stop this process from storing compiled functions: it loads existing ones, and may not be allowed to write anywhere."""
    UserProvidedCacheLocator.ensure_cache_path = lambda self: None  # else it would try to write
    Cache.save_overload = lambda self, signature, data: None


def _can_keep() -> bool:
    """Return whether this process may write to the cache."""
    with suppress(OSError):
        cache_root().mkdir(parents=True, exist_ok=True)
    return os.access(cache_root(), os.W_OK)


if not _can_keep():
    only_read_cache()


@contextmanager
def _lock_compilation(name: str) -> Iterator[None]:
    """Make other processes that want to compile the function with this name wait; afterwards, they find the code in the cache.

    Time spent waiting counts as compilation time. If files cannot be written, there is no lock, and no cache either.
    """
    with global_compiler_lock, ExitStack() as held:
        with suppress(OSError):
            folder = Path(numba.config.CACHE_DIR)
            folder.mkdir(parents=True, exist_ok=True)
            file = held.enter_context((folder / f"{name}.lock").open("w"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                with record_compiling():
                    fcntl.flock(file, fcntl.LOCK_EX)
        yield


@functools.cache
def _know_arrays() -> None:
    """Import Numba's array functions without SciPy's linear algebra and without cffi, which they would import only to check whether
    they are installed.

    These imports take almost half a second per process, and kernels do not need them. A function that multiplies matrices imports
    SciPy's linear algebra later; compiled functions that call C functions through cffi need cffi to be imported first.
    """
    ensure, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    hides_cffi = "cffi" not in sys.modules
    if hides_cffi:
        sys.modules["cffi"] = None  # type: ignore[assignment]
    try:
        importlib.import_module("numba.core.typing.cffi_utils")
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = ensure
        if hides_cffi:
            del sys.modules["cffi"]


def _compile_once(function: Callable[..., Any], options: dict[str, Any], **more: Any) -> Any:
    """Return a function that is compiled on its first call, once for all processes that share the cache."""
    dispatcher = verify_files(numba.njit(**options, **more)(function))
    if not numba.config.DISABLE_JIT:
        once, name = dispatcher.compile, f"{function.__module__}.{function.__qualname__}"

        def compile(signature: Any) -> Any:
            with _lock_compilation(name):
                _know_arrays()
                return once(signature)

        dispatcher.compile = compile
    return dispatcher


def device(function: Callable[..., Any]) -> Any:
    """Compile a function that is called by kernels, with scalars or the arrays of one world as arguments."""
    return _compile_once(function, OPTIONS)


def lean(function: Callable[..., Any]) -> Any:
    """Like `device`, for functions that do not allocate memory or return arrays."""
    return _compile_once(function, LEAN)


part: Callable[..., Any] = numba.njit(**OPTIONS | _PART)
"""`device` for functions that only compiled functions call: they become part of each kernel, without an entry point for Python or a
file in the cache.
"""

hidden: Callable[..., Any] = numba.njit(**LEAN | _PART)
"""`part` for functions that do not allocate memory or return arrays."""

spliced: Callable[..., Any] = numba.njit(**LEAN | {"cache": False}, inline="always")
"""`lean` for a part of a kernel with a single caller: it is inserted into the caller's code before anything is compiled. Otherwise,
LLVM would process all code that a function calls once more for every function up the call chain, so that each level would cost the
time of all levels below it.
"""

inlined: Callable[..., Any] = numba.njit(**OPTIONS | _PART, forceinline=True)
"""`device` for the long body of an inner loop: LLVM would not inline it, and loops that contain calls are not vectorised."""

lean_inlined: Callable[..., Any] = numba.njit(**LEAN | _PART, forceinline=True)
"""`hidden` for functions with whole records as arguments, because a call would copy each of their arrays."""


def _shell(box: Any, first: int, last: int) -> Any:
    """The code of every kernel's shell, in which ``inner`` is the kernel."""
    return inner(*unpacked(box), first, last)  # type: ignore[name-defined]  # noqa: F821


def kernel(function: Callable[..., Any], options: dict[str, Any] = OPTIONS) -> Any:
    """Compile a function that loops over worlds ``first <= w < last``, its last two arguments.

    The result is called like the function. Its attribute ``shell`` is the same function, with all arguments except the last two in
    one box (`bind`). Both are compiled when first called or bound. ``entries`` are the compiled shells, keyed by the types that
    `_write` returns.
    """
    name, file = function.__name__ + "_shell", function.__code__.co_filename
    code = _shell.__code__.replace(co_name=name, co_filename=file, co_firstlineno=function.__code__.co_firstlineno)
    inner = numba.njit(**options | _PART, forceinline=True)(function)
    names = {"inner": inner, "unpacked": _unpack, "__name__": function.__module__, "__file__": file}
    shell = types.FunctionType(code, names, name)
    shell.__module__, shell.__qualname__ = function.__module__, function.__qualname__ + "_shell"
    # The kernel is inlined at the entry from Python: if it were called, it would be optimised one time fewer, and different
    # multiply-adds would be fused.
    compiled = _compile_once(function, options, forceinline=True)
    compiled.shell, compiled.entries = _compile_once(shell, options), {}
    return compiled


def lean_kernel(function: Callable[..., Any]) -> Any:
    """Like `kernel`, for a function that does not allocate memory."""
    return kernel(function, LEAN)


class _Box(numba.types.Type):  # type: ignore[misc]
    """The type of a box, which holds the address of a kernel's arguments as written by `_write`."""

    def __init__(self, arguments: Any) -> None:
        self.arguments = arguments
        super().__init__(f"Box({arguments})")

    @property
    def key(self) -> Any:
        """The types of the arguments. Numba distinguishes boxes by this key, because two named-tuple classes may have the same
        name.
        """
        return self.arguments


register_model(_Box)(OpaqueModel)


@unbox(_Box)
def _unbox(kind: Any, address: Any, c: Any) -> Any:
    return NativeValue(c.pyapi.long_as_voidptr(address))


def _write(argument: Any, words: list[int], kinds: list[Any]) -> None:
    """Encode an argument as eight-byte numbers (an array as its address, shape and strides), and its type as a key."""
    if isinstance(argument, tuple):
        kinds += type(argument), len(argument)
        for part in argument:
            _write(part, words, kinds)
    elif isinstance(argument, np.ndarray):
        kinds += argument.dtype, argument.ndim, argument.flags.num
        words.append(argument.ctypes.data)
        words += argument.shape
        words += argument.strides
    else:
        number = np.asarray(argument)
        kinds.append(number.dtype)
        words.append(int.from_bytes(number.tobytes(), sys.byteorder, signed=True))


def _read(context: Any, builder: Any, kind: Any, words: Iterator[Any]) -> Any:
    """Read back a value that `_write` wrote. Arrays are borrowed: reference counts do not change."""
    if isinstance(kind, numba.types.BaseTuple):
        return context.make_tuple(builder, kind, [_read(context, builder, part, words) for part in kind.types])
    if not isinstance(kind, numba.types.Array):
        model = context.data_model_manager[kind]
        return model.load_from_data_pointer(builder, builder.bitcast(next(words), model.get_data_type().as_pointer()))
    array = make_array(kind)(context, builder)
    data, *sizes = [builder.load(next(words)) for _ in range(1 + 2 * kind.ndim)]
    itemsize = context.get_constant(numba.types.intp, get_itemsize(context, kind))
    shape, strides = sizes[: kind.ndim], sizes[kind.ndim :]
    populate_array(array, builder.inttoptr(data, array.data.type), shape, strides, itemsize, meminfo=None)
    return array._getvalue()


@intrinsic
def _unpack(context: Any, box: Any) -> Any:
    """Return the tuple of arguments in a box; the user of the box keeps them alive."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        first = builder.bitcast(values[0], context.get_value_type(numba.int64).as_pointer())
        words = (builder.gep(first, [context.get_constant(numba.int64, number)]) for number in itertools.count())
        return _read(context, builder, box.arguments, words)

    return box.arguments(box), generate


def bind(function: Any, *arguments: Any) -> Callable[[int, int], Any]:
    """Return a kernel with all its arguments except the last two fixed.

    At every call, Numba inspects every array in every argument, which takes 40 ns per array, and the engine's kernels have a
    hundred arrays. With arguments boxed once and borrowed, a call takes 0.3 us.

    Args:
        function: a kernel.
        *arguments: arrays, scalars, or tuples of them. The box holds the arrays, not copies.

    Returns:
        A callable of ``(first, last)``. With ``NUMBA_DISABLE_JIT=1`` it is the plain function, which a debugger can step through.
    """
    if numba.config.DISABLE_JIT:
        return functools.partial(function, *arguments)
    numbers: list[int] = []
    kinds: list[Any] = []
    _write(arguments, numbers, kinds)
    entry = function.entries.get(tuple(kinds))
    if entry is None:  # Numba's own type inference takes ten times as long as everything else
        signature = (_Box(numba.typeof(arguments)), numba.int64, numba.int64)
        function.shell.compile(signature)
        entry = function.entries[tuple(kinds)] = function.shell.overloads[signature].entry_point
    words = np.array(numbers, np.int64)
    bound = functools.partial(entry, words.ctypes.data)
    bound.keeps = arguments, words  # type: ignore[attr-defined]
    return bound
