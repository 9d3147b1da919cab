"""The arrays of the emulated launches have CuPy's manners: the same tests, on them and, marked gpu, on CuPy itself."""

import operator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gpu_nim.model.errors import BackendError, MissingDependency
from tests import strict_cupy
from tests.strict_cupy import NEEDS, Need


@pytest.fixture(params=["strict", pytest.param("cupy", marks=pytest.mark.gpu)])
def xp(request: pytest.FixtureRequest) -> ModuleType:
    """An array module with CuPy's manners."""
    if request.param == "strict":
        return strict_cupy
    from gpu_nim.backends.cuda import CupyLauncher

    try:
        return CupyLauncher().xp
    except (BackendError, MissingDependency) as reason:
        pytest.skip(f"no CUDA device: {reason}")


HOST = np.array([[5, 3, 1], [2, 2, 4]], np.uint32)


def test_only_get_and_asnumpy_copy_to_the_host(xp: ModuleType) -> None:
    array = xp.asarray(HOST)
    for copy in (array.get(), xp.asnumpy(array)):
        assert type(copy) is np.ndarray
        assert copy.dtype == HOST.dtype
        assert (copy == HOST).all()
    for convert in (np.asarray, np.array):
        with pytest.raises(TypeError):
            convert(array)


def test_device_memory_is_memory_of_its_own(xp: ModuleType) -> None:
    source = HOST.copy()
    array = xp.asarray(source)
    source[:] = 0
    back = array.get()
    back[:] = 1
    assert (array.get() == HOST).all()


def test_get_writes_into_an_array_of_the_same_kind(xp: ModuleType) -> None:
    array, out = xp.asarray(HOST), np.zeros_like(HOST)
    assert array.get(out=out) is out
    assert (out == HOST).all()
    for wrong, error in (
        (np.zeros(HOST.shape, np.int64), TypeError),
        (np.zeros(3, np.uint32), ValueError),
        (xp.zeros_like(array), TypeError),
        (np.zeros((2, 6), np.uint32)[:, ::2], RuntimeError),
    ):
        with pytest.raises(error):
            array.get(out=wrong)


def test_set_copies_to_the_device(xp: ModuleType) -> None:
    array = xp.zeros((2, 3), np.uint32)
    array.set(HOST)
    array[:1].set(HOST[1:])
    assert array.get().tolist() == [[2, 2, 4], [2, 2, 4]]
    for wrong, error in (([[1]], TypeError), (HOST.astype(np.int64), TypeError), (HOST[:1], ValueError)):
        with pytest.raises(error):
            array.set(wrong)
    with pytest.raises(RuntimeError):
        array[:, ::2].set(HOST[:, ::2])


@pytest.mark.parametrize("operation", [operator.add, operator.mul, operator.eq, operator.lt, operator.and_, operator.iadd])
def test_a_numpy_array_is_no_operand(xp: ModuleType, operation: Any) -> None:
    with pytest.raises(TypeError):
        operation(xp.asarray(HOST), HOST)
    with pytest.raises(TypeError):
        operation(HOST.copy(), xp.asarray(HOST))


@pytest.mark.parametrize("value", [np.ones(3, np.uint32), [1, 2, 3], (1, 2, 3)])
def test_only_scalars_and_device_arrays_are_assigned(xp: ModuleType, value: Any) -> None:
    array = xp.zeros((2, 3), np.uint32)
    with pytest.raises(ValueError, match="non-scalar"):
        array[0] = value
    array[0], array[1], array[:, 2] = np.uint32(7), xp.asarray(np.arange(3, dtype=np.uint32)), np.array(9)
    assert array.get().tolist() == [[7, 7, 9], [0, 1, 9]]


