"""The CuPy launcher on a stand-in for CuPy: what it compiles, looks up, launches and how it refuses."""

from __future__ import annotations

import sys
import weakref
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpu_nim.backends.cuda.launcher import CupyLauncher, device_memory_errors
from gpu_nim.backends.cuda.sources import OPTIONS
from gpu_nim.backends.cuda.table import Kernel
from gpu_nim.model.errors import BackendError, InsufficientMemoryError, KernelArgumentError, MissingDependency

TABLE = {name: Kernel("two.cu", ("*u4", "i4"), ("out", "number"), 64) for name in ("first", "second")}


class CompileException(Exception):
    """CuPy's is a plain Exception too."""


class StandIn:
    """As much of CuPy as the launcher touches; it notes what is compiled, looked up and launched."""

    def __init__(self) -> None:
        self.ndarray = np.ndarray
        self.calls: Counter[str] = Counter()
        self.launches: list[tuple[Any, ...]] = []
        self.compile_error: Exception | None = None
        self.launch_error: Exception | None = None
        self.functions: dict[str, Any] = {}
        self.options: list[tuple[str, ...]] = []
        self.streams: list[Any] = []  # of each launch; None is the default one
        self.stream: Any = None
        self.capturing: Any = None
        self.captured: list[tuple[Any, ...]] = []
        driver = SimpleNamespace(occupancyMaxActiveBlocksPerMultiprocessor=lambda pointer, threads, shared_bytes: pointer)
        compiler = SimpleNamespace(CompileException=CompileException)
        self.cuda = SimpleNamespace(Device=self._device, compiler=compiler, driver=driver, Stream=self._stream)

    def _stream(self, *, non_blocking: bool) -> Any:
        """A stream whose captured launches are noted when the graph is launched; those outside of it are made at once."""
        assert non_blocking, "the default stream cannot be captured"
        stand_in = self

        class Stream:
            def __enter__(self) -> None:
                stand_in.stream = self

            def __exit__(self, *_: object) -> None:
                stand_in.stream = None

            def begin_capture(self) -> None:
                stand_in.capturing, stand_in.captured = self, []

            def end_capture(self) -> Any:
                captured, stand_in.capturing = stand_in.captured, None
                return SimpleNamespace(launch=lambda: [stand_in.launch(launch) for launch in captured])

        return Stream()

    def launch(self, launch: tuple[Any, ...]) -> None:
        """Note a launch, or capture it."""
        if self.capturing is not None and self.stream is self.capturing:
            self.captured.append(launch)
        else:
            self.launches.append(launch)
            self.streams.append(self.stream)

    def _device(self) -> Any:
        class Device:
            id = 0
            compute_capability = "120"
            attributes = {"MaxSharedMemoryPerBlockOptin": 101376, "MultiProcessorCount": 84}  # noqa: RUF012

            def __enter__(self) -> None: ...
            def __exit__(self, *_: object) -> None: ...

        return Device()

    def RawModule(self, code: str, options: tuple[str, ...]) -> Any:
        assert options[: len(OPTIONS)] == OPTIONS
        self.options.append(options[len(OPTIONS) :])
        assert '#line 1 "cuda/common.cuh"' in code, "local includes are pasted in"
        return SimpleNamespace(compile=self._compile, get_function=self._get_function)

    def _compile(self) -> None:
        self.calls["compile"] += 1
        if self.compile_error is not None:
            raise self.compile_error

    def _get_function(self, name: str) -> Any:
        self.calls[f"look up {name}"] += 1

        class Function:
            max_dynamic_shared_size_bytes = 48 * 1024
            kernel = SimpleNamespace(ptr=5)  # which the stand-in returns as the occupancy, too

            def __call__(function, *launch: Any, shared_mem: int) -> None:  # noqa: N805
                if self.launch_error is not None:
                    raise self.launch_error
                self.launch((name, *launch, shared_mem))

        self.functions[name] = Function()
        return self.functions[name]


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    stand_in = StandIn()
    monkeypatch.setitem(sys.modules, "cupy", stand_in)
    return stand_in


@pytest.fixture
def launcher(cupy: StandIn, tmp_path: Path) -> CupyLauncher:
    (tmp_path / "two.cu").write_text('#include "common.cuh"\n')
    return CupyLauncher(TABLE, tmp_path)


