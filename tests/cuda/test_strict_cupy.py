"""The arrays of the emulated launches have CuPy's manners: the same tests, on them and, marked gpu, on CuPy itself."""

import operator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gpu_nim.backends.cuda.launcher import Launcher
from tests import strict_cupy
from tests.strict_cupy import NEEDS


@pytest.fixture
def xp(launcher: Launcher) -> ModuleType:
    """An array module with CuPy's manners."""
    return launcher.xp


HOST = np.array([[5, 3, 1], [2, 2, 4]], np.uint32)


WORDS = HOST.reshape(-1)


@pytest.mark.parametrize(
    ("work", "error"),
    [
        *((lambda xp, convert=convert: convert(xp.asarray(HOST)), TypeError) for convert in (np.asarray, np.array)),
        # A NumPy array is no operand.
        *(
            (lambda xp, operation=operation, swap=swap: operation(*(xp.asarray(HOST), HOST.copy())[::swap]), TypeError)
            for operation in (operator.add, operator.mul, operator.eq, operator.lt, operator.and_, operator.iadd)
            for swap in (1, -1)
        ),
        (lambda xp: np.stack([xp.asarray(HOST), HOST]), TypeError),
        # Only scalars and arrays of the device are assigned.
        *(
            (lambda xp, value=value: operator.setitem(xp.zeros((2, 3), "u4"), 0, value), ValueError)
            for value in (np.ones(3), [1, 2, 3])
        ),
        # No element is an index of the host.
        (lambda xp: operator.index(xp.asarray(HOST)[0, 0]), TypeError),
        (lambda xp: xp.asarray(HOST)[: xp.asarray(HOST)[0, 1]], TypeError),
        (lambda xp: range(xp.asarray(HOST)[0, 1]), TypeError),
        (lambda xp: bool(xp.asarray(HOST)), ValueError),
        # `get` and `set` copy between arrays of one kind.
        (lambda xp: xp.asarray(HOST).get(out=np.zeros(HOST.shape, np.int64)), TypeError),
        (lambda xp: xp.asarray(HOST).get(out=np.zeros(3, np.uint32)), ValueError),
        (lambda xp: xp.asarray(HOST).get(out=xp.zeros((2, 3), np.uint32)), TypeError),
        (lambda xp: xp.asarray(HOST).get(out=np.zeros((2, 6), np.uint32)[:, ::2]), RuntimeError),
        (lambda xp: xp.asarray(HOST).set([[1]]), TypeError),
        (lambda xp: xp.asarray(HOST).set(HOST.astype(np.int64)), TypeError),
        (lambda xp: xp.asarray(HOST).set(HOST[:1]), ValueError),
        (lambda xp: xp.asarray(HOST)[:, ::2].set(HOST[:, ::2]), RuntimeError),
        (lambda xp: xp.asarray(WORDS)[::2].sort(), NotImplementedError),
        (lambda xp: xp.asarray(np.array([1 << 70])), ValueError),
        (lambda xp: xp.lexsort_of_no_library, AttributeError),
    ],
)
def test_what_arrays_refuse(xp: ModuleType, work: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        work(xp)


def test_device_memory_is_memory_of_its_own(xp: ModuleType) -> None:
    source = HOST.copy()
    array = xp.asarray(source)
    source[:] = 0
    back = array.get()
    back[:] = 1
    assert (array.get() == HOST).all()
    out = np.zeros_like(HOST)
    assert array.get(out=out) is out
    assert (out == HOST).all()


def test_slices_are_views_and_selections_are_copies(xp: ModuleType) -> None:
    array = xp.asarray(HOST)
    view, element, turned = array[:, 1:], array[1, 2], array.T
    chosen, kept = array[xp.asarray(np.array([1]))], array[array > 2]
    array.fill(0)
    assert [part.get().any() for part in (view, element, turned, chosen, kept)] == [False, False, False, True, True]
    assert kept.get().tolist() == [5, 3, 4]
    assert chosen.get().tolist() == [[2, 2, 4]]


def test_every_function_is_cupys() -> None:
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed: its extra brings it, and no GPU is needed")
    assert int(cupy.__version__.split(".")[0]) >= 14
    for name in NEEDS:
        owner, _, attribute = name.rpartition(".")
        assert hasattr(cupy.ndarray if owner else cupy, attribute), name
    known = {name for name in vars(strict_cupy.ndarray) if not name.startswith("_")}
    assert known <= set(dir(cupy.ndarray))
    assert not hasattr(cupy.ndarray, "__index__")


def test_nothing_works_that_is_not_listed() -> None:
    public = {name for name in vars(strict_cupy.ndarray) if not name.startswith("_")}
    facts = {"data", "dtype", "flags", "itemsize", "nbytes", "ndim", "shape", "size", "strides"}
    assert {f"ndarray.{name}" for name in public - facts} <= set(NEEDS)
