"""The counting kernels against NumPy's engine, single values of the sequences, and Python integers; on the CPU and on a device."""

import re
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_nim.backends.cuda import CudaBackend, counting
from gpu_nim.backends.cuda import launcher as launcher_module
from gpu_nim.backends.cuda.counting import CudaCounting
from gpu_nim.backends.cuda.launcher import copy_to_host, to_host
from gpu_nim.backends.cuda.table import KERNELS, Launch
from gpu_nim.backends.host_counting import HostCounting
from gpu_nim.counting.families import find_family
from gpu_nim.counting.ranges import Range
from gpu_nim.jobs.count_job import count
from gpu_nim.model.arrays import to_integers
from gpu_nim.model.errors import UsageError
from tests.counting.test_sequences import check_product, exact, products
from tests.cuda_host import HostLauncher, compiler

HOST = HostCounting(threads=1)

# A launcher keeps nothing between launches, so examples may share one.
examples = settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])

sequences = st.builds(find_family, st.sampled_from("DAda"), st.integers(1, 12))


@st.composite
def ranges(draw):
    """Starts of every kind: small, on either side of 2^32, 2^63 and 2^64, and far out; sizes that end in mid-block."""
    near = draw(st.sampled_from([0, 2**10, 2**32, 2**40, 2**63, 2**64, 10**18]))
    start = max(0, near + draw(st.integers(-40, 40)))
    return start, start + draw(st.integers(1, 300))


# Threads a block and blocks at once: few, so that each has several items of work, and as many as there are.
grids = st.sampled_from([(32, 4), (KERNELS["count_fill"].threads, 32)])


@contextmanager
def cut(grid, **constants):
    """Inside, the engine launches this grid and cuts its work by these constants."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in constants.items():
            patch.setattr(CudaCounting, name, value)
        for name in filter(re.compile("count_").match, KERNELS):
            patch.setitem(KERNELS, name, replace(KERNELS[name], threads=grid[0]))
        patch.setattr(HostLauncher, "resident", grid[1])
        yield


@examples
@given(counts=sequences, span=ranges())
def test_ranges_equal_those_of_the_host(launcher, counts, span):
    assert np.array_equal(*(Range(counts, *span, engine).values() for engine in (CudaCounting(launcher), HOST)))


@pytest.mark.parametrize(("name", "piles"), [("D", 3), ("D", 4), ("D", 6), ("A", 3), ("d", 3), ("a", 4)])
def test_straddles_the_64_bit_bound(backend, name, piles):
    counts = find_family(name, piles)
    low, high = 0, 1
    while Range(counts, 0, high, HOST).limbs == 1:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if Range(counts, 0, middle, HOST).limbs == 1 else (low, middle)
    # 0:low fits 64 bits and 0:high does not.
    engine = backend.counting()
    for start, stop, limbs in ((low - 37, low, 1), (low - 37, low + 90, 2)):
        values = Range(counts, start, stop, engine)
        assert values.limbs == limbs
        assert to_integers(values.values()) == [counts.value(n) for n in range(start, stop)]


def facts(lengths):
    return lengths.total, lengths.counts.tolist()


# 8704 residues are the most that shared memory is given.
moduli = st.sampled_from([1, 2, 3, 64, 1000, 8704, 8705, 2**16 + 1, 2**20 + 7])
counted = st.sampled_from([1, 50, 1 << 31])
runs = st.sampled_from([1, 2, 8])


def check_kernels(launcher, product, modulus, grid, counted, run, piece):
    """Compare what kernels make and count of a product's values with the values themselves."""
    limbs, columns, rows, skip, size = product
    with cut(grid, counted=counted, least_run=run), pytest.MonkeyPatch.context() as patch:
        patch.setattr(launcher_module, "PIECE", 8 * piece)
        engine = CudaCounting(launcher)
        check_product(engine, product, modulus)
        values = engine.values(engine.table(columns, limbs), rows, skip, size)
    assert isinstance(values, launcher.xp.ndarray)
    assert (values.dtype, values.shape) == (np.uint64, (size, limbs)[:limbs])
    assert to_integers(to_host(values)) == exact(product)


@examples
@given(product=products(), modulus=moduli, grid=grids, counted=counted, run=runs, piece=st.integers(1, 64))
def test_values_and_their_counts_are_exact(launcher, product, modulus, grid, counted, run, piece):
    check_kernels(launcher, product, modulus, grid, counted, run, piece)


# The kernels for a dimension are compiled from the same text: one is for every run.
compiled_for = [
    pytest.param(d, marks=[] if d == 2 else [pytest.mark.nightly, pytest.mark.larger]) for d in range(1, counting._MAX_COMPILED + 1)
]


@pytest.mark.cuda_host
@pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")
@pytest.mark.parametrize("dimension", compiled_for)
@examples
@given(data=st.data(), run=runs)
def test_kernels_compiled_for_a_dimension(dimension, data, run):
    check_kernels(HostLauncher("shuffle", 1, specialise=True), data.draw(products([dimension])), 3, (32, 4), 1 << 31, run, 64)