def test_a_file_is_compiled_once_and_a_kernel_looked_up_once(launcher: CupyLauncher, cupy: StandIn) -> None:
    array = np.zeros(4, np.uint32)
    for kernel in ("first", "second", "first"):
        launcher.bind(kernel, {"out": array, "number": 7}, shared_bytes=16)(2)
    assert cupy.calls == {"compile": 1, "look up first": 1, "look up second": 1}
    name, grid, block, (passed, number), shared_bytes = cupy.launches[-1]
    assert (name, grid, block, shared_bytes) == ("first", (2,), (64,), 16)
    assert passed is array
    assert (number, number.dtype) == (7, np.int32)


def test_much_shared_memory_is_asked_for_first(launcher: CupyLauncher, cupy: StandIn) -> None:
    arguments = {"out": np.zeros(1, np.uint32), "number": 0}
    launcher.bind("first", arguments, shared_bytes=48 * 1024)
    assert cupy.functions["first"].max_dynamic_shared_size_bytes == 48 * 1024
    launcher.bind("first", arguments, shared_bytes=96 * 1024)
    assert cupy.functions["first"].max_dynamic_shared_size_bytes == 96 * 1024


def test_a_file_is_compiled_once_for_each_set_of_defines(launcher: CupyLauncher, cupy: StandIn) -> None:
    args = {"out": np.zeros(4, np.uint32), "number": 7}
    for kernel, defines in (
        ("first", {"A": 1}),
        ("second", {"A": 1}),
        ("first", None),
        ("first", {"A": "2,3"}),
        ("first", {"A": 1}),
    ):
        launcher.bind(kernel, args, defines=defines)(1)
    assert cupy.options == [("-DA=1",), (), ("-DA=2,3",)]
    assert [launch[0] for launch in cupy.launches] == ["first", "second", "first", "first", "first"]


def test_a_bound_launch_changes_its_scalars(launcher: CupyLauncher, cupy: StandIn) -> None:
    array = np.zeros(4, np.uint32)
    launch = launcher.bind("first", {"number": 7, "out": array}, shared_bytes=16)
    launch(2)
    launch(3, number=-8)
    launch(0, number=9)
    launch(4)
    assert [(grid, int(args[1])) for _, grid, _, args, _ in cupy.launches] == [((2,), 7), ((3,), -8), ((4,), 9)]
    for name, _, block, (passed, number), shared_bytes in cupy.launches:
        assert (name, block, number.dtype, shared_bytes) == ("first", (64,), np.int32, 16)
        assert passed is array
    assert launch.resident == 5 * 84
    assert (launch.threads, launch.blocks(65), launch.blocks(10**9)) == (64, 2, 5 * 84)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"out": np.zeros(1, np.uint32)}, "first takes out, number, got out"),
        ({"out": np.zeros(1, np.uint32), "number": 1, "more": 2}, "first takes out, number, got out, number, more"),
        ({"out": np.zeros(1, np.int32), "number": 1}, "argument 0: expected an array of uint32, got int32"),
        ({"out": np.zeros(1, np.uint32), "number": 2**31}, "argument 1: expected -2147483648 to 2147483647"),
    ],
)
def test_arguments_are_checked_where_they_are_bound(launcher: CupyLauncher, args: dict[str, object], message: str) -> None:
    with pytest.raises(KernelArgumentError, match=message):
        launcher.bind("first", args)


def test_a_changed_scalar_is_checked(launcher: CupyLauncher, cupy: StandIn) -> None:
    launch = launcher.bind("first", {"out": np.zeros(1, np.uint32), "number": 0})
    with pytest.raises(KernelArgumentError, match=r"first, number: expected -2147483648 to 2147483647 \(int32\), got 2147483648"):
        launch(1, number=2**31)
    for name in ("out", "size"):
        with pytest.raises(KernelArgumentError, match=f"first takes no scalar '{name}'"):
            launch(1, **{name: 1})
    cupy.launch_error = RuntimeError("CUDA_ERROR_INVALID_VALUE:\n invalid argument")
    for refused in (launch, launcher.bind("first", {"out": np.zeros(1, np.uint32), "number": 0})):
        with pytest.raises(BackendError, match=r"^kernel first: the device refused \(CUDA_ERROR_INVALID_VALUE: invalid arg"):
            refused(1)