def test_scalars_are_operands(xp: ModuleType) -> None:
    array = xp.asarray(HOST)
    assert ((array * 2 + np.uint32(1)) % 4 >> 1).get().tolist() == ((HOST * 2 + 1) % 4 >> 1).tolist()
    assert (100 - array).get().dtype == np.uint32
    quotient, rest = xp.divmod(array, 2)
    assert (quotient * 2 + rest).get().tolist() == HOST.tolist()


def test_reductions_and_elements_stay_on_the_device(xp: ModuleType) -> None:
    array = xp.asarray(HOST)
    for result, value in ((array.sum(), 17), (array.max(), 5), (array.min(), 1), (array[1, 2], 4), ((array > 9).any(), False)):
        assert isinstance(result, xp.ndarray)
        assert result.shape == ()
        assert result.item() == value
        assert int(result) == value
    assert array.sum(axis=1).get().tolist() == [9, 8]
    assert array.sum().dtype == np.uint64
    assert (array > 1).all(axis=1).get().tolist() == [False, True]


def test_a_device_array_is_no_index_of_the_host(xp: ModuleType) -> None:
    array = xp.asarray(HOST)
    with pytest.raises(TypeError):
        operator.index(array[0, 0])
    with pytest.raises(TypeError):
        array[: array[0, 1]]
    with pytest.raises(TypeError):
        range(array[0, 1])


def test_the_truth_of_many_elements_is_ambiguous(xp: ModuleType) -> None:
    assert xp.asarray(HOST)[:1, :1]
    with pytest.raises(ValueError, match="ambiguous"):
        bool(xp.asarray(HOST))


def test_slices_are_views_and_selections_are_copies(xp: ModuleType) -> None:
    array = xp.asarray(HOST)
    view, element, turned = array[:, 1:], array[1, 2], array.T
    chosen, kept = array[xp.asarray(np.array([1]))], array[array > 2]
    array.fill(0)
    assert [part.get().any() for part in (view, element, turned, chosen, kept)] == [False, False, False, True, True]
    assert kept.get().tolist() == [5, 3, 4]
    assert chosen.get().tolist() == [[2, 2, 4]]


def test_scattered_assignments(xp: ModuleType) -> None:
    array = xp.asarray(HOST.reshape(-1))
    array[xp.asarray(np.array([4, 0]))] = xp.asarray(np.array([8, 9], np.uint32))
    array[array == 1] = 6
    assert array.get().tolist() == [9, 3, 6, 2, 8, 4]


def test_flags_and_addresses(xp: ModuleType) -> None:
    array = xp.asarray(HOST)
    assert array.flags.c_contiguous
    assert not array.T.flags.c_contiguous
    assert not hasattr(array.flags, "writeable")
    assert array[1:].data.ptr == array.data.ptr + array.strides[0]
    assert (array.nbytes, array.itemsize, array.ndim, len(array)) == (24, 4, 2, 2)


def test_only_contiguous_arrays_are_sorted(xp: ModuleType) -> None:
    array = xp.asarray(np.array([3, 1, 2, 0], np.uint64))
    array[:3].sort()
    assert array.get().tolist() == [1, 2, 3, 0]
    with pytest.raises(NotImplementedError):
        array[::2].sort()


def test_numpys_functions_are_those_of_the_device(xp: ModuleType) -> None:
    array = xp.asarray(HOST)
    assert isinstance(np.abs(array), xp.ndarray)
    assert xp.asnumpy(np.ones_like(array[:, 0], dtype=np.bool_)).tolist() == [True, True]
    assert xp.asnumpy(np.stack([array[:, 0], array[:, 1]], axis=1)).tolist() == [[5, 3], [2, 2]]
    assert np.concatenate([array, array]).shape == (4, 3)
    with pytest.raises(TypeError):
        np.stack([array, HOST])


def test_objects_have_no_place_on_the_device(xp: ModuleType) -> None:
    with pytest.raises(ValueError, match="Unsupported dtype object"):
        xp.asarray(np.array([1 << 70]))


