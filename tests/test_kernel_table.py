"""The kernel table against the kernels: the C++ signatures, the files, and the text that is handed to the compiler."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpu_nim.backends.cuda.sources import cuda_directory, cuda_source
from gpu_nim.backends.cuda.table import KERNELS, kernels_of
from tests.cuda_host import HostLauncher, compiler, signatures

_ENTRY = re.compile(r'extern "C" __global__\s+(?:void\s+)?(?:__launch_bounds__\([^)]*\)\s*)?(?:void\s+)?(\w+)\s*\(')


@pytest.mark.skipif(compiler() is None, reason="kernels cannot be compiled: no g++ (or $CXX)")
def test_the_table_states_the_cpp_signatures() -> None:
    assert signatures(HostLauncher()) == {name: kernel.params for name, kernel in KERNELS.items()}


def test_the_table_lists_every_kernel() -> None:
    files = sorted(path.name for path in Path(str(cuda_directory())).glob("*.cu"))
    written = {name: tuple(sorted(_ENTRY.findall(cuda_source(name)))) for name in files}
    assert {name: tuple(sorted(kernels_of(name))) for name in files} == written
    assert {kernel.source for kernel in KERNELS.values()} <= set(files)


@pytest.mark.parametrize("source", [*sorted({kernel.source for kernel in KERNELS.values()}), "common.cuh"])
def test_sources_are_whole(source: str) -> None:
    text = cuda_source(source)
    assert not re.search(r'^\s*#\s*include\s+"', text, re.MULTILINE)
    assert "#pragma once" not in text
    assert text.count('#line 1 "cuda/common.cuh"') == 1
