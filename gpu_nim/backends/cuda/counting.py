"""Counting on CUDA (`cuda/counting.cu`, `cuda/enumeration.cu`): values of one or two limbs there, longer ones on the host.

A table stays on the device; the rows of a long range are computed there from one row for 2^t blocks. Values stay there, too, or are
copied to the host a piece at a time. All launches over a range are queued before the host waits, and return a histogram.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.launcher import Launcher, copy_to_host, device_memory_errors, to_host
from gpu_nim.backends.cuda.table import Defines, read_constants
from gpu_nim.backends.host_counting import HostCounting, HostTable, Lengths, Rows
from gpu_nim.model.arrays import U64, Integers, to_limbs
from gpu_nim.model.errors import UsageError

_WAVES = 16  # items per thread: few, so that columns are read rarely, and enough for threads to end together
_MAX_COMPILED = 4  # dimensions that kernels are compiled for; a column of more would take too many registers

_BLOCK_BITS = {1: 16, 2: 12}  # by limbs; wide columns are made of Python integers
_MAX_ENTRIES = 1 << 21  # of a table: it should stay in L2
_MAX_STEPS = 1 << 20  # entries of all their matrices

_CHUNK = 1 << 36  # values or tuples
_COUNTERS = 34 << 10  # bytes of shared memory for histograms: several blocks a multiprocessor
_MAX_COPIES = 128

_TILE_BITS = 9
_WHOLE = 8192  # bins of a histogram that shared memory holds
_SPREADS = read_constants("enumeration.cu")
_SPREAD = {"count_totals": _SPREADS["SPREAD_OF_TOTALS"], "count_maxima": _SPREADS["SPREAD_OF_MAXIMA"]}


class DeviceTable(NamedTuple):
    """A table on the device: uint64, shape (dimension, 2^bits), and (dimension, 2^bits, 2) for two limbs."""

    columns: Any
    bits: int
    limbs: int


class CudaCounting(HostCounting):
    """Counting on a device, and on the host where values have more limbs than kernels take.

    `tile_bits` and `whole` set how enumerations are divided, and do not change the counts: b and t run through tiles of
    2^tile_bits by 2^tile_bits, and a histogram of up to `whole` bins is kept in shared memory.
    """

    name = "cuda"
    least_run = 8
    steps_bits = 10  # rows made of one on the device: 2^10
    counted = 1 << 31  # values a launch: no counter of 32 bits can wrap
    tried = 1 << 31  # tuples that a block counts in 32 bits before it adds up its histogram

    def __init__(self, launcher: Launcher, *, tile_bits: int = _TILE_BITS, whole: int = _WHOLE) -> None:
        super().__init__()
        self._launch = launcher
        self._tile_bits, self._whole = tile_bits, whole

    def chunk_size(self, limbs: int) -> int:
        """Return the size of a chunk of work: a fraction of a second on the device, or the host's own size where it runs there."""
        return _CHUNK if limbs in _BLOCK_BITS else super().chunk_size(limbs)

    def block_bits(self, source: Rows, limbs: int, size: int) -> int:
        """Return m, so that the table stays in the device's cache."""
        if limbs not in _BLOCK_BITS:
            return super().block_bits(source, limbs, size)
        return max(4, min(_BLOCK_BITS[limbs], (_MAX_ENTRIES // (source.dimension * limbs)).bit_length() - 1))

    def table(self, columns: Integers, limbs: int) -> Any:
        """Return the table as this engine stores it: on the device up to two limbs."""
        if limbs not in _BLOCK_BITS:
            return super().table(columns, limbs)
        with device_memory_errors(f"a table of {columns.shape[0]} by {columns.shape[1]} entries"):
            return DeviceTable(self._upload(columns, limbs), columns.shape[1].bit_length() - 1, limbs)

    def rows(self, source: Rows, first: int, stop: int, bits: int, limbs: int) -> Any:
        """Return the rows of blocks `first` to `stop - 1`, computed on the device if there are many.

        They are there: uint64, shape (blocks, dimension), and (blocks, dimension, 2) for two limbs.
        """
        if limbs not in _BLOCK_BITS:
            return source.rows(first, stop, bits, limbs)
        dimension = source.dimension
        inner = min(self.steps_bits, (_MAX_STEPS // (dimension * dimension * limbs)).bit_length() - 1)
        with device_memory_errors(f"{stop - first} rows"):
            if inner < 1 or stop - first < 2 << inner:
                return self._upload(source.rows(first, stop, bits, limbs), limbs)
            coarse = self._upload(source.rows(first >> inner, ((stop - 1) >> inner) + 1, bits + inner, limbs), limbs)
            steps = self._upload(source.steps(bits + inner, bits, limbs), limbs)
            size = stop - first
            values = self._launch.xp.empty((size, *coarse.shape[1:]), np.uint64)
            skipped = first & ((1 << inner) - 1)
            numbers = {"dimension": dimension, "t": inner, "first": skipped, "size": size}
            arrays = {"coarse": coarse, "steps": steps, "rows": values}
            launch = self._launch.bind(_kernel("count_rows", limbs), arrays | numbers, defines=_compiled_for(dimension))
            launch(launch.blocks(size * dimension))
            return values

    def fill(self, table: Any, rows: Any, skip: int, out: U64) -> None:
        """Write values `skip` to `skip + len(out) - 1` to the host: a piece is copied while the next is computed."""
        if isinstance(table, HostTable):
            super().fill(table, rows, skip, out)
            return
        with device_memory_errors(f"{len(out)} values"):
            on_device = self._on_device(rows, table)
            copy_to_host(self._launch, out, lambda first, stop: self._values(table, on_device, skip + first, stop - first))

    def values(self, table: Any, rows: Any, skip: int, size: int) -> Any:
        """Return values `skip` to `skip + size - 1` as an array of the device."""
        with device_memory_errors(f"{size} values"):
            if isinstance(table, HostTable):
                return self._launch.xp.asarray(super().values(table, rows, skip, size))
            return self._values(table, self._on_device(rows, table), skip, size)

    def _values(self, table: DeviceTable, rows: Any, skip: int, size: int) -> Any:
        # Stores are 16 bytes wide: values of one limb are written in pairs that begin at even indices.
        pair = 3 - table.limbs
        block, offset = divmod(skip, 1 << table.bits)
        first, stop = offset // pair, -(-(offset + size) // pair)
        values = self._launch.xp.empty(2 * (stop - first), np.uint64)
        kernel = _kernel("count_fill", table.limbs)
        self._sweep(kernel, table, rows[block:], table.bits - (pair - 1), first, stop - first, {"out": values})
        return values[offset % pair :][:size] if pair == 2 else values.reshape(-1, 2)

    def lengths(self, table: Any, rows: Any, skip: int, size: int) -> Lengths:
        """Count lengths and add up, up to 2^31 values a launch."""
        if isinstance(table, HostTable):
            return super().lengths(table, rows, skip, size)
        with device_memory_errors(f"lengths of {size} values"):
            bins = 64 * table.limbs + 1
            found = self._launch.xp.zeros(bins + 2 * table.limbs, np.uint64)  # one array, for one copy to the host
            self._count("count_lengths", table, rows, skip, size, bins, {"counts": found[:bins], "sums": found[bins:]})
            on_host = to_host(found)
        total = sum(digit << 32 * i for i, digit in enumerate(on_host[bins:].tolist()))
        return Lengths(total % (1 << 64 * table.limbs), on_host[:bins].astype(np.int64))

    def residues(self, table: Any, rows: Any, skip: int, size: int, modulus: int) -> NDArray[np.int64]:
        """Count residues, up to 2^31 values a launch: in shared memory as far as they fit it, else in L2."""
        if isinstance(table, HostTable):
            return super().residues(table, rows, skip, size, modulus)
        with device_memory_errors(f"residues of {size} values modulo {modulus}"):
            counts = self._launch.xp.zeros(modulus, np.uint64)
            numbers = {"modulus": modulus, "inverse": ((1 << 64) - 1) // modulus, "word": (1 << 64) % modulus}
            self._count("count_residues", table, rows, skip, size, modulus, {"counts": counts} | numbers)
            return to_host(counts).astype(np.int64)

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
        # The last free pile runs along the lanes; two piles have only one free pile, which gets an empty one beside it.
        outer = max(0, piles - 3)
        choices = (stop - first) * values ** (outer - 1) if outer else 1
        b_first, b_stop = (0, values) if outer else (first, stop)
        t_stop = 1 if piles == 2 else values
        side = self._tile_bits
        tiles = (((b_stop - 1) >> side) - (b_first >> side) + 1) * (((t_stop - 1) >> side) + 1)
        units = choices * tiles if first < stop else 0
        window = values if values <= self._whole else 0
        shared = 4 * ((window or 1 << side + _SPREAD[kernel]) + 32)
        with device_memory_errors(f"trying tuples of {piles} piles to {limit}"):
            counts = self._launch.xp.zeros(values, np.uint64)
            tuples = {"values": values, "outer": outer, "outer_first": first if outer else 0, "b_first": b_first, "b_stop": b_stop}
            tiles_of = {"t_stop": t_stop, "bits": side, "units": units, "window": window, "most": self.tried, "counts": counts}
            launch = self._launch.bind(kernel, tuples | tiles_of, shared_bytes=shared)
            launch(min(units, launch.resident))
            return to_host(counts).astype(np.int64)

    def _count(self, kernel: str, table: DeviceTable, rows: Any, skip: int, size: int, bins: int, rest: dict[str, Any]) -> None:
        """Count values by bins, in as many launches as needed."""
        copies, values = _copies(bins), self._on_device(rows, table)
        for at in range(0, size, self.counted):
            block, offset = divmod(skip + at, 1 << table.bits)
            count = min(self.counted, size - at)
            arguments, shared = rest | {"copies": copies}, 4 * bins * copies
            self._sweep(_kernel(kernel, table.limbs), table, values[block:], table.bits, offset, count, arguments, shared)

    def _sweep(
        self,
        kernel: str,
        table: DeviceTable,
        rows: Any,
        bits: int,
        first: int,
        count: int,
        rest: dict[str, Any],
        shared_bytes: int = 0,
    ) -> None:
        """Launch a kernel over `count` values (or pairs) from number `first` of the blocks; 2^bits of them in a block."""
        dimension = table.columns.shape[0]
        arrays = {"table": table.columns, "rows": rows}
        numbers = {"dimension": dimension, "bits": bits, "first": first, "count": count, "run": 1}
        defines = _compiled_for(dimension)
        launch = self._launch.bind(kernel, arrays | numbers | rest, shared_bytes=shared_bytes, defines=defines)
        height = (first + count - 1 >> bits) + 1
        run = min(height, max(self.least_run, count // (launch.resident * launch.threads * _WAVES)))
        launch(launch.blocks(-(-height // run) << bits), run=run)

    def _on_device(self, rows: Any, table: DeviceTable) -> Any:
        return self._upload(rows, table.limbs) if isinstance(rows, np.ndarray) else rows

    def _upload(self, numbers: Integers, limbs: int) -> Any:
        if limbs > 1:
            numbers = to_limbs(numbers & ((1 << 64 * limbs) - 1), limbs)
        return self._launch.xp.asarray(np.ascontiguousarray(numbers))


def _kernel(name: str, limbs: int) -> str:
    return name if limbs == 1 else f"{name}_wide"


def _compiled_for(dimension: int) -> Defines | None:
    return {"DIMENSION": dimension} if dimension <= _MAX_COMPILED else None


def _copies(bins: int) -> int:
    """How many copies of a histogram fit in shared memory: a power of two, or 0."""
    fitting = min(_MAX_COPIES, _COUNTERS // (4 * bins))
    return 1 << fitting.bit_length() - 1 if fitting else 0
