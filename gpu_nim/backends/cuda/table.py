"""The CUDA C++ sources as text, the kernel table: every kernel with its parameters and its block, read from them, and launches.

They are in `gpu_nim/cuda` of an installed package, and in `cuda/` beside it in a checkout. NVRTC compiles them on the machine that
runs them, each file when it is first needed, and CuPy keeps the result. No binaries are shipped: compressed cubins of all files
take 170 to 190 KB per architecture (NVRTC 13.5 for sm_75, sm_90 and sm_120), so that the seven architectures from sm_75 to sm_120
would make a wheel of 440 KB four times as large, and building it would need NVRTC, to save 0.3 to 4 seconds of compiling per file,
once on a machine; and they would not include the files that are compiled for a rule or a dimension.

CuPy does not check arguments: an `int64` array where the kernel expects `unsigned int*`, or a missing argument, silently reads
garbage.  So the arguments of a launch are compared once with the kernel's signature, which is read here from the text of the
kernels; loops change only scalars.  A test compares
the result with the types that a C++ compiler sees.

Therefore a kernel is written out, not made by a macro:

    extern "C" __global__ void __launch_bounds__(THREADS, 4)
    name(const u64* __restrict__ values, u32 count, u64* out) {

with the types of `cuda/common.cuh`.  The table has a parameter's type in NumPy's notation, ``u1 u4 u8 i4 i8 f8`` for a
scalar, with ``*`` before it for a pointer and ``*c`` for a pointer to const: ``*cu4`` is ``const unsigned int*``.
Constants that the host needs are `constexpr` integers at the beginning of a line: `read_constants`.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np

from gpu_nim.model.errors import KernelArgumentError

#: The options of NVRTC in addition to CuPy's own.
OPTIONS = ("--std=c++17", "--device-int128")

_LOCAL_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"[^\n]*$', re.MULTILINE)
_PRAGMA_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[^\n]*$", re.MULTILINE)

# NumPy's names of the types of common.cuh.
_TYPES = {"u8": "u1", "u16": "u2", "u32": "u4", "i32": "i4", "u64": "u8", "i64": "i8", "f64": "f8"}
_BITS = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}  # at which unsigned constants wrap

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ENTRY = re.compile(
    r'extern "C" __global__\s+void\s+(?:__launch_bounds__\s*\((?P<bounds>[^()]*)\)\s*)?(?P<name>\w+)\s*\((?P<params>[^()]*)\)\s*{'
)
_PARAMETER = re.compile(
    r"(?:\[\[\w+\]\]\s*)?(?P<const>const\s+)?(?P<type>\w+)\s*(?P<pointer>\*?)\s*(?:__restrict__\s*)?(?P<name>\w*)"
)
_CONSTANTS = re.compile(r"^constexpr (\w+) ([^;{}]+);", re.MULTILINE)
_NUMBER = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]*\b")


def cuda_directory() -> Traversable:
    """The folder that holds the `.cu` and `.cuh` files.

    >>> cuda_directory().joinpath("common.cuh").is_file()
    True
    """
    packaged = resources.files("gpu_nim") / "cuda"
    if packaged.joinpath("common.cuh").is_file():
        return packaged
    return Path(__file__).resolve().parents[3] / "cuda"


def cuda_source(name: str, directory: Traversable | None = None) -> str:
    """The text of one `.cu` file with its local ``#include "..."`` replaced by the files, each file once.

    Files are searched for in `directory` first, if it is given, and then in `cuda_directory()`.

    CuPy keeps compiled kernels on disk under a hash of the text, without included files, so that a changed header would go
    unnoticed; here headers are part of the text. By ``#line`` the compiler's messages name the files on disk.

    >>> '#include "' in cuda_source("common.cuh")
    False
    """
    return _paste(name, directory or cuda_directory(), set())


def _paste(name: str, directory: Traversable, pasted: set[str]) -> str:
    pasted.add(name)

    def included(include: re.Match[str]) -> str:
        pasted_text = "" if include[1] in pasted else _paste(include[1], directory, pasted)
        next_line = include.string.count("\n", 0, include.end()) + 2
        return f'{pasted_text}\n#line {next_line} "cuda/{name}"'

    file = directory.joinpath(name)
    if not file.is_file():
        file = cuda_directory().joinpath(name)
    text = _PRAGMA_ONCE.sub("", file.read_text(encoding="utf-8"))
    return f'#line 1 "cuda/{name}"\n{_LOCAL_INCLUDE.sub(included, text)}'


@dataclass(frozen=True, slots=True)
class Kernel:
    """The signature of a kernel.

    `source` is the name of its `.cu` file, `params` the types of its parameters in order and `names` their names; `threads` is the
    size of a block by its launch bounds, or 0 where it has none.
    """

    source: str
    params: tuple[str, ...]
    names: tuple[str, ...] = ()
    threads: int = 0


def read_kernels(directory: Traversable) -> dict[str, Kernel]:
    """Return the kernels of all `.cu` files in a folder by name, file by file in the order of each.

    Raises ValueError for a parameter whose type has no name in `cuda/common.cuh`, and for two kernels of one name.
    """
    table: dict[str, Kernel] = {}
    for file in sorted((entry for entry in directory.iterdir() if entry.name.endswith(".cu")), key=lambda entry: entry.name):
        text = _COMMENT.sub("", file.read_text(encoding="utf-8"))
        known = dict(_constants(text))
        for entry in _ENTRY.finditer(text):
            name = entry["name"]
            if name in table:
                raise ValueError(f"cuda/{file.name}: there are two kernels {name}")
            where = f"cuda/{file.name}, kernel {name}"
            parameters = [_parameter(where, written.strip()) for written in entry["params"].split(",") if written.strip()]
            bound = entry["bounds"] and _evaluate(entry["bounds"].split(",")[0], known)
            types, names = tuple(zip(*parameters, strict=True)) or ((), ())
            table[name] = Kernel(file.name, types, names, bound or 0)
    return table


@cache
def read_constants(source: str) -> dict[str, int]:
    """Return the integer constants of one of gpunim's `.cu` files by name.

    >>> read_constants("nim.cu")["REACH"]
    32
    """
    return dict(_constants(_COMMENT.sub("", cuda_directory().joinpath(source).read_text(encoding="utf-8"))))


def _parameter(where: str, written: str) -> tuple[str, str]:
    """The type of a parameter in the table's notation, and its name."""
    match = _PARAMETER.fullmatch(written)
    if match is None or match["type"] not in _TYPES:
        raise ValueError(f"{where}: expected a parameter of {', '.join(_TYPES)} or a pointer to one, got {written!r}")
    pointer = match["pointer"] + "c" * bool(match["pointer"] and match["const"])
    return pointer + _TYPES[match["type"]], match["name"]