def test_recorded_launches_are_made_again_in_order(launcher: CupyLauncher, cupy: StandIn) -> None:
    args = {"out": np.zeros(1, np.uint32), "number": 0}
    first, second = launcher.bind("first", args), launcher.bind("second", args)

    def queue() -> None:
        for number in range(3):
            first(1, number=number)
        second(2)

    again = launcher.record(queue)
    assert not cupy.launches
    again()
    first(1, number=9)
    again()
    order = [(name, int(args[1])) for name, _, _, args, _ in cupy.launches]
    graph = [("first", 0), ("first", 1), ("first", 2), ("second", 0)]
    assert order == [*graph, ("first", 9), *graph]
    assert set(cupy.streams) == {None}  # all wait for one another


def test_arrays_are_copied_to_the_host_beside_the_kernels(launcher: CupyLauncher, cupy: StandIn) -> None:
    """A copy waits for the kernels so far, runs on a stream of its own into page-locked memory, and is there once waited for."""
    log: list[Any] = []

    class Stream:
        def __init__(self, *, non_blocking: bool) -> None:
            log.append(("stream", non_blocking))

        def wait_event(self, event: object) -> None:
            log.append(("wait", event))

        def record(self) -> Any:
            copies = log.pop()[1]
            return SimpleNamespace(synchronize=lambda: copies())

    class Array:
        dtype, shape, size, nbytes = np.dtype(np.uint32), (2, 3), 6, 24

        def get(self, *, stream: object, out: np.ndarray[Any, Any], blocking: bool) -> None:
            assert isinstance(stream, Stream)
            assert not blocking
            source = weakref.ref(self)

            def copy() -> None:
                assert source() is not None, "its memory may be another's by now"
                out[...] = np.arange(6).reshape(2, 3)

            log.append(("copy", copy))

    pinned: list[bytearray] = []
    cupy.cuda.Stream = Stream
    cupy.cuda.get_current_stream = lambda: SimpleNamespace(record=lambda: "the kernels so far")
    cupy.cuda.alloc_pinned_memory = lambda size: pinned.append(bytearray(size)) or pinned[-1]
    arrays = [Array(), Array()]
    sources = [weakref.ref(array) for array in arrays]
    arrivals = [launcher.start_copy_to_host(arrays.pop()) for _ in range(2)]
    assert log == [("stream", True), ("wait", "the kernels so far"), ("wait", "the kernels so far")]
    assert [len(memory) for memory in pinned] == [24, 24]
    for arrived, memory in zip(arrivals, pinned, strict=True):
        assert not any(memory)
        assert arrived().tolist() == [[0, 1, 2], [3, 4, 5]]
        assert any(memory)
    assert [source() for source in sources] == [None, None]  # whose memory may be used again


def test_what_the_device_has(launcher: CupyLauncher) -> None:
    assert launcher.shared_limit == 101376
    assert launcher.compute_capability == "12.0"


def test_a_compile_failure_is_one_sentence(launcher: CupyLauncher, cupy: StandIn) -> None:
    cupy.compile_error = CompileException('cuda/two.cu(3): error: identifier "x" is undefined\n  x;\n  ^\n1 error')
    with pytest.raises(BackendError, match=r"^cuda/two\.cu does not compile .*: cuda/two\.cu\(3\): error: .*undefined$"):
        launcher.bind("first", {"out": np.zeros(1, np.uint32), "number": 0})


REFUSAL = InsufficientMemoryError("needs 3 bytes, 2 are free")
OF_CUPY = type("CompileException", (Exception,), {"__module__": "cupy.cuda.compiler"})("cannot open\n carray.cuh")
DEFECTS = TypeError("Unsupported type"), ValueError("shapes"), IndexError(3)


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (
            MemoryError("Out of memory allocating 8 bytes"),
            InsufficientMemoryError,
            "^growing: the device has too little free memory",
        ),
        (
            ImportError("libnvrtc.so.13: cannot open\n shared object file"),
            MissingDependency,
            r"^growing: CuPy lacks a library \(libnvrtc\.so\.13: cannot open shared object file\): install the extra",
        ),
        (OF_CUPY, BackendError, r"^growing: the device refused \(cannot open carray\.cuh\)$"),
        *((each, type(each), f"^{each}$") for each in (REFUSAL, *DEFECTS)),  # a defect keeps its traceback
    ],
)
def test_what_the_device_lacks(error: Exception, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as raised, device_memory_errors("growing"):
        raise error
    assert (raised.value is error) == (error in (REFUSAL, *DEFECTS))


def test_without_cupy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingDependency, match="install the extra cuda13"):
        CupyLauncher()
