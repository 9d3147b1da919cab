"""CUDA kernels executed on the CPU, for tests, on arrays that are as strict as CuPy's; see `cuda_host.hpp` for how.

`HostLauncher` is a `gpu_nim.backends.cuda.launcher.Launcher`: the CUDA backend runs on it as it is. There are four
flavours of build:

========  ==================================================  =========================================================
fast      -O2                                                 the emulator's own checks, poisoned shared memory
ubsan     and UBSan                                           undefined behaviour becomes a `KernelDefect`; a * b + c is
                                                              rounded once, as on a device, where the CPU can
asan      and ASan, UBSan                                     accesses outside any array, shared or global
tsan      and TSan, UBSan                                     races inside a block and between blocks
========  ==================================================  =========================================================

ASan and TSan must be loaded before Python itself: `sanitized` gives the command prefix and the environment for that.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gpu_nim.backends.cuda.launcher import to_host
from gpu_nim.backends.cuda.table import KERNELS, Defines, Kernel, Launch, check_arguments, cuda_directory
from gpu_nim.model.errors import BackendError
from gpu_nim.model.work import host_memory
from tests import strict_cupy
from tests.threads import one_at_a_time

HEADERS = Path(__file__).resolve().parent
CACHE = HEADERS.parents[1] / ".cache" / "cuda_host"
ORDERS = ("forward", "reverse", "shuffle")
LOG_VARIABLE = "GPUNIM_SANITIZER_LOG"


class KernelDefect(BackendError):
    """A kernel broke a rule of CUDA or of C++, or its launch was refused; the message says which, and where."""


@dataclass(frozen=True)
class Flavour:
    """Flags of one kind of build, and the runtime that has to be loaded before Python."""

    compile: tuple[str, ...]
    link: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()


# undefined.hpp brings its own handlers, so UBSan adds nothing to the link.
_UBSAN = ("-fsanitize=undefined", "-fno-sanitize=vptr", "-fno-sanitize-recover=undefined")
_DEBUG = ("-O1", "-g1", "-fno-omit-frame-pointer")  # lines, for reports; without types it compiles in three quarters of the time


def _fused() -> tuple[str, ...]:
    """Flags by which a * b + c is one operation with one rounding, as NVRTC makes it; none where this CPU has no such operation."""
    fuse = ("-ffp-contract=fast", "-fexpensive-optimizations")  # a pass of GCC's -O2, which fuses
    if platform.machine() == "aarch64":
        return fuse
    try:
        return (*fuse, "-mfma") if " fma " in Path("/proc/cpuinfo").read_text() else ()
    except OSError:
        return ()


FLAVOURS = {
    "fast": Flavour(("-O2",)),
    "ubsan": Flavour((*_DEBUG, *_UBSAN, *_fused())),
    "asan": Flavour(
        (*_DEBUG, "-fsanitize=address", "-fsanitize-recover=address", *_UBSAN),
        ("-fsanitize=address",),
        ("libasan.so", "libstdc++.so.6"),
    ),
    "tsan": Flavour(
        (*_DEBUG, "-fsanitize=thread", *_UBSAN),
        ("-fsanitize=thread",),
        ("libtsan.so", "libstdc++.so.6"),
    ),
}
# Hidden, or two libraries in one process would share what both include, __shared__ variables among it.
_COMMON = ("-std=gnu++17", "-fPIC", "-fvisibility=hidden", "-fno-rtti", "-fno-exceptions", "-U_FORTIFY_SOURCE")
_COMMON += ("-fno-strict-aliasing",)  # kernels read integers as vectors, as CUDA does
_WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror", "-Wno-unknown-pragmas", "-Wno-unused-function")
_LAUNCH_BOUNDS = re.compile(r"__launch_bounds__\s*\(([^,()]+)(?:,[^()]*)?\)\s*(?:void\s+)?(\w+)\s*\(")
_RUNS_KERNELS = re.compile(r"mark\.(?:cuda_host|gpu)\b|def \w+\([^)]*\b(?:launcher|(?:every_)?backend)\b")
_SANITIZER_OPTIONS = {
    "asan": "ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:halt_on_error=0:log_path={log}",
    "tsan": "TSAN_OPTIONS=halt_on_error=0:suppress_equal_addresses=0:log_path={log}",
}


def compiler() -> str | None:
    """The host compiler: $CXX, else g++, or None where there is none."""
    return shutil.which(os.environ.get("CXX", "g++"))


def default_flavour() -> str:
    """The flavour of this test run: $GPUNIM_CUDA_HOST, else ubsan."""
    flavour = os.environ.get("GPUNIM_CUDA_HOST", "ubsan")
    if flavour not in FLAVOURS:
        raise ValueError(f"GPUNIM_CUDA_HOST: expected one of {', '.join(FLAVOURS)}, got {flavour!r}")
    return flavour


def files_that_run_kernels() -> list[Path]:
    """The test files with tests marked ``cuda_host`` or ``gpu``, by their text: pytest is slow to read all of them."""
    return [path for path in sorted(HEADERS.parent.glob("*/test_*.py")) if _RUNS_KERNELS.search(path.read_text())]


def sanitized(flavour: str, log: Path) -> tuple[list[str], dict[str, str]]:
    """The command prefix and the environment in which Python can run kernels of `flavour`; reports go to `log`.PID."""
    cxx = compiler()
    assert cxx is not None, "no host compiler"
    environment = dict(os.environ, GPUNIM_CUDA_HOST=flavour)
    environment[LOG_VARIABLE] = str(log)
    libraries = [
        subprocess.run([cxx, f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout.strip()
        for name in FLAVOURS[flavour].preload
    ]
    missing = [name for name in libraries if not Path(name).is_absolute()]
    if missing:
        raise BackendError(f"the {flavour} flavour needs {', '.join(missing)} beside g++, which is not installed")
    environment["LD_PRELOAD"] = ":".join(libraries)
    if flavour in _SANITIZER_OPTIONS:
        name, _, options = _SANITIZER_OPTIONS[flavour].format(log=log).partition("=")
        environment[name] = options
    # TSan's fixed shadow layout does not survive the strongest address randomisation of recent kernels.
    prefix = ["setarch", "--addr-no-randomize"]
    can_fix_layout = shutil.which("setarch") and subprocess.run([*prefix, "true"], capture_output=True).returncode == 0
    return (prefix if can_fix_layout else []), environment


class _Library:
    """One `.cu` file, built in one flavour and loaded."""

    _one_launch: ClassVar = threading.Lock()  # of all libraries, which share fibers

    def __init__(self, source: Path, kernels: tuple[str, ...], flavour: str, options: tuple[str, ...]) -> None:
        self._loaded = ctypes.CDLL(str(_build(source, kernels, flavour, options)))
        for text in ("cuda_host_name", "cuda_host_signature", "cuda_host_launch"):
            getattr(self._loaded, text).restype = ctypes.c_char_p
        three = ctypes.POINTER(ctypes.c_uint)
        pointers = ctypes.POINTER(ctypes.c_void_p)
        self._loaded.cuda_host_launch.argtypes = (
            *(ctypes.c_int, three, three, ctypes.c_size_t, pointers),
            *(ctypes.c_int, ctypes.c_uint, ctypes.c_uint64, ctypes.c_uint64),
        )
        self.numbers = {self._loaded.cuda_host_name(k).decode(): k for k in range(self._loaded.cuda_host_count())}

    def signature(self, kernel: str) -> tuple[str, ...]:
        """The kernel's parameters in the notation of the kernel table, read from its C++ type."""
        text: str = self._loaded.cuda_host_signature(self.numbers[kernel]).decode()
        return tuple(text.split(",")) if text else ()

    def launch(self, queued: _Queued, order: int, seed: int, part: slice) -> str | None:
        """Run a kernel, or a part of its blocks. What went wrong, or None."""
        first, stop, _ = part.indices(queued.grid)
        pointers = (ctypes.c_void_p * len(queued.passed))(*(value.ctypes.data for value in queued.passed))
        sides = ((ctypes.c_uint * 3)(side, 1, 1) for side in (queued.grid, queued.block))
        with self._one_launch:
            message = self._loaded.cuda_host_launch(
                self.numbers[queued.kernel], *sides, queued.shared_bytes, pointers, order, seed, first, stop - first
            )
        return None if message is None else message.decode(errors="replace")