def _constants(text: str) -> Iterator[tuple[str, int]]:
    known: dict[str, int] = {}
    for line in _CONSTANTS.finditer(text):
        for definition in line[2].split(","):
            name, _, expression = definition.partition("=")
            value = _evaluate(expression, known)
            if value is not None:  # None for values of functions and conditions
                known[name.strip()] = value & (1 << _BITS[line[1]]) - 1 if line[1] in _BITS else value
    yield from known.items()


def _evaluate(expression: str, known: dict[str, int]) -> int | None:
    """The value of an integer expression of gpunim's own C++ over known constants, or None where it is anything else."""
    try:
        value = eval(_NUMBER.sub(r"\1", expression).replace("/", "//").strip(), {"__builtins__": {}}, known)
    except (SyntaxError, NameError, TypeError):
        return None
    return value if type(value) is int else None


#: gpunim's own kernels; only the CUDA backend imports this module, which reads the files.
KERNELS: dict[str, Kernel] = read_kernels(cuda_directory())

#: Constants that a kernel's file is compiled with, `-DNAME=VALUE` each.
#:
#: A file must also compile without them, and then compute the same from its arguments: they only make it faster, and a launcher may
#: leave them out.
Defines = Mapping[str, int | str]


class Launch:
    """A kernel with its arguments: call it with a grid, and with the scalars that have changed since the last call, by name.

    `threads` is the number of threads in a block, `resident` the number of blocks that the whole device holds at once, by the
    registers and the shared memory of the kernel as it was compiled for this device.
    """

    __slots__ = ("_given", "_kernel", "_run", "_scalars", "_values", "resident", "threads")

    def __init__(
        self, kernel: str, entry: Kernel, values: Sequence[Any], run: Callable[[int, tuple[Any, ...]], None], resident: int
    ) -> None:
        self._kernel, self._run, self.threads, self.resident = kernel, run, entry.threads, resident
        self._values = tuple(values)
        indices = {name: index for index, name in enumerate(entry.names) if entry.params[index][0] != "*"}
        self._scalars = {name: (index, *_range(entry.params[index])) for name, index in indices.items()}
        self._given = {name: int(values[index]) for name, index in indices.items()}

    def __call__(self, grid: int, **changed: int) -> None:
        """Queue the kernel over `grid` blocks; KernelArgumentError for a name that is no scalar of it, or a value out of range."""
        if not changed.items() <= self._given.items():
            self._change(changed)
        if grid > 0:
            self._run(grid, self._values)

    def _change(self, changed: Mapping[str, int]) -> None:
        values = list(self._values)
        for name, value in changed.items():
            try:
                index, dtype, least, most = self._scalars[name]
            except KeyError:
                raise KernelArgumentError(f"{self._kernel} takes no scalar {name!r}") from None
            if not least <= value <= most:
                raise KernelArgumentError(f"{self._kernel}, {name}: expected {least} to {most} ({dtype}), got {value}")
            if self._given[name] != value:
                values[index] = dtype.type(value)
        self._values = tuple(values)
        self._given.update(changed)

    def blocks(self, items: int) -> int:
        """The grid with a thread for each of `items`, but at most as many blocks as are resident at once."""
        return min(self.resident, -(-items // self.threads))


def find_kernel(kernel: str, table: Mapping[str, Kernel]) -> Kernel:
    """The entry of a kernel, KernelArgumentError where there is none."""
    entry = table.get(kernel)
    if entry is None:
        raise KernelArgumentError(f"there is no kernel {kernel!r} in the kernel table")
    return entry


def in_order(kernel: str, entry: Kernel, args: Mapping[str, object]) -> tuple[object, ...]:
    """Arguments by name in the order of the kernel's parameters.

    >>> in_order("square", Kernel("square.cu", ("*u8", "u4"), ("out", "count")), {"count": 3, "out": "an array"})
    ('an array', 3)
    >>> in_order("square", Kernel("square.cu", ("*u8", "u4"), ("out", "count")), {"size": 3, "out": "an array"})
    Traceback (most recent call last):
    gpu_nim.model.errors.KernelArgumentError: square takes out, count, got size, out
    """
    if args.keys() != set(entry.names):
        raise KernelArgumentError(f"{kernel} takes {', '.join(entry.names)}, got {', '.join(args)}")
    return tuple(args[name] for name in entry.names)


def check_arguments(kernel: str, entry: Kernel, args: Sequence[object], array_type: type[Any] = np.ndarray) -> tuple[Any, ...]:
    """Return the arguments of a kernel: arrays of `array_type`, checked, and integers as NumPy scalars of the declared types.

    Raises `KernelArgumentError` for a wrong number of arguments, an array of another type, dtype or not C-contiguous, and an
    integer out of its parameter's range.

    >>> square = Kernel("square.cu", ("*u8", "u4"))
    >>> check_arguments("square", square, (np.zeros(3, np.uint64), 3))
    (array([0, 0, 0], dtype=uint64), np.uint32(3))
    >>> check_arguments("square", square, (np.zeros(3), 3))
    Traceback (most recent call last):
    gpu_nim.model.errors.KernelArgumentError: square, argument 0: expected an array of uint64, got float64
    """
    if len(args) != len(entry.params):
        raise KernelArgumentError(f"{kernel} takes {len(entry.params)} arguments, got {len(args)}")
    return tuple(
        _check_array(kernel, index, param, value, array_type) if param[0] == "*" else _check_scalar(kernel, index, param, value)
        for index, (param, value) in enumerate(zip(entry.params, args, strict=True))
    )


# Messages are formatted only on errors: some kernels are launched thousands of times.
def _check_array(kernel: str, index: int, param: str, value: Any, array_type: type[Any]) -> Any:
    dtype = _dtype(param)
    if isinstance(value, array_type) and value.dtype == dtype and value.flags.c_contiguous:
        return value
    where = f"{kernel}, argument {index}"
    if not isinstance(value, array_type):
        wanted = f"{array_type.__module__}.{array_type.__qualname__}"
        raise KernelArgumentError(f"{where}: expected a {wanted} of {dtype}, got {type(value).__name__}")
    if value.dtype != dtype:
        raise KernelArgumentError(f"{where}: expected an array of {dtype}, got {value.dtype}")
    raise KernelArgumentError(f"{where}: expected a C-contiguous array, got a strided view")


def _check_scalar(kernel: str, index: int, param: str, value: Any) -> np.generic:
    dtype, least, most = _range(param)
    try:
        number = operator.index(value)
    except TypeError:
        where = f"{kernel}, argument {index}"
        raise KernelArgumentError(f"{where}: expected an integer ({dtype}), got {type(value).__name__}") from None
    if not least <= number <= most:
        raise KernelArgumentError(f"{kernel}, argument {index}: expected {least} to {most} ({dtype}), got {number}")
    scalar: np.generic = dtype.type(number)
    return scalar


@cache
def _dtype(param: str) -> np.dtype[Any]:
    return np.dtype(param.lstrip("*c"))


@cache
def _range(param: str) -> tuple[np.dtype[Any], int, int]:
    limits = np.iinfo(param)
    return np.dtype(param), int(limits.min), int(limits.max)