@pytest.mark.parametrize("size", [1, 7, 8, 9, 15, 16, 17, 25])
@pytest.mark.parametrize("limbs", [1, 2])
@pytest.mark.parametrize("skip", [0, 3])
def test_values_come_home_in_pieces_of_any_size(launcher, monkeypatch, size, limbs, skip):
    """Around one and two pieces of 8 values and beyond; a piece is copied when the last moment has come, and two at most wait."""
    monkeypatch.setattr(launcher_module, "PIECE", 64 * limbs)
    under_way = []
    start_copy_to_host = launcher.start_copy_to_host

    def watched(values):
        arrived = start_copy_to_host(values)
        under_way.append(arrived)
        assert len(under_way) <= 2
        return lambda: (under_way.remove(arrived), arrived())[1]

    monkeypatch.setattr(launcher, "start_copy_to_host", watched)
    product = limbs, np.array([[5, 1, 2**40, 3]]), np.array([[2**24 + row] for row in range(7)]), skip, size
    columns, rows = (array.astype(np.uint64 if limbs == 1 else object) for array in product[1:3])
    engine = CudaCounting(launcher)
    out = np.full(size if limbs == 1 else (size, 2), 77, np.uint64)
    engine.fill(engine.table(columns, limbs), rows, skip, out)
    assert to_integers(out) == exact(product)
    assert not under_way


def test_copies_under_way_are_waited_for_after_an_error(launcher, monkeypatch):
    monkeypatch.setattr(launcher_module, "PIECE", 8)
    waited = []
    monkeypatch.setattr(launcher, "start_copy_to_host", lambda values: lambda: waited.append(values) or to_host(values))

    def piece(first, stop):
        if first == 1:
            raise KeyboardInterrupt
        return launcher.xp.zeros(stop - first, np.uint64)

    with pytest.raises(KeyboardInterrupt):
        copy_to_host(launcher, np.zeros(5, np.uint64), piece)
    assert len(waited) == 1


@pytest.mark.parametrize(("piles", "start", "limbs"), [(3, 10**9 + 1, 1), (4, 10**18 - 9, 2), (5, 10**18 - 9, 3)])
def test_counts_stay_on_the_device(launcher, piles, start, limbs):
    """Three limbs are counted on the host, and go to the device."""
    n = range(start, start + 17)
    values = count("D", n, piles=piles, backend=CudaBackend(launcher), device=True)
    assert isinstance(values, launcher.xp.ndarray)
    assert values.shape == ((17,) if limbs == 1 else (17, limbs))
    assert to_integers(to_host(values)) == [count("D", index, piles=piles) for index in n]
    on_host = count("D", n, piles=piles, backend="numpy", device=True)
    assert np.array_equal(np.from_dlpack(on_host), to_host(values))


def test_counting_a_range_waits_once(launcher, monkeypatch):
    """All launches are queued before anything is read."""
    waits: list[int] = []
    launched: list[str] = []
    launch = Launch.__call__

    def watched(self, *arguments, **changed):
        launched.append(self._kernel)
        launch(self, *arguments, **changed)

    monkeypatch.setattr(Launch, "__call__", watched)
    monkeypatch.setattr(counting, "to_host", lambda values: waits.append(len(launched)) or to_host(values))
    counts, span = find_family("D", 3), (5, 45)
    with cut((32, 4), counted=16):
        values = Range(counts, *span, CudaCounting(launcher))
        assert facts(values.lengths(*span)) == facts(Range(counts, *span, HOST).lengths(*span))
        values.residues(*span, 7)
    assert launched == ["count_lengths"] * 3 + ["count_residues"] * 3
    assert waits == [3, 6]


@examples
@given(counts=sequences, first=st.integers(0, 2**50), size=st.integers(1, 80), data=st.data())
def test_rows_made_on_the_device_equal_those_of_the_sequence(launcher, counts, first, size, data):
    blocks = counts.blocks()
    bits, limbs = data.draw(st.integers(1, 20)), data.draw(st.sampled_from([1, 2]))
    with cut((32, 1), steps_bits=3):
        made = CudaCounting(launcher).rows(blocks, first, first + size, bits, limbs)
    expected = blocks.rows(first, first + size, bits, limbs).astype(object) & (2 ** (64 * limbs) - 1)
    on_host = to_host(made)
    assert to_integers(on_host.reshape(-1, 2) if limbs == 2 else on_host.ravel()) == expected.ravel().tolist()


@examples
@given(data=st.data())
def test_trying_equals_numpy(launcher, data):
    piles = data.draw(st.integers(1, 7))
    limit = data.draw(st.integers(0, {1: 90, 2: 90, 3: 90, 4: 17, 5: 8, 6: 4, 7: 3}[piles]))
    first = data.draw(st.integers(0, limit)) if piles > 1 else 0
    stop = data.draw(st.integers(first, limit + 1)) if piles > 1 else 1
    # Tiles that the limit cuts, and histograms that move along with them.
    engine = CudaCounting(launcher, tile_bits=data.draw(st.integers(5, 7)), whole=data.draw(st.sampled_from([0, 64, 8192])))
    with cut(data.draw(grids), tried=data.draw(st.sampled_from([1, 1 << 31]))):
        for name in ("try_totals", "try_maxima"):
            arguments = (piles, limit, first, stop)
            assert getattr(engine, name)(*arguments).tolist() == getattr(HOST, name)(*arguments).tolist()


def test_tries_no_piles_past_32_bits(launcher):
    with pytest.raises(UsageError, match=r"limit must be below 2\^32 / 4 to try 3 piles on CUDA, got 1073741824"):
        CudaCounting(launcher).try_totals(3, 2**30, 0, 1)