_library = functools.cache(_Library)


@functools.cache
def _compiler_version(cxx: str) -> str:
    return subprocess.run([cxx, "--version"], check=True, capture_output=True, text=True).stdout


def _build(source: Path, kernels: tuple[str, ...], flavour: str, options: tuple[str, ...]) -> Path:
    """The shared library of `source`, from the cache where nothing it depends on has changed."""
    cxx = compiler()
    if cxx is None:
        raise BackendError("kernels cannot run on the CPU: no host compiler (install g++, or set CXX)")
    text = source.read_text()
    bounds = {name: bound.strip() for bound, name in _LAUNCH_BOUNDS.findall(text)}
    entries = "".join(f"CUDA_HOST_KERNEL({name}, {bounds.get(name, 1024)})\n" for name in kernels)
    wrapper = (
        f'#include "{HEADERS / "cuda_host.hpp"}"\n#include "{source}"\nCUDA_HOST_KERNELS_BEGIN\n{entries}CUDA_HOST_KERNELS_END\n'
    )
    flags = FLAVOURS[flavour]
    includes = [f"-I{directory}" for directory in dict.fromkeys((source.parent, Path(str(cuda_directory()))))]
    compile_command = [cxx, *_COMMON, *_WARNINGS, *flags.compile, *options, *includes, "-x", "c++", "-c"]
    link_command = [cxx, "-shared", *flags.link]
    headers = [*sorted(HEADERS.glob("*.hpp")), *sorted(source.parent.glob("*.cuh"))]
    headers += sorted(Path(str(cuda_directory())).glob("*.cuh"))
    parts = [wrapper, text, *(path.read_text() for path in headers), _compiler_version(cxx)]
    key = hashlib.sha256("\0".join([*parts, *compile_command, *link_command]).encode()).hexdigest()[:20]
    library = CACHE / f"{source.stem}-{flavour}-{key}.so"
    if library.exists():
        return library
    CACHE.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(library.with_suffix(".lock")):  # several processes test at once, and one of them builds
        if not library.exists():
            _compile_and_link(library, wrapper, compile_command, link_command)
    return library


