"""The kernel table, and the CuPy launcher on the CuPy of `tests/emulated_gpu`: what it compiles, looks up, launches and refuses."""

import re
import weakref
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_nim.backends.cuda.launcher import CupyLauncher, device_memory_errors
from gpu_nim.backends.cuda.table import (
    KERNELS,
    OPTIONS,
    cuda_directory,
    read_constants,
    read_kernels,
)
from gpu_nim.model.errors import BackendError, InsufficientMemoryError, KernelArgumentError, MissingDependency
from gpu_nim.model.rule import MAX_DIMENSION
from tests import strict_cupy
from tests.cuda_host import HostLauncher, compiler, signatures
from tests.cuda_host.seeded import SOURCES, TABLE

# The table against the C++ signatures, the files, and the text that is handed to the compiler


@pytest.mark.skipif(compiler() is None, reason="kernels cannot be compiled: no g++ (or $CXX)")
def test_the_table_states_the_cpp_signatures() -> None:
    assert signatures(HostLauncher()) == {name: kernel.params for name, kernel in KERNELS.items()}


@pytest.mark.parametrize("file", sorted(Path(str(cuda_directory())).glob("*.cu")), ids=lambda file: file.name)
def test_no_kernel_is_overlooked(file: Path) -> None:
    written = re.sub(r"//[^\n]*", "", file.read_text()).count("__global__")
    assert sum(kernel.source == file.name for kernel in KERNELS.values()) == written > 0


def test_every_parameter_has_a_name_and_every_kernel_its_block() -> None:
    for name, kernel in KERNELS.items():
        members = [member for struct in kernel.structs.values() for member in struct]
        assert len({*kernel.names, *members}) == len(kernel.params) + len(members), name
        assert all(kernel.names), name
        assert kernel.threads % 32 == 0 < kernel.threads <= 1024, name


@pytest.mark.parametrize("parameter", ["double x", "u32** x", "unsigned x", "u32& x", "Site x"])
def test_a_type_that_cannot_be_passed_is_named(tmp_path: Path, parameter: str) -> None:
    (tmp_path / "odd.cu").write_text(f'extern "C" __global__ void odd(u32 n, {parameter}) {{}}')
    with pytest.raises(ValueError, match=rf"^cuda/odd\.cu, kernel odd: expected .*, got '{re.escape(parameter)}'$"):
        read_kernels(tmp_path)


def test_two_kernels_of_one_name_are_refused(tmp_path: Path) -> None:
    for file in ("a.cu", "b.cu"):
        (tmp_path / file).write_text('extern "C" __global__ void same() {}')
    with pytest.raises(ValueError, match=r"cuda/b\.cu: there are two kernels same"):
        read_kernels(tmp_path)


def test_constants_are_those_of_the_compiler() -> None:
    constants = read_constants("general.cu")
    assert constants["EMPTY"] == 2**64 - 1
    assert (constants["CLOSED"], constants["TOTAL"]) == (1 << 15, (1 << 15) - 1)
    assert constants["MAX_DIMENSION"] == MAX_DIMENSION
    nim = read_constants("nim.cu")
    assert nim["OWNED"] == 32 * nim["ROWS"] - nim["REACH"]
    assert read_constants("exactly_one.cu")["NOWHERE"] == 2**32 - 1


# The launcher


needs_compiler = pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")
FIRST, SECOND = "good_bounded", "good_tree_sum"  # which add the first n numbers to a sum, 64 numbers a block


@pytest.fixture
def launcher(cupy: Any) -> CupyLauncher:
    return CupyLauncher(TABLE, SOURCES)


def arguments(n: int = 0) -> dict[str, Any]:
    """Of a kernel, whose numbers are all 1."""
    return {"x": strict_cupy.ones(256, np.uint32), "out": strict_cupy.zeros(1, np.uint64), "n": n}


