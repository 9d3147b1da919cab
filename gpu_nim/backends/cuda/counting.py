"""Counting on CUDA (`cuda/counting.cu`): values of one or two limbs on the device, longer ones on the host.

A table stays on the device; the rows of a long range are made there from one row for 2^t blocks. Values that are stored come
back a slice at a time; surveys and enumerations bring back a histogram and a few words a block.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.launcher import Launcher, device_memory_errors, to_host
from gpu_nim.backends.interface import Rows, Summary
from gpu_nim.backends.shared.host_ranges import HostRanges
from gpu_nim.backends.shared.host_ranges import Table as HostTable
from gpu_nim.model.errors import UsageError
from gpu_nim.model.limbs import U64, Integers, to_limbs

_BLOCK = 256  # THREADS of cuda/counting.cu
_WAVES = 16  # items a thread: few, so that columns are read seldom, and enough for all to end together
_LEAST_RUN = 8
_RESIDENT = 8  # blocks that a multiprocessor holds of any of these kernels, at the most

_BLOCK_BITS = {1: 16, 2: 12}  # by limbs; wide columns are made of Python integers
_MAX_ENTRIES = 1 << 21  # of a table: it should stay in L2
_STEPS_BITS = 10  # rows made of one on the device: 2^10
_MAX_STEPS = 1 << 20  # entries of all their matrices

_CHUNK = 1 << 36  # values or tuples
_FILLED = 1 << 26  # values in a slice that is filled and copied to the host: 512 MiB
_SURVEYED = 1 << 31  # values a launch: no counter of 32 bits can wrap
_COUNTERS = 34 << 10  # bytes of shared memory for histograms: several blocks a multiprocessor
_MAX_COPIES = 128

_TILE_BITS = 9
_WHOLE = 8192  # places of a histogram that is held whole
_TRIED = 1 << 31  # tuples that a block counts in 32 bits before it empties its histogram
_SPREAD = {"count_totals": 1, "count_maxima": 0}  # Kind::SPREAD


class DeviceTable(NamedTuple):
    """A table on the device: uint64, shape (dimension, 2^bits), and (dimension, 2^bits, 2) for two limbs."""

    columns: Any
    bits: int
    limbs: int


class DeviceRows(NamedTuple):
    """Rows on the device: uint64, shape (blocks, dimension), and (blocks, dimension, 2) for two limbs."""

    values: Any


class CudaCounting:
    """The counting engine of the CUDA backend; see `gpu_nim.backends.interface.Counting` for what each method returns.

    `tile_bits` and `whole` set how enumerations are cut up, never what they count: b and t run through tiles of
    2^tile_bits by 2^tile_bits, and a histogram of up to `whole` places is held in shared memory whole.
    """

    name = "cuda"

    def __init__(self, launcher: Launcher, *, tile_bits: int = _TILE_BITS, whole: int = _WHOLE) -> None:
        self._launch = launcher
        self._host = HostRanges()
        self._tile_bits, self._whole = tile_bits, whole

    def chunk_size(self, limbs: int) -> int:
        """Return the size of a piece of work: a fraction of a second on the device, the host's own where the host does it."""
        return _CHUNK if limbs in _BLOCK_BITS else self._host.chunk_size(limbs)

    def block_bits(self, dimension: int, limbs: int) -> int:
        """Return m, so that the table stays in the device's cache."""
        if limbs not in _BLOCK_BITS:
            return self._host.block_bits(dimension, limbs)
        return max(4, min(_BLOCK_BITS[limbs], (_MAX_ENTRIES // (dimension * limbs)).bit_length() - 1))

    def table(self, columns: Integers, limbs: int) -> DeviceTable | HostTable:
        """Take in a table, to the device up to two limbs."""
        if limbs not in _BLOCK_BITS:
            return self._host.table(columns, limbs)
        with device_memory_errors(f"a table of {columns.shape[0]} by {columns.shape[1]} entries"):
            return DeviceTable(self._upload(columns, limbs), columns.shape[1].bit_length() - 1, limbs)

    def rows(self, source: Rows, first: int, stop: int, bits: int, limbs: int) -> DeviceRows | Integers:
        """Return the rows of blocks `first` to `stop - 1`, made on the device where there are many."""
        if limbs not in _BLOCK_BITS:
            return source.rows(first, stop, bits, limbs)
        dimension = source.dimension
        inner = min(_STEPS_BITS, (_MAX_STEPS // (dimension * dimension * limbs)).bit_length() - 1)
        with device_memory_errors(f"{stop - first} rows"):
            if inner < 1 or stop - first < 2 << inner:
                return DeviceRows(self._upload(source.rows(first, stop, bits, limbs), limbs))
            coarse = self._upload(source.rows(first >> inner, ((stop - 1) >> inner) + 1, bits + inner, limbs), limbs)
            steps = self._upload(source.steps(bits + inner, bits, limbs), limbs)
            size = stop - first
            values = self._launch.xp.empty((size, *coarse.shape[1:]), np.uint64)
            skipped = first & ((1 << inner) - 1)
            self._launch(
                _kernel("count_rows", limbs),
                (self._blocks(size * dimension),),
                (_BLOCK,),
                (coarse, steps, dimension, inner, skipped, size, values),
            )
            return DeviceRows(values)

    def fill(self, table: DeviceTable | HostTable, rows: Any, skip: int, out: Any) -> None:
        """Write values `skip` to `skip + len(out) - 1`, a slice of device memory at a time, or straight into a device array."""
        if isinstance(table, HostTable):
            values = np.empty(out.shape, np.uint64)
            self._host.fill(table, rows, skip, values)
            out[...] = values if isinstance(out, np.ndarray) else self._launch.xp.asarray(values)
            return
        with device_memory_errors(f"{len(out)} values"):
            on_device = self._on_device(rows, table)
            for at in range(0, len(out), _FILLED):
                part = out[at : at + _FILLED]
                block, place = divmod(skip + at, 1 << table.bits)
                self._fill(table, on_device[block:], place, part)

    def _fill(self, table: DeviceTable, rows: Any, place: int, out: Any) -> None:
        # Stores have 16 bytes: values of one limb are written in pairs, from an even place to an even place.
        pair = 3 - table.limbs
        first, stop = place // pair, -(-(place + len(out)) // pair)
        own = isinstance(out, self._launch.xp.ndarray)
        direct = own and len(out) == pair * (stop - first) and _address(out) % 16 == 0
        target = out.reshape(-1) if direct else self._launch.xp.empty(2 * (stop - first), np.uint64)
        kernel = _kernel("count_fill", table.limbs)
        self._sweep(kernel, table, rows, table.bits - (pair - 1), first, stop - first, (target,))
        values = target[place % pair :][: len(out)] if pair == 2 else target.reshape(-1, 2)
        if not own:
            values.get(out=out)
        elif not direct:
            out[...] = values

    def survey(self, table: DeviceTable | HostTable, rows: Any, skip: int, size: int) -> Summary:
        """Survey the values, up to 2^31 a launch."""
        if isinstance(table, HostTable):
            return self._host.survey(table, rows, skip, size)
        bins = 64 * table.limbs + 1
        with device_memory_errors(f"surveying {size} values"):
            values = self._on_device(rows, table)
            surveys = []
            for at in range(0, size, _SURVEYED):
                block, place = divmod(skip + at, 1 << table.bits)
                count = min(_SURVEYED, size - at)
                grid, _ = self._plan(table.bits, place, count)
                findings = self._launch.xp.empty(8 * grid, np.uint64)
                lengths = self._launch.xp.zeros(bins, np.uint64)
                copies = _copies(bins)
                self._sweep(
                    _kernel("count_survey", table.limbs),
                    table,
                    values[block:],
                    table.bits,
                    place,
                    count,
                    (copies, findings, lengths),
                    4 * bins * copies,
                )
                surveys.append(_survey(to_host(findings).reshape(-1, 8), to_host(lengths), table.limbs, at - place))
        return _together(surveys, table.limbs)

    def residues(self, table: DeviceTable | HostTable, rows: Any, skip: int, size: int, modulus: int) -> NDArray[np.int64]:
        """Count residues, up to 2^31 values a launch: in shared memory as far as they fit it, else in L2."""
        if isinstance(table, HostTable):
            return self._host.residues(table, rows, skip, size, modulus)
        with device_memory_errors(f"residues of {size} values modulo {modulus}"):
            counts = self._launch.xp.zeros(modulus, np.uint64)
            copies = _copies(modulus)
            numbers = (modulus, ((1 << 64) - 1) // modulus, (1 << 64) % modulus, copies)
            values = self._on_device(rows, table)
            for at in range(0, size, _SURVEYED):
                block, place = divmod(skip + at, 1 << table.bits)
                self._sweep(
                    _kernel("count_residues", table.limbs),
                    table,
                    values[block:],
                    table.bits,
                    place,
                    min(_SURVEYED, size - at),
                    (*numbers, counts),
                    4 * modulus * copies,
                )
            return _int64(counts)

    def try_totals(self, piles: int, limit: int, first: int, stop: int) -> NDArray[np.int64]:
        """Try every tuple; the histogram is by half the total."""
        return self._try("count_totals", piles, limit, first, stop)

    def try_maxima(self, piles: int, limit: int, first: int, stop: int) -> NDArray[np.int64]:
        """Try every tuple; the histogram is by largest pile."""
        return self._try("count_maxima", piles, limit, first, stop)

    def _try(self, kernel: str, piles: int, limit: int, first: int, stop: int) -> NDArray[np.int64]:
        values = limit + 1
        if (piles + 1) * limit >= 1 << 32:
            raise UsageError(f"limit must be below 2^32 / {piles + 1} to try {piles} piles on CUDA, got {limit}")
        if piles == 1:  # the empty tuple alone
            return np.bincount([0], minlength=values)
        # The last free pile runs along the lanes; two piles have but one, so theirs stands beside an empty pile.
        outer = max(0, piles - 3)
        choices = (stop - first) * values ** (outer - 1) if outer else 1
        b_first, b_stop = (0, values) if outer else (first, stop)
        t_stop = 1 if piles == 2 else values
        side = self._tile_bits
        tiles = (((b_stop - 1) >> side) - (b_first >> side) + 1) * (((t_stop - 1) >> side) + 1)
        units = choices * tiles if first < stop else 0
        window = values if values <= self._whole else 0
        with device_memory_errors(f"trying tuples of {piles} piles to {limit}"):
            counts = self._launch.xp.zeros(values, np.uint64)
            self._launch(
                kernel,
                (min(units, self._launch.multiprocessors * _RESIDENT),),
                (_BLOCK,),
                (values, outer, first if outer else 0, b_first, b_stop, t_stop, side, units, window, _TRIED, counts),
                4 * ((window or 1 << side + _SPREAD[kernel]) + 32),
            )
            return _int64(counts)

    def _sweep(
        self,
        kernel: str,
        table: DeviceTable,
        rows: Any,
        bits: int,
        first: int,
        count: int,
        rest: tuple[object, ...],
        shared_bytes: int = 0,
    ) -> None:
        """Launch a kernel over `count` values (or pairs) from number `first` of the blocks; 2^bits of them in a block."""
        grid, run = self._plan(bits, first, count)
        arguments = (table.columns, rows, table.columns.shape[0], bits, first, count, run, *rest)
        self._launch(kernel, (grid,), (_BLOCK,), arguments, shared_bytes)

    def _plan(self, bits: int, first: int, count: int) -> tuple[int, int]:
        """The blocks to launch for so many values, and how many rows an item of work has."""
        threads = self._launch.multiprocessors * _RESIDENT * _BLOCK
        height = (first + count - 1 >> bits) + 1
        run = min(height, max(_LEAST_RUN, count // (threads * _WAVES)))
        return self._blocks(-(-height // run) << bits), run

    def _blocks(self, items: int) -> int:
        return min(-(-items // _BLOCK), self._launch.multiprocessors * _RESIDENT)

    def _on_device(self, rows: Any, table: DeviceTable) -> Any:
        return rows.values if isinstance(rows, DeviceRows) else self._upload(rows, table.limbs)

    def _upload(self, numbers: Integers, limbs: int) -> Any:
        if limbs > 1:
            wrapped = numbers.ravel() & ((1 << 64 * limbs) - 1)
            numbers = to_limbs(wrapped, limbs).reshape(*numbers.shape, limbs)
        return self._launch.xp.asarray(np.ascontiguousarray(numbers))


def _int64(counts: Any) -> NDArray[np.int64]:
    host: U64 = to_host(counts)
    return host.astype(np.int64)


def _address(array: Any) -> int:
    address: int = array.data.ptr if hasattr(array.data, "ptr") else array.ctypes.data
    return address


def _kernel(name: str, limbs: int) -> str:
    return name if limbs == 1 else f"{name}_wide"


def _copies(bins: int) -> int:
    """How many copies of a histogram fit in shared memory: a power of two, or 0."""
    fitting = min(_MAX_COPIES, _COUNTERS // (4 * bins))
    return 1 << fitting.bit_length() - 1 if fitting else 0


def _survey(findings: U64, lengths: U64, limbs: int, shift: int) -> Summary:
    """Bring together what the blocks of one launch found; `shift` makes their places count from the first value surveyed."""
    words = findings.astype(object)
    total = sum(int(low) + (int(high) << 64) for low, high in words[:, :2]) & ((1 << 64 * limbs) - 1)
    maximum, argmax = _first_largest(findings[:, 2:5])
    mirrored, argmin = _first_largest(findings[:, 5:8])
    minimum = ((1 << 64 * limbs) - 1) ^ mirrored
    return Summary(total, maximum, argmax + shift, minimum, argmin + shift, lengths.astype(np.int64))


def _first_largest(found: U64) -> tuple[int, int]:
    """The largest of some values, low and high word and place a row, and the first place that has it."""
    best = found[np.lexsort((np.iinfo(np.uint64).max - found[:, 2], found[:, 0], found[:, 1]))[-1]]
    low, high, place = best.tolist()
    return low + (high << 64), place


def _together(surveys: list[Summary], limbs: int) -> Summary:
    """One survey of consecutive ones."""
    largest = max(surveys, key=lambda survey: survey.maximum)  # the first of equals
    smallest = min(surveys, key=lambda survey: survey.minimum)
    return Summary(
        sum(survey.total for survey in surveys) & ((1 << 64 * limbs) - 1),
        largest.maximum,
        largest.argmax,
        smallest.minimum,
        smallest.argmin,
        sum((survey.lengths for survey in surveys), np.zeros(64 * limbs + 1, np.int64)),
    )