def _compile_and_link(library: Path, wrapper: str, compile_command: list[str], link_command: list[str]) -> None:
    scratch = CACHE / f"{library.stem}.{os.getpid()}"
    wrapper_file, object_file, linked = (scratch.with_name(scratch.name + end) for end in (".cpp", ".o", ".tmp"))
    # The compiler is no place for a sanitizer's runtime.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    try:
        wrapper_file.write_text(wrapper)
        for command in (
            [*compile_command, str(wrapper_file), "-o", str(object_file)],
            [*link_command, str(object_file), "-o", str(linked)],
        ):
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            if done.returncode != 0:
                raise BackendError(f"{library.name.partition('-')[0]}.cu does not compile on the host:\n{done.stderr}")
        linked.replace(library)
    finally:
        for file in (wrapper_file, object_file, linked):
            file.unlink(missing_ok=True)


class _SanitizerLog:
    """What the sanitizer loaded into this process has reported since it was last asked."""

    def __init__(self, flavour: str) -> None:
        self._path: Path | None = None
        self._read = 0
        if FLAVOURS[flavour].preload:
            log = os.environ.get(LOG_VARIABLE)
            if log is None or FLAVOURS[flavour].preload[0] not in os.environ.get("LD_PRELOAD", ""):
                raise BackendError(f"{flavour} has to be loaded before Python: use scripts/check-sanitizers")
            self._path = Path(f"{log}.{os.getpid()}")

    def news(self) -> str:
        if self._path is None or not self._path.exists():
            return ""
        with self._path.open(errors="replace") as log:
            log.seek(self._read)
            text = log.read()
            self._read = log.tell()
        return text


_sanitizer_log = functools.cache(_SanitizerLog)


class _Queued(NamedTuple):
    """A launch, its parameters' bytes, the memory of its arrays, of which it keeps none, and the places that it may write to."""

    kernel: str
    grid: int
    block: int
    passed: list[np.ndarray]
    shared_bytes: int
    defines: Defines | None
    memory: list[weakref.ref[Any]]
    written: list[range]


