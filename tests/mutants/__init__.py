"""Planted faults: each is a change of one place in the sources, and names the statement or the test that has to notice it.

`faults.toml` has them by the changed file, each with the fields of `Mutant`.

Faults are planted in this process: the code of the functions that differ between the text of a module and its changed text is
exchanged, wherever these functions are referred to, and given back afterwards. So a fault costs no more than the check that
notices it. Kernels are compiled from a changed copy of `cuda/`.

Tools that make mutants, such as mutmut and cosmic-ray, change operators everywhere and start a test run for each change: hours
here, and most of what survives changes nothing that can be observed. These faults are chosen, so that each breaks what a check
claims to hold.
"""

from __future__ import annotations

import functools
import gc
import shutil
import sys
import tomllib
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

from gpu_nim.papers import find_statements, run_checks

_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mutant:
    """A fault.

    Attributes:
        file: the changed file: of the package, or a kernel's.
        found: what is replaced, which is there once.
        planted: what stands there instead.
        killed_by: a statement of `gpunim verify`, or a test as pytest names it; it must fail.
        upto: the reach of the statement's check.
    """

    file: str
    found: str
    planted: str
    killed_by: str
    upto: int = 8

    @property
    def path(self) -> Path:
        """The changed file."""
        return _ROOT / ("" if self.file.startswith("cuda/") else "gpu_nim") / self.file

    def changed(self) -> tuple[str, str]:
        """The text of the file, without the fault and with it."""
        text = self.path.read_text()
        times = text.count(self.found)
        assert times == 1, f"{self.file} must have {self.found!r} once, and has it {times} times: mend or replace the mutant"
        return text, text.replace(self.found, self.planted)

    def __str__(self) -> str:
        return f"{self.file}: {' '.join(self.planted.split())[:60] or 'nothing'}"


_FAULTS = tomllib.loads(Path(__file__).with_name("faults.toml").read_text(encoding="utf-8"))
MUTANTS = [Mutant(file, **fault) for file, faults in _FAULTS.items() for fault in faults]


def is_noticed(mutant: Mutant) -> bool:
    """Whether what has to notice the fault fails, as things are."""
    if "::" in mutant.killed_by:
        plugins = ("xdist", "cacheprovider", "faulthandler", "unraisableexception", "threadexception")
        without = [word for plugin in plugins for word in ("-p", f"no:{plugin}")]
        status = pytest.main(["-q", "--no-header", "--tb=no", "-m", "", *without, str(_ROOT / mutant.killed_by)])
        assert status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED), f"{mutant.killed_by} did not run: {status!r}"
        return status is pytest.ExitCode.TESTS_FAILED
    return any(not checked.holds for checked in run_checks(find_statements([mutant.killed_by]), mutant.upto))


@contextmanager
def planted(mutant: Mutant, scratch: Path) -> Iterator[None]:
    """Plant the fault for a while; a kernel's in a copy in the folder `scratch`."""
    with _planted_kernel(mutant, scratch) if mutant.path.suffix == ".cu" else _planted_functions(mutant):
        yield


@contextmanager
def _planted_kernel(mutant: Mutant, scratch: Path) -> Iterator[None]:
    sources = scratch / "cuda"
    shutil.copytree(mutant.path.parent, sources)
    (sources / mutant.path.name).write_text(mutant.changed()[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.cuda_host.cuda_host.cuda_directory", lambda: sources)
        yield


@contextmanager
def _planted_functions(mutant: Mutant) -> Iterator[None]:
    whole, broken = (compile(text, str(mutant.path), "exec", dont_inherit=True) for text in mutant.changed())
    import_module(f"gpu_nim.{mutant.file.removesuffix('.py').replace('/', '.')}")
    exchanged = {_place(old): new for old, new in _differing(whole, broken)}
    functions, caches = _of_package(sum(name.startswith("gpu_nim.") for name in sys.modules))
    live = [function for function in functions if _place(function.__code__) in exchanged]
    assert live, f"{mutant}: no function differs, so that nothing is planted"
    codes = [(function, function.__code__) for function in live]
    try:
        for function, code in codes:
            function.__code__ = exchanged[_place(code)]
        for cache in caches:  # values that were computed without the fault, or with it, are no more to be had
            cache.cache_clear()
        yield
    finally:
        for function, code in codes:
            function.__code__ = code
        for cache in caches:
            cache.cache_clear()


@functools.cache
def _of_package(modules: int) -> tuple[list[types.FunctionType], list[functools._lru_cache_wrapper[object]]]:
    """All functions and caches of the package, once this many of its modules are imported: objects number millions."""
    functions, caches = [], []
    for each in gc.get_objects():
        if type(each) is types.FunctionType and each.__code__.co_filename.startswith(str(_ROOT / "gpu_nim")):
            functions.append(each)
        elif type(each) is functools._lru_cache_wrapper and str(each.__module__).startswith("gpu_nim."):
            caches.append(each)
    return functions, caches


def _place(code: types.CodeType) -> tuple[str, int, str]:
    return code.co_filename, code.co_firstlineno, code.co_name


def _differing(old: types.CodeType, new: types.CodeType) -> Iterator[tuple[types.CodeType, types.CodeType]]:
    """The functions of two texts of a module that differ, and those that hold one."""
    inner = [[each for each in code.co_consts if isinstance(each, types.CodeType)] for code in (old, new)]
    for one, other in zip(*inner, strict=True):
        if one != other:
            yield one, other
            yield from _differing(one, other)