def built(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is compiled, by its options, and looked up, by its name."""
    done: list[Any] = []

    class RawModule(cupy.RawModule):
        def __init__(self, code: str, options: tuple[str, ...]) -> None:
            super().__init__(code, options)
            self.defines = options[len(OPTIONS) :]

        def compile(self) -> None:
            done.append(self.defines)

        def get_function(self, name: str) -> Any:
            done.append(name)
            return super().get_function(name)

    monkeypatch.setattr(cupy, "RawModule", RawModule)
    return done


def test_a_file_is_compiled_once_for_each_set_of_defines_and_a_kernel_looked_up_once(
    launcher: CupyLauncher, cupy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = built(cupy, monkeypatch)
    for kernel, defines in ((FIRST, {"A": 1}), (SECOND, {"A": 1}), (FIRST, None), (FIRST, {"A": "2,3"}), (FIRST, {"A": 1})):
        launcher.bind(kernel, arguments(), defines=defines)
    assert done == [("-DA=1",), FIRST, SECOND, (), FIRST, ("-DA=2,3",), FIRST]


@needs_compiler
def test_much_shared_memory_is_asked_for_first(launcher: CupyLauncher) -> None:
    large = launcher.bind(FIRST, arguments(), shared_bytes=60 * 1024)
    launcher.bind(FIRST, arguments(), shared_bytes=16)
    large(1)  # which is refused otherwise


@needs_compiler
def test_a_bound_launch_changes_its_scalars(launcher: CupyLauncher) -> None:
    args = arguments(7)
    launch = launcher.bind(FIRST, dict(reversed(args.items())))
    for grid, changed, added in ((2, {}, 7), (3, {"n": 192}, 192), (0, {"n": 9}, 0), (1, {}, 9), (1, {"n": 100}, 64)):
        before = args["out"].get()[0]
        launch(grid, **changed)
        assert args["out"].get()[0] - before == added
    assert launch.resident == 16
    assert (launch.threads, launch.blocks(65), launch.blocks(10**9)) == (64, 2, 16)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"x": 0}, f"{FIRST} takes x, out, n, got x"),
        ({**arguments(), "more": 2}, f"{FIRST} takes x, out, n, got x, out, n, more"),
        ({**arguments(), "out": strict_cupy.zeros(1, np.int64)}, "out: expected an array of uint64, got int64"),
        ({**arguments(), "x": strict_cupy.zeros(8, np.uint32)[::2]}, "x: .* got a strided view"),
        ({**arguments(), "x": np.zeros(4, np.uint32)}, "x: expected a .* of uint32, got ndarray"),
        *((arguments(n), "n: expected 0 to 4294967295") for n in (2**32, -1)),
        ({**arguments(), "n": 4.0}, "n: expected an integer .* got float"),
    ],
)
def test_arguments_are_checked_where_they_are_bound(launcher: CupyLauncher, args: dict[str, object], message: str) -> None:
    with pytest.raises(KernelArgumentError, match=message):
        launcher.bind(FIRST, args)


@needs_compiler
def test_a_changed_scalar_is_checked(launcher: CupyLauncher, cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    launch = launcher.bind(FIRST, arguments())
    with pytest.raises(KernelArgumentError, match=rf"{FIRST}, n: expected 0 to 4294967295 \(uint32\), got 4294967296"):
        launch(1, n=2**32)
    for name in ("out", "size"):
        with pytest.raises(KernelArgumentError, match=f"{FIRST} takes no scalar '{name}'"):
            launch(1, **{name: 1})

    def refuse(*_: object) -> None:
        raise RuntimeError("CUDA_ERROR_INVALID_VALUE:\n invalid argument")

    monkeypatch.setattr(cupy.cuda, "queue", refuse)
    with pytest.raises(BackendError, match=rf"^kernel {FIRST}: the device refused \(CUDA_ERROR_INVALID_VALUE: invalid arg"):
        launch(1)


@needs_compiler
def test_recorded_launches_are_made_again_in_order(launcher: CupyLauncher, cupy: Any) -> None:
    """On the default stream, on which all wait for one another: the emulated one refuses launches on others."""
    args = arguments()
    first, second = (launcher.bind(name, args, shared_bytes=512) for name in (FIRST, SECOND))

    def queue() -> None:
        for number in (3, 4, 5):
            first(1, n=number)
        second(1, n=20)

    again = launcher.record(queue)
    assert not cupy.of_tests.launched
    again()
    first(1, n=100)
    again()
    graph = [FIRST, FIRST, FIRST, SECOND]
    assert cupy.of_tests.launched == [*graph, FIRST, *graph]
    assert args["out"].get() == [2 * (3 + 4 + 5 + 20) + 64]


def test_arrays_are_copied_to_the_host_beside_the_kernels(launcher: CupyLauncher, cupy: Any) -> None:
    """A copy waits for the kernels so far, runs on a stream of its own into page-locked memory, and is there once waited for.

    The emulated stream refuses a copy that does not wait, and one of memory that is free by then.
    """
    arrays = [strict_cupy.asarray(np.arange(6, dtype=np.uint32).reshape(2, 3) + number) for number in range(2)]
    sources = [weakref.ref(array) for array in arrays]
    cupy.cuda.queue(int)
    later = [launcher.start_copy_to_host(arrays.pop(0)) for _ in range(2)]
    for number, arrived in enumerate(later):
        copied = arrived()
        assert copied.tolist() == [[number, number + 1, number + 2], [number + 3, number + 4, number + 5]]
        assert isinstance(copied.base.base.obj, cupy.cuda.alloc_pinned_memory)
    assert [source() for source in sources] == [None, None]  # whose memory may be used again


def test_a_copy_is_waited_for_where_it_was_queued(launcher: CupyLauncher, cupy: Any) -> None:
    """And not by what happens to be waited for beside it: a later copy may still be under way."""
    arrays = [strict_cupy.asarray(np.full(3, number)) for number in (1, 2)]
    first, second = map(launcher.start_copy_to_host, arrays)
    assert first().tolist() == [1, 1, 1]
    arrays[1].fill(3)  # which the second copy, not done yet, reads
    assert second().tolist() == [3, 3, 3]


@needs_compiler
def test_a_launcher_works_on_its_device_whichever_is_current(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The emulated device refuses kernels, graphs and copies of another device than the current one."""
    launcher, args = CupyLauncher(TABLE, SOURCES, number=1), arguments(7)
    assert cupy.cuda.Device().id == 1
    monkeypatch.setattr(cupy.cuda.runtime, "memGetInfo", lambda: (100 + cupy.cuda.Device().id, 200))
    for current in (0, 1):
        cupy.cuda.Device(current).use()
        launch = launcher.bind(FIRST, args)
        again = launcher.record(partial(launch, 1))
        cupy.cuda.Device(1 - current).use()
        launch(1)
        again()
        assert launcher.free_memory() == 101 + cupy.get_default_memory_pool().free_bytes()
        copied = launcher.start_copy_to_host(args["out"])
        assert copied() == args["out"].get() == [14 * (1 + current)]
        assert cupy.cuda.Device().id == 1 - current


@needs_compiler
def test_a_grid_has_more_than_65535_blocks(launcher: CupyLauncher, cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cupy.of_tests.parts, FIRST, slice(2**18, None))  # of the blocks, as the others would take long
    x = strict_cupy.zeros(2**24 + 64, np.uint32)
    x[-64:] = 1
    args = {"x": x, "out": strict_cupy.zeros(1, np.uint64), "n": x.size}
    launcher.bind(FIRST, args)(2**18 + 1)
    assert args["out"].get() == [64]


def test_what_the_device_has(launcher: CupyLauncher) -> None:
    assert launcher.shared_limit == 64 * 1024
    assert launcher.compute_capability == "9.0"


def test_a_compile_failure_is_one_sentence(launcher: CupyLauncher, cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        message = 'cuda/two.cu(3): error: identifier "x" is undefined\n  x;\n  ^\n1 error'
        raise cupy.cuda.compiler.CompileException(message)

    monkeypatch.setattr(cupy.RawModule, "compile", fail)
    with pytest.raises(BackendError, match=r"^cuda/seeded_bugs\.cu does not compile .*: cuda/two\.cu\(3\): error: .*undefined$"):
        launcher.bind(FIRST, arguments())


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