class HostLauncher:
    """Launches kernels on the CPU, on the arrays of `tests.strict_cupy`.

    `order` is the order of threads and blocks (``forward``, ``reverse``, or ``shuffle`` by `seed`), `sources` the
    folder of the `.cu` files, `table` the kernel table, `shared_limit` and `multiprocessors` what the imagined device
    has: by default the 64 KiB that every device since sm_75 grants a block, and few multiprocessors, of 4 blocks each.
    With `specialise` files are compiled for each set of defines, as they are for a device; without, once and for all.
    `parts` may name kernels of whose grids only some blocks run: what a huge grid does at its end, without what comes before.

    `launched` names the kernels that were run, in order, those of recorded launches each time that they were made again;
    `modules` has what a device would have had to compile, each source with its defines.
    """

    xp: Any = strict_cupy
    device = "kernels on the CPU"
    identity = "host"  # one device for all launchers of this process

    def __init__(
        self,
        order: str = "forward",
        seed: int = 0,
        flavour: str | None = None,
        sources: Path | None = None,
        table: Mapping[str, Kernel] = KERNELS,
        shared_limit: int = 64 * 1024,
        multiprocessors: int = 4,
        specialise: bool = False,
    ) -> None:
        self.order, self.seed = ORDERS.index(order), seed
        self.flavour = default_flavour() if flavour is None else flavour
        self.shared_limit, self.multiprocessors = shared_limit, multiprocessors
        self._sources = Path(str(cuda_directory())) if sources is None else sources
        self._table = table
        self._specialise = specialise
        self.parts: dict[str, slice] = {}
        self._recording: list[_Queued] | None = None
        self._copied: list[range] = []
        self.launched: list[str] = []
        self.modules: set[tuple[str, tuple[tuple[str, int | str], ...]]] = set()
        self._log = _sanitizer_log(self.flavour)

    def free_memory(self) -> int:
        """Bytes of memory that are free."""
        return host_memory()

    def library(self, source: str, defines: Defines | None = None) -> _Library:
        """The built library of one `.cu` file, with all kernels that the table places in it."""
        kernels = tuple(name for name, kernel in self._table.items() if kernel.source == source)
        options = tuple(f"-D{name}={value}" for name, value in (defines or {}).items()) if self._specialise else ()
        return _library(self._sources / source, kernels, self.flavour, options)

    def bind(self, kernel: str, args: Mapping[str, object], *, shared_bytes: int = 0, defines: Defines | None = None) -> Launch:
        """Check the arguments by name, once for many launches."""
        entry = self._table[kernel]
        checked = check_arguments(kernel, entry, args, strict_cupy.ndarray)
        self._compile(kernel, defines)

        def run(grid: int, values: tuple[Any, ...]) -> None:
            self.queue(kernel, grid, entry.threads, values, shared_bytes, defines, checked)

        return Launch(kernel, entry, checked, run, self.resident)

    @property
    def resident(self) -> int:
        """Blocks that the imagined device holds at once."""
        return 4 * self.multiprocessors

    def record(self, queue: Callable[[], None]) -> Callable[[], None]:
        """Note the launches of `queue`, instead of making them, and return what makes them: like a graph, it keeps no array."""
        recorded = self._recording = []
        try:
            with strict_cupy.capturing():
                queue()
        finally:
            self._recording = None

        def run() -> None:
            for launch in recorded:
                self._launch(launch)

        return run

    def start_copy_to_host(self, values: Any) -> Callable[[], np.ndarray]:
        """Copy as late as a device may: what is written to `values` before shows, and no kernel may write there."""
        read = _places(values)
        self._copied.append(read)

        def arrived() -> np.ndarray:
            self._copied.remove(read)
            return to_host(values)

        return arrived

    def _compile(self, kernel: str, defines: Defines | None) -> None:
        self.modules.add((self._table[kernel].source, tuple((defines or {}).items())))

    def queue(
        self,
        kernel: str,
        grid: int,
        block: int,
        values: tuple[Any, ...],
        shared_bytes: int,
        defines: Defines | None = None,
        checked: Mapping[str, Any] | None = None,
    ) -> None:
        """Launch a kernel with its parameters; without the `checked` arguments nothing is known of arrays in a struct."""
        self._compile(kernel, defines)
        entry = self._table[kernel]
        if checked is None:
            checked = dict(zip(entry.names, values, strict=True))
        arrays = [(param, checked[name]) for name, param in entry.arguments.items() if param[0] == "*" and name in checked]
        launch = _Queued(
            *(kernel, grid, block),
            # An array's parameter is its address, that of a scalar or a struct its own bytes.
            [np.array(value.data.ptr, np.uintp) if isinstance(value, strict_cupy.ndarray) else np.array(value) for value in values],
            *(shared_bytes, defines),
            [weakref.ref(value._host if value._host.base is None else value._host.base) for _, value in arrays],
            [_places(value) for param, value in arrays if not param.startswith("*c")],
        )
        if self._recording is None:
            self._launch(launch)
        else:
            self._recording.append(launch)

    def _launch(self, launch: _Queued) -> None:
        kernel = launch.kernel
        if launch.shared_bytes > self.shared_limit:
            limit = self.shared_limit
            raise KernelDefect(f"{kernel}: {launch.shared_bytes} bytes of shared memory exceed the limit of {limit}")
        if any(memory() is None for memory in launch.memory):
            raise KernelDefect(f"{kernel} was recorded with an array that is gone, and its memory may be another's")
        if any(to.start < read.stop and read.start < to.stop for to in launch.written for read in self._copied):
            raise KernelDefect(f"{kernel} may write where a copy to the host still reads")
        library, part = self.library(self._table[kernel].source, launch.defines), self.parts.get(kernel, slice(None))
        message = library.launch(launch, self.order, self.seed, part)
        self.launched.append(kernel)
        report = self._log.news()
        if message or report:
            raise KernelDefect(f"{kernel}: {message or report}")


def _places(array: Any) -> range:
    """The addresses of an array's bytes."""
    return range(array.data.ptr, array.data.ptr + array.nbytes)


def signatures(launcher: HostLauncher, table: Mapping[str, Kernel] = KERNELS) -> dict[str, tuple[str, ...]]:
    """Each kernel's parameters as its C++ type has them, in the kernel table's notation."""
    return {name: launcher.library(kernel.source).signature(name) for name, kernel in table.items()}
