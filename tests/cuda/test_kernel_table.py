"""The kernel table against the kernels: the C++ signatures, the files, and the text that is handed to the compiler."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpu_nim.backends.cuda.table import KERNELS, Kernel, cuda_directory, cuda_source, read_constants, read_kernels
from gpu_nim.model.rule import MAX_DIMENSION
from tests.cuda_host import HostLauncher, compiler, signatures


@pytest.mark.skipif(compiler() is None, reason="kernels cannot be compiled: no g++ (or $CXX)")
def test_the_table_states_the_cpp_signatures() -> None:
    assert signatures(HostLauncher()) == {name: kernel.params for name, kernel in KERNELS.items()}


@pytest.mark.parametrize("file", sorted(Path(str(cuda_directory())).glob("*.cu")), ids=lambda file: file.name)
def test_no_kernel_is_overlooked(file: Path) -> None:
    written = re.sub(r"//[^\n]*", "", file.read_text()).count("__global__")
    assert sum(kernel.source == file.name for kernel in KERNELS.values()) == written > 0


def test_every_parameter_has_a_name_and_every_kernel_its_block() -> None:
    for name, kernel in KERNELS.items():
        assert len(set(kernel.names)) == len(kernel.params), name
        assert all(kernel.names), name
        assert kernel.threads % 32 == 0 < kernel.threads <= 1024, name


def test_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "two.cu").write_text("""
// extern "C" __global__ void commented_out(u32* out) {
constexpr u32 WIDTH = 2 * 32;
extern "C" __global__ void
__launch_bounds__(WIDTH, 4)
first(const u64* __restrict__ from, [[maybe_unused]] u16* to,
      i64 shift /* , u32 skipped */, u8 last) {
}
extern "C" __global__ void second() {}
""")
    (tmp_path / "later.cuh").write_text('extern "C" __global__ void header(double x) {}')
    assert read_kernels(tmp_path) == {
        "first": Kernel("two.cu", ("*cu8", "*u2", "i8", "u1"), ("from", "to", "shift", "last"), 64),
        "second": Kernel("two.cu", ()),
    }


@pytest.mark.parametrize("parameter", ["double x", "u32** x", "unsigned x", "u32& x"])
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


@pytest.mark.parametrize("source", [*sorted({kernel.source for kernel in KERNELS.values()}), "common.cuh"])
def test_sources_are_whole(source: str) -> None:
    text = cuda_source(source)
    assert not re.search(r'^\s*#\s*include\s+"', text, re.MULTILINE)
    assert "#pragma once" not in text
    assert text.count('#line 1 "cuda/common.cuh"') == 1
