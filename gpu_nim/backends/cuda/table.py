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
scalar, with ``*`` before it for a pointer and ``*c`` for a pointer to const: ``*cu4`` is ``const unsigned int*``.  What several
kernels take alike is a struct of the same file, by value: ``V24`` with 24 bytes.  Its members are declared one a line, before its
functions, and are arguments by their own names.
Constants that the host needs are `constexpr` integers at the beginning of a line: `read_constants`.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import KernelArgumentError

#: The options of NVRTC in addition to CuPy's own.
OPTIONS = ("--std=c++17", "--device-int128")

# NumPy's names of the types of common.cuh.
_TYPES = {"u8": "u1", "u16": "u2", "u32": "u4", "i32": "i4", "u64": "u8", "i64": "i8", "f64": "f8"}
_BITS = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}  # at which unsigned constants wrap

_HEADER = "common.cuh"
_INCLUDE = f'#include "{_HEADER}"\n'

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ENTRY = re.compile(
    r'extern "C" __global__\s+void\s+(?:__launch_bounds__\s*\((?P<bounds>[^()]*)\)\s*)?(?P<name>\w+)\s*\((?P<params>[^()]*)\)\s*{'
)
_PARAMETER = re.compile(
    r"(?:\[\[\w+\]\]\s*)?(?P<const>const\s+)?(?P<type>\w+)\s*(?P<pointer>\*?)\s*(?:__restrict__\s*)?(?P<name>\w*)"
)
_STRUCT = r"struct {} {{\s*((?:[\w\s*]+;\s*)+)"  # of a name, with its members
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
    """The text of one `.cu` file, of `directory` or else of gpunim's own, with the text of the header in place of its ``#include``.

    CuPy keeps compiled kernels on disk under a hash of the text, without included files, so that a changed header would go
    unnoticed; here it is part of the text. By ``#line`` the compiler's messages name the files on disk.

    >>> '#include "' in cuda_source("nim.cu")
    False
    """
    before, _, after = (directory or cuda_directory()).joinpath(name).read_text(encoding="utf-8").partition(_INCLUDE)
    header = cuda_directory().joinpath(_HEADER).read_text(encoding="utf-8")
    line = before.count("\n") + 2
    return f'#line 1 "cuda/{name}"\n{before}#line 1 "cuda/{_HEADER}"\n{header}#line {line} "cuda/{name}"\n{after}'