def test_an_unknown_function_does_not_exist(xp: ModuleType) -> None:
    with pytest.raises(AttributeError):
        xp.lexsort_of_no_library  # noqa: B018


# Where these arrays are stricter than CuPy.


def test_fresh_memory_holds_garbage() -> None:
    assert strict_cupy.empty(2, np.uint32).get().tolist() == [0xA5A5A5A5] * 2


@pytest.mark.parametrize("walk", [iter, list, sum, lambda array: max(*array)])
def test_nobody_iterates(walk: Any) -> None:
    with pytest.raises(TypeError, match="iterating over a device array"):
        walk(strict_cupy.asarray(HOST))


def test_several_values_for_one_place() -> None:
    array = strict_cupy.zeros(3, np.uint32)
    twice = strict_cupy.asarray(np.array([1, 1]))
    with pytest.raises(ValueError, match="undefined in CuPy"):
        array[twice] = strict_cupy.asarray(np.array([5, 6], np.uint32))
    array[twice] = 5
    assert array.get().tolist() == [0, 5, 0]


def test_places_are_within_the_array_and_on_the_device() -> None:
    array = strict_cupy.zeros(3, np.uint32)
    with pytest.raises(IndexError):
        array[strict_cupy.asarray(np.array([3]))]
    for place in (np.array([1]), [1]):
        with pytest.raises(TypeError, match="use `asarray`"):
            array[place]


def test_products_of_matrices_need_a_library_that_no_extra_installs() -> None:
    array = strict_cupy.asarray(HOST)
    with pytest.raises(ImportError, match="cuBLAS"):
        array @ array.T
    for name in ("dot", "matmul", "einsum", "tensordot", "linalg", "random", "fft"):
        with pytest.raises(AttributeError, match=name):
            getattr(strict_cupy, name)


def test_while_launches_are_captured_there_is_nothing_but_launches() -> None:
    array = strict_cupy.asarray(HOST)
    with strict_cupy.capturing():
        assert array[1:].shape == (1, 3)
        for other in (array.get, lambda: strict_cupy.zeros(1), lambda: array + 1, lambda: array[:1].fill(0)):
            with pytest.raises(RuntimeError, match="not permitted when stream is capturing"):
                other()
    assert array.get().any()


# What is recorded of them.


@pytest.mark.parametrize(
    ("work", "need"),
    [
        (lambda a: a[1:].reshape(3).view(np.int32), Need.VIEW),
        (lambda a: strict_cupy.zeros_like(a), Need.MEMORY),
        (lambda a: a.get(), Need.MEMORY),
        (lambda a: a[:1].set(HOST[:1]), Need.MEMORY),
        (lambda a: a.fill(0), Need.MEMORY),
        (lambda a: operator.setitem(a, slice(0, 1), a[1:]), Need.MEMORY),
        (lambda a: a.reshape(-1).sort(), Need.PRECOMPILED),
        (lambda a: a.fill(1), Need.KERNEL),
        (lambda a: operator.setitem(a, 0, 1), Need.KERNEL),
        (lambda a: operator.setitem(a, slice(None), a[0]), Need.KERNEL),
        (lambda a: operator.setitem(a, slice(0, 1), a[1:].astype(np.int64)), Need.KERNEL),
        (lambda a: a.T.get(), Need.KERNEL),
        (lambda a: a.T.reshape(-1), Need.KERNEL),
        (lambda a: a + 1, Need.KERNEL),
        (lambda a: a.sum(), Need.KERNEL),
        (lambda a: a[a > 0], Need.KERNEL),
        (lambda a: strict_cupy.asarray(3), Need.KERNEL),
        (lambda a: strict_cupy.full(3, 1), Need.KERNEL),
    ],
)
def test_the_most_that_was_needed(work: Any, need: Need) -> None:
    array = strict_cupy.asarray(HOST)
    with strict_cupy.recorded() as calls:
        work(array)
    order = list(Need)
    assert max((used for _, used in calls), key=order.index) is need


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