@dataclass(frozen=True, slots=True)
class Kernel:
    """The signature of a kernel.

    `source` is the name of its `.cu` file, `params` the types of its parameters in order and `names` their names; `threads` is the
    size of a block by its launch bounds, or 0 where it has none; `structs` has the types of the members of each struct, by name.
    """

    source: str
    params: tuple[str, ...]
    names: tuple[str, ...] = ()
    threads: int = 0
    structs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def arguments(self) -> dict[str, str]:
        """The types of the arguments by name, members among them.

        >>> Kernel("square.cu", ("V16", "u4"), ("squares", "first"), 64, {"squares": {"out": "*u8", "count": "u4"}}).arguments
        {'out': '*u8', 'count': 'u4', 'first': 'u4'}
        """
        parts = (self.structs.get(name, {name: param}) for name, param in zip(self.names, self.params, strict=True))
        return {name: param for part in parts for name, param in part.items()}

    def packed(self, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
        """Checked arguments as the kernel takes them: in order, the members of a struct in one number of its layout."""
        return tuple(_packed(self.structs[name], arguments) if name in self.structs else arguments[name] for name in self.names)


def _packed(members: Mapping[str, str], arguments: Mapping[str, Any]) -> NDArray[Any]:
    values = (arguments[name].data.ptr if param[0] == "*" else arguments[name] for name, param in members.items())
    return np.array(tuple(values), _layout(members))


def _layout(members: Mapping[str, str]) -> np.dtype[Any]:
    """The layout of a struct, as a C++ compiler has it."""
    return np.dtype([(name, "u8" if param[0] == "*" else param) for name, param in members.items()], align=True)


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
            structs: dict[str, dict[str, str]] = {}
            parameters = []
            for written in filter(None, map(str.strip, entry["params"].split(","))):
                struct = re.search(_STRUCT.format(re.escape(written.removeprefix("const ").split()[0])), text)
                if struct is None:
                    parameters.append(_parameter(where, written))
                    continue
                members = dict(_parameter(where, each.strip()) for each in struct[1].split(";")[:-1])
                structs[written.split()[-1]] = members
                parameters.append((written.split()[-1], f"V{_layout(members).itemsize}"))
            bound = entry["bounds"] and _evaluate(entry["bounds"].split(",")[0], known)
            names, types = tuple(zip(*parameters, strict=True)) or ((), ())
            table[name] = Kernel(file.name, types, names, bound or 0, structs)
    return table


@cache
def read_constants(source: str) -> dict[str, int]:
    """Return the integer constants of one of gpunim's `.cu` files by name.

    >>> read_constants("nim.cu")["REACH"]
    32
    """
    return dict(_constants(_COMMENT.sub("", cuda_directory().joinpath(source).read_text(encoding="utf-8"))))


def _parameter(where: str, written: str) -> tuple[str, str]:
    """The name of a parameter, and its type in the table's notation."""
    match = _PARAMETER.fullmatch(written)
    if match is None or match["type"] not in _TYPES:
        raise ValueError(f"{where}: expected a parameter of {', '.join(_TYPES)} or a pointer to one, got {written!r}")
    pointer = match["pointer"] + "c" * bool(match["pointer"] and match["const"])
    return match["name"], pointer + _TYPES[match["type"]]


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
    registers and the shared memory of the kernel as it was compiled for this device. Members of a struct do not change.
    """

    __slots__ = ("_arguments", "_given", "_kernel", "_run", "_scalars", "_values", "resident", "threads")

    def __init__(
        self, kernel: str, entry: Kernel, arguments: Mapping[str, Any], run: Callable[[int, tuple[Any, ...]], None], resident: int
    ) -> None:
        self._kernel, self._run, self.threads, self.resident = kernel, run, entry.threads, resident
        self._arguments = arguments  # which keeps arrays whose addresses alone are passed
        self._values = entry.packed(arguments)
        self._scalars = {name: at for at, name in enumerate(entry.names) if isinstance(self._values[at], np.integer)}
        self._given: dict[str, int] = {}

    def __call__(self, grid: int, **changed: int) -> None:
        """Queue the kernel over `grid` blocks; KernelArgumentError for a name that is no scalar of it, or a value out of range."""
        if not changed.items() <= self._given.items():
            values = list(self._values)
            for name, value in changed.items():
                if name not in self._scalars:
                    raise KernelArgumentError(f"{self._kernel} takes no scalar {name!r}")
                at = self._scalars[name]
                values[at] = _scalar(self._kernel, name, values[at].dtype, value)
            self._values = tuple(values)
            self._given.update(changed)
        if grid > 0:
            self._run(grid, self._values)

    def each(self, items: int, **changed: int) -> None:
        """Queue the kernel with a thread for each of `items`, as `__call__` does."""
        self(-(-items // self.threads), **changed)

    def blocks(self, items: int) -> int:
        """The grid with a thread for each of `items`, but at most as many blocks as are resident at once."""
        return min(self.resident, -(-items // self.threads))


def check_arguments(kernel: str, entry: Kernel, args: Mapping[str, object], array_type: type[Any] = np.ndarray) -> dict[str, Any]:
    """Return the arguments of a kernel by name: arrays of `array_type`, checked, and integers as NumPy scalars.

    Raises `KernelArgumentError` for other names, an array of another type, dtype or not C-contiguous, and an integer out of its
    parameter's range.

    >>> square = Kernel("square.cu", ("*u8", "u4"), ("out", "count"))
    >>> check_arguments("square", square, {"count": 3, "out": np.zeros(3, np.uint64)})
    {'out': array([0, 0, 0], dtype=uint64), 'count': np.uint32(3)}
    >>> check_arguments("square", square, {"count": 3, "out": np.zeros(3)})
    Traceback (most recent call last):
    gpu_nim.model.errors.KernelArgumentError: square, out: expected an array of uint64, got float64
    >>> check_arguments("square", square, {"size": 3, "out": np.zeros(3, np.uint64)})
    Traceback (most recent call last):
    gpu_nim.model.errors.KernelArgumentError: square takes out, count, got size, out
    """
    types = entry.arguments
    if args.keys() != types.keys():
        raise KernelArgumentError(f"{kernel} takes {', '.join(types)}, got {', '.join(args)}")
    return {
        name: _array(kernel, name, np.dtype(param.lstrip("*c")), args[name], array_type)
        if param[0] == "*"
        else _scalar(kernel, name, np.dtype(param), args[name])
        for name, param in types.items()
    }


def _array(kernel: str, name: str, dtype: np.dtype[Any], value: Any, array_type: type[Any]) -> Any:
    if not isinstance(value, array_type):
        wanted = f"{array_type.__module__}.{array_type.__qualname__}"
        raise KernelArgumentError(f"{kernel}, {name}: expected a {wanted} of {dtype}, got {type(value).__name__}")
    if value.dtype != dtype:
        raise KernelArgumentError(f"{kernel}, {name}: expected an array of {dtype}, got {value.dtype}")
    if not value.flags.c_contiguous:
        raise KernelArgumentError(f"{kernel}, {name}: expected a C-contiguous array, got a strided view")
    return value


_limits = cache(np.iinfo)  # some scalars change thousands of times


def _scalar(kernel: str, name: str, dtype: np.dtype[Any], value: Any) -> np.generic:
    limits = _limits(dtype)
    try:
        number = operator.index(value)
    except TypeError:
        raise KernelArgumentError(f"{kernel}, {name}: expected an integer ({dtype}), got {type(value).__name__}") from None
    if not limits.min <= number <= limits.max:
        raise KernelArgumentError(f"{kernel}, {name}: expected {limits.min} to {limits.max} ({dtype}), got {number}")
    scalar: np.generic = dtype.type(number)
    return scalar
