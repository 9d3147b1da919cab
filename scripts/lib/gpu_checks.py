"""What gpu-check checks: `python -m scripts.lib.gpu_checks PART` runs the checks of a part, or prints the facts.

Each check prints what it found and returns whether it holds, or is skipped or refused for a reason. The part `kernels` only
launches every kernel once, on little data, for compute-sanitizer; `host` and `collection` need no GPU.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim import Growth, grow, solve
from gpu_nim.automata.columns import DEFAULT_COLUMNS
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends.cuda.launcher import import_cupy
from gpu_nim.backends.interface import Backend, Communicator
from gpu_nim.backends.selection import cuda_obstacle, driver_version, select
from gpu_nim.backends.shared.brick_scenes import BrickPacker
from gpu_nim.bench.device_works import works
from gpu_nim.bench.harness import HEADER, TIMEOUT, Rates, Work, compare, measured_rates
from gpu_nim.counting.families import find_family
from gpu_nim.counting.ranges import Range
from gpu_nim.counting.reductions import Reduction, ValueScan, length_counts
from gpu_nim.games.inequality import chocolate, parse_game, six_coordinate_chocolate
from gpu_nim.games.theorems import chocolate_first_difference
from gpu_nim.model.digest import checksum, digest
from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.model.tracing import Cones, NimScene, Rays, TreeScene
from gpu_nim.model.work import require_memory
from gpu_nim.papers.edge_growth import surface_births
from tests.cuda_host import files_that_run_kernels
from tests.open_mpi import OPEN_MPI
from tests.threads import on_ranks

ROOT = Path(__file__).resolve().parents[2]
MYSELF = (sys.executable, "-u", "-m", "scripts.lib.gpu_checks")
BACKENDS = ("cuda", "numpy")

# Automaton, generation, and whether cells are compared one by one beside births and checksums.  rule750 and nim-5 take the general
# engine.
GROWTHS = (
    ("nim", 4096, True),
    ("nim", 16384, False),
    ("edge", 256, True),
    ("edge", 1024, False),
    ("fcc", 512, False),
    ("rule750", 1024, True),
    ("nim-5", 48, True),
)
# Automaton, generation, and how many ranks share the device.
ON_RANKS = (("edge", 512, 2), ("fcc", 256, 3), ("nim", 512, 2))
LARGEST = (("nim", 65536), ("edge", 8192), ("fcc", 16384))  # automaton and generation
SECTION = "section z=0"
GROWTHS_PUBLISHED = ROOT / "docs" / "growth"
# Of each automaton the columns that are there: the file, the place in a row, and the row of generation 0.
PUBLISHED = {
    "edge": {"population": ("edge.csv", 2, 1), SECTION: ("edge.csv", 3, 1)},
    "fcc": {"population": ("b151776.txt", 1, 1), SECTION: ("b147552.txt", 1, 1)},
}
NIM_STEP, NIM_BITS = 31, 12  # every so many generations, those with so many ones at most in binary
BY_DELAY = (("edge", 1024), ("fcc", 512))
IN_MEMORY = (("edge", 8192),)  # which needs more than the process itself
LONG_RANGE = 2**40
# a, size and number of P-positions of a y <= x + z. For a = 3 and x, z < 2^m these are (4^m + 2) / 3 positions of nim-sum 0; for
# a = 64 the first difference from Nim is only there, and the number is not known beforehand.
LARGE_CHOCOLATES = ((3, 1023, 349_526), (3, 4095, 5_592_406), (64, 4096, None))
INDICES = 10**8
CHOCOLATE = 255
CHOCOLATE_GRUNDY = 63
SANITIZER_TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
RUNS = 5
_HANGS = 60  # seconds in one test after which pytest prints where it is

Check = tuple[str, Callable[[], bool]]


class Skipped(Exception):
    """A check cannot run here, for the reason that the message gives."""


def main(part: str, done: int = 0, failed: bool = False) -> int:
    """Run the checks of a part but the first ones, which are done, and return the exit status: 3 where some were skipped or
    refused, 1 where one failed.

    After a check that fails, which may leave the device broken, this process is replaced by one that goes on.
    """
    if part == "facts":
        return 0 if facts() else 1
    if part == "kernels":
        without_pool()
        every_kernel()
        return 0
    skipped = False
    for number, (title, check) in enumerate(PARTS[part](), 1):
        if number <= done:
            continue
        print(f"### {title}", flush=True)
        began = time.monotonic()
        try:
            passed = check()
        except (Skipped, InsufficientMemoryError) as reason:  # the latter by a device that is too small, or that others use
            print(f"{'skipped' if isinstance(reason, Skipped) else 'refused'}: {reason}", flush=True)
            skipped = True
            continue
        except Exception as error:  # of whatever kind: it is what the report is for
            print(f"{type(error).__name__}: {error}")
            passed = False
        print(f"{'passed' if passed else 'FAILED'} in {time.monotonic() - began:.1f} s", flush=True)
        if not passed:
            os.execv(sys.executable, (*MYSELF, part, str(number), "failed"))
    return 1 if failed else 3 if skipped else 0


def test_checks() -> Iterator[Check]:
    """Run the tests that need a GPU."""
    yield "Tests marked gpu", partial(marked_tests, "gpu")


def host_checks() -> Iterator[Check]:
    """Run them on the CPU, in one order of threads: no part of gpu-check, but what tells beforehand whether its tests can run."""
    yield "Tests marked cuda_host", partial(marked_tests, "cuda_host", "-k", "not host-shuffle")


def collection_checks() -> Iterator[Check]:
    """Read both."""
    yield "Tests marked gpu or cuda_host, read alone", partial(marked_tests, "gpu or cuda_host", "--collect-only", "-qqq")


def compare_checks() -> Iterator[Check]:
    """Hold CUDA against NumPy at real sizes."""
    for name, generations, cells in GROWTHS:
        yield f"{name} to generation {generations} equals NumPy's", partial(same_growth, name, generations, cells)
    for name, generations, ranks in ON_RANKS:
        yield (
            f"{name} to generation {generations} on {ranks} ranks of one GPU equals NumPy's",
            partial(same_on_ranks, name, generations, ranks),
        )
        yield (
            f"{name} to generation {generations} on {ranks} ranks of MPI equals NumPy's",
            partial(same_by_mpi, name, generations, ranks),
        )
    for piles in (3, 4):  # one number of 64 bits a value, and two
        yield f"D_{piles} over {INDICES:,} indices equals NumPy's, and adds up", partial(same_range, piles)
    yield f"Chocolate 3y <= x + z to {CHOCOLATE} equals NumPy's", same_chocolate


def large_checks() -> Iterator[Check]:
    """Grow, count and solve what a GPU is for, held by theorems and published terms, as NumPy does not reach it."""
    for name, generations in LARGEST:
        yield f"{name} to generation {generations}, and again from half-way", partial(largest, name, generations)
    for name, generations in BY_DELAY:
        yield (
            f"{name} to generation {generations}, the surface and one late",
            partial(by_delay, name, generations),
        )
    for name, generations in IN_MEMORY:
        yield f"{name} to generation {generations} in the memory that is planned", partial(within_memory, name, generations)
    yield f"D_3 over {LONG_RANGE:,} indices", long_range
    for a, size, count in LARGE_CHOCOLATES:
        yield f"Chocolate {a}y <= x + z to {size}", partial(large_chocolate, a, size, count)


def sanitizer_checks() -> Iterator[Check]:
    """Watch every kernel."""
    yield f"compute-sanitizer: {', '.join(SANITIZER_TOOLS)}", sanitized


def benchmark_checks() -> Iterator[Check]:
    """Time every work on the device, a row of the part's table for each contender."""
    cupy = import_cupy()
    rates = measured_rates(cupy)
    print(" | ".join(HEADER), flush=True)
    for work in works(select("cuda"), cupy):
        yield f"{work.name} ({work.kernel})", partial(benchmark, work, cupy, rates)


PARTS: dict[str, Callable[[], Iterator[Check]]] = {
    "tests": test_checks,
    "compare": compare_checks,
    "large": large_checks,
    "sanitize": sanitizer_checks,
    "bench": benchmark_checks,
    "host": host_checks,
    "collection": collection_checks,
}


def facts() -> bool:
    """Print the device, the driver and the versions; or why CUDA cannot run here."""
    obstacle = cuda_obstacle()
    if obstacle is not None:
        print(f"gpu-check: {obstacle}")
        return False
    import cupy

    device, runtime = cupy.cuda.Device(), cupy.cuda.runtime
    properties = runtime.getDeviceProperties(device.id)
    print(f"- device: {select('cuda').device}, compute capability {device.compute_capability}")
    print(f"- PCI bus: {device.pci_bus_id}")
    print(f"- multiprocessors: {properties['multiProcessorCount']}")
    free, total = runtime.memGetInfo()
    print(f"- memory: {free:,} bytes free of {total:,}")
    print(f"- driver: {driver_version() or 'unknown'}, for CUDA {runtime.driverGetVersion()}")
    print(f"- software: CuPy {cupy.__version__}, CUDA runtime {runtime.runtimeGetVersion()}, Python {sys.version.split()[0]}")
    print(f"- host: {os.cpu_count()} cores, NumPy {np.__version__}")
    return True


def marked_tests(marks: str, *further: str) -> bool:
    """Run pytest -m, without the doctests, which would import optional packages; a file that cannot be read stops no other."""
    options = ["-o", "addopts=", "-o", f"faulthandler_timeout={_HANGS}", "--strict-markers", "-p", "no:cacheprovider"]
    options += ["--import-mode=importlib", "--continue-on-collection-errors", "-v", "-rs", "--durations=10", *further]
    return run(sys.executable, "-m", "pytest", "-m", marks, *options, *map(str, files_that_run_kernels())) == 0


def same_growth(name: str, generations: int, cells: bool) -> bool:
    """Grow on both backends and compare births, digests, and the cells themselves where asked."""
    growths = [grow(name, generations, backend=backend, cells=cells) for backend in BACKENDS]
    device, host = growths
    for growth in growths:
        print(f"{growth.backend}: {growth.seconds:.3f} s, population {growth.population:,}, digest {growth.digest}")
    same = np.array_equal(device.births, host.births) and device.digest == host.digest and device.verified == host.verified
    return same and (not cells or np.array_equal(device.cells(), host.cells()))


def same_range(piles: int) -> bool:
    """Count D_k on both backends: one digest of all values, and their sum as the digits of the indices give it."""
    counts, found = find_family("D", piles), set()
    for backend in BACKENDS:
        seconds, total, sha = 0.0, 0, hashlib.sha256()
        chunks = Range(counts, 0, INDICES, select(backend).counting()).chunks()
        while True:
            began = time.perf_counter()
            chunk = next(chunks, None)
            seconds += time.perf_counter() - began
            if chunk is None:
                break
            sha.update(chunk.data)
            for place, halves in enumerate(chunk.reshape(len(chunk), -1).view("<u4").T):
                total += int(halves.sum(dtype=np.uint64)) << 32 * place
        found.add((total, sha.hexdigest()))
        print(f"{backend}: {seconds:.3f} s with the copy to the host, sum {total}, SHA-256 {sha.hexdigest()}")
    return found == {(counts.sum(0, INDICES), sha.hexdigest())}


def same_chocolate() -> bool:
    """Solve the chocolate on both backends: the same P-positions, those of nim-sum 0, and the same Grundy values."""
    device, host = (solve(chocolate(3), CHOCOLATE, backend=backend) for backend in BACKENDS)
    for solution in (device, host):
        print(f"{solution.backend}: {solution.seconds:.3f} s, {len(solution.p_positions):,} P-positions")
    same = np.array_equal(device.p_positions, host.p_positions) and bool(device.equals_nim)
    values = [solve(chocolate(3), CHOCOLATE_GRUNDY, grundy=True, backend=backend) for backend in BACKENDS]
    for s in values:
        print(f"{s.backend}: {s.seconds:.3f} s, largest Grundy value to {CHOCOLATE_GRUNDY} {s.largest_grundy}")
    assert values[0].grundy is not None
    assert values[1].grundy is not None
    return same and np.array_equal(values[0].grundy, values[1].grundy)


def grow_on_rank(device: Backend, name: str, generations: int, ranks: Communicator) -> tuple[str, float]:
    """Grow on one of several ranks that have a device in common, and return the digest and the seconds that it took."""
    growing = GrowthProcess(name, generations, device.on_rank(ranks), verify=False)
    for _ in growing:
        pass
    growth = growing.growth()
    return growth.digest, growth.seconds


def same_on_ranks(name: str, generations: int, ranks: int) -> bool:
    """Grow on threads, each a rank of its own on the one device, and on NumPy alone: the same digest."""
    device = select("cuda")
    found = on_ranks(ranks, partial(grow_on_rank, device, name, generations))
    host = grow(name, generations, backend="numpy", verify=False)
    print(f"{ranks} ranks: {found[0][1]:.3f} s, digest {found[0][0]}; numpy alone: {host.seconds:.3f} s, digest {host.digest}")
    return {digest for digest, _ in found} == {host.digest}


def same_by_mpi(name: str, generations: int, ranks: int) -> bool:
    """Grow by processes that MPI connects, which share the device, and on NumPy alone: the same digest."""
    mpiexec = shutil.which("mpiexec")
    if mpiexec is None or find_spec("mpi4py") is None:
        raise Skipped("mpiexec or mpi4py is not installed")
    arguments = ("grow", name, "--gen", str(generations), "--backend", "cuda", "--json")
    words = (mpiexec, "-n", str(ranks), sys.executable, "-m", "gpu_nim", *arguments)
    done = subprocess.run(words, cwd=ROOT, env={**os.environ, **OPEN_MPI}, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr.strip()[:300])
        return False
    facts = json.loads(done.stdout)
    print(f"{ranks} ranks of MPI: {facts['seconds']:.3f} s, digest {facts['digest']}")
    return bool(facts["digest"] == grow(name, generations, backend="numpy", verify=False).digest)


def largest(name: str, generations: int) -> bool:
    """Grow as far as the largest GPUs go, and again from half-way: what is proved and published of it holds, and both are one."""
    start, half = partial(GrowthProcess, name, generations, select("cuda"), columns=columns_of(name)), generations // 2
    growing = start(every=half)
    snapshot = next(growing.snapshot() for _ in growing if growing.generation == half)
    for _ in growing:
        pass
    growth = growing.growth()
    growing.end()
    print(f"{growth.seconds:.3f} s, population {growth.population:,}, digest {growth.digest}; {growing.verdict}", flush=True)
    resumed = start(resume=snapshot)
    del snapshot
    for _ in resumed:
        pass
    again = resumed.growth()
    print(f"resumed from generation {half}: {again.seconds:.3f} s in all, digest {again.digest}")
    same = again.digest == growth.digest and again.table == growth.table
    return same and growth.verified is not False and is_as_published(growth) and (name != "nim" or is_nim(growth))


def columns_of(name: str) -> tuple[str, ...]:
    """The columns of a growth that are published."""
    return (*DEFAULT_COLUMNS, *([SECTION] if name in PUBLISHED else []))


def published_digests(name: str) -> dict[int, tuple[int, str]]:
    """The population and the digest of a growth to some generations, as docs/growth has them."""
    text = (GROWTHS_PUBLISHED / "README.md").read_text()
    rows = re.findall(rf"^\| `{name}` \| (\d+) \| (\d+) \| `(\w{{64}})` \|$", text, re.MULTILINE)
    return {int(generation): (int(population), found) for generation, population, found in rows}


def is_as_published(growth: Growth) -> bool:
    """Whether a growth begins as docs/growth has it: by each digest, and by the population and the section of each generation."""
    held = True
    for last, published in published_digests(growth.automaton).items():
        if last <= growth.generations:
            population, found = int(growth.table["population"][last]), digest(growth.checksums[: last + 1])
            held &= (population, found) == published
            print(f"to generation {last}: population {population:,}, digest {found}, {'as' if held else 'NOT as'} published")
    for column, (file, index, first) in PUBLISHED.get(growth.automaton, {}).items():
        rows = [line.replace(",", " ").split() for line in (GROWTHS_PUBLISHED / file).read_text().splitlines()]
        expected = [int(row[index]) for row in rows[first:]][: growth.generations + 1]
        same = growth.table[column][: len(expected)].tolist() == expected
        print(f"{column}: {'as' if same else 'NOT as'} published to generation {len(expected) - 1}")
        held &= same
    return held


def is_nim(growth: Growth) -> bool:
    """Whether the checksums of some generations are those of the P-positions: each power of two in n is in two of three piles."""
    places = [n for n in range(growth.generations, 0, -NIM_STEP) if n.bit_count() <= NIM_BITS]
    wrong = [n for n in places if checksum(p_positions(n)) != int(growth.checksums[n])]
    print(f"of {len(places)} generations with up to 3^{NIM_BITS} P-positions these have other checksums: {wrong or 'none'}")
    return not wrong


def p_positions(n: int) -> NDArray[np.int64]:
    """The P-positions (N, 3) of total 2n: 3^w of them."""
    cells = np.zeros((1, 3), np.int64)
    for bit in range(n.bit_length()):
        if n >> bit & 1:
            cells = (cells[:, None] + (1 - np.eye(3, dtype=np.int64) << bit)).reshape(-1, 3)
    return cells


def by_delay(name: str, generations: int) -> bool:
    """Count births at the greatest distance and one generation late, of which docs/open-problems/edge-growth proves how many."""
    growth = grow(name, generations, backend="cuda", columns=("delay 0", "delay 1"))
    print(f"{growth.seconds:.3f} s, population {growth.population:,}")
    numbers = range(generations + 1)
    expected = [surface_births(name, n) for n in numbers], [late_births(name, n) for n in numbers]
    return (growth.table["delay 0"].tolist(), growth.table["delay 1"].tolist()) == expected


def late_births(name: str, n: int) -> int:
    """The births at distance n - 1 in generation n, behind the squares and behind the triangles."""
    if n % 2 or not n:
        return 0
    w, zeros, octants = n.bit_count(), (n & -n).bit_length() - 1, 8 if name == "fcc" else 1
    squares, triangles = 3 * ((1 << w - 1) - 1 << w - 1 + zeros), 2 * (3**w - (3 << w) + 3)
    births: int = octants * (squares + triangles)
    return births


@contextmanager
def pool_limited(size: int) -> Iterator[None]:
    """Let CuPy's memory pool take so many bytes more in the block."""
    pool = import_cupy().get_default_memory_pool()
    pool.free_all_blocks()
    pool.set_limit(size=int(pool.total_bytes()) + size)
    try:
        yield
    finally:
        pool.set_limit(size=0)


def within_memory(name: str, generations: int) -> bool:
    """Grow in the device memory that is planned, and be refused with a byte less."""
    process = partial(GrowthProcess, name, generations, select("cuda"), columns=columns_of(name))
    pool, choice = import_cupy().get_default_memory_pool(), process().choice
    planned = choice.memory
    assert planned is not None
    require_memory(planned, choice.free, f"a growth to generation {generations}")
    try:
        with pool_limited(planned):
            before, growing = int(pool.total_bytes()), process()
            for _ in growing:
                pass
    except InsufficientMemoryError as shortage:
        print(f"with the {planned:,} bytes that are planned: {shortage}")
        return False
    growth, taken = growing.growth(), int(pool.total_bytes()) - before
    growing.end()
    print(f"{planned:,} bytes planned, {taken:,} taken, digest {growth.digest}")
    try:
        with pool_limited(planned - 1):
            process().begin()
    except InsufficientMemoryError as refusal:
        print(f"with less: {refusal}")
        return taken <= planned and is_as_published(growth)
    return False


def long_range() -> bool:
    """Visit every value of D_3 over many indices: the sum of each piece and all lengths, as the digits of the indices give them."""
    family = find_family("D", 3)
    began = time.perf_counter()
    scan = ValueScan(family, 0, LONG_RANGE, Reduction.parse("histogram"), select("cuda").counting())
    found = scan.combine(map(scan.do, scan.chunks()))
    print(f"{time.perf_counter() - began:.3f} s, {sum(found.values()):,} values, at most {max(found)} binary digits")
    return found == length_counts(family, 0, LONG_RANGE)


def large_chocolate(a: int, size: int, count: int | None) -> bool:
    """Solve a y <= x + z on the device: the number of P-positions, if known, and the first difference from Nim, which is proved."""
    solution = solve(chocolate(a), size, backend="cuda")
    print(f"{solution.seconds:.3f} s, {len(solution.p_positions):,} P-positions, first difference {solution.first_difference}")
    return count in (None, len(solution.p_positions)) and solution.first_difference == chocolate_first_difference(Fraction(a))


def without_pool() -> None:
    """Have CuPy ask the driver for each array: in its pool, what lies beyond an array's end belongs to the pool, too."""
    cupy = import_cupy()
    cupy.cuda.set_allocator(None)
    cupy.cuda.set_pinned_memory_allocator(None)


def every_kernel() -> None:
    """Launch every kernel of the kernel table, on small work."""
    device = select("cuda")
    grow("nim", 200, backend=device, cells=True)
    for name, last in (("fcc", 24), ("edge", 24), ("ulam-warburton-3", 40), ("rule750", 24), ("nim-4", 16)):
        growing = GrowthProcess(name, last, device, cells=True, columns=("section x=0",), every=last // 2)
        snapshot = next(growing.snapshot() for _ in growing if growing.generation == last // 2)
        for _ in GrowthProcess(name, last, device, columns=("section x=0",), resume=snapshot):
            pass
    on_ranks(2, partial(grow_on_rank, device, "fcc", 24))
    engine = device.counting()
    for counts in (find_family("D", 4), find_family("D", 7)):
        for start in (3, 2**24 + 5):  # values of one limb, and for seven piles of two
            values = Range(counts, start, start + 5000, engine)
            values.values()
            values.lengths(start, start + 5000)
            values.residues(start, start + 5000, 1000)
        for limbs in (1, 2):
            engine.rows(counts.blocks(), 5, 5000, 4, limbs)  # so many are made on the device
    engine.try_totals(4, 40, 0, 41)
    engine.try_maxima(4, 40, 0, 41)
    for game, size in ((chocolate(3), 31), (six_coordinate_chocolate(), 2), (parse_game(";".join("abcdefghi")), 1)):
        for grundy in (False, True):
            solve(game, size, grundy=grundy, backend="cuda")
    packer = BrickPacker((0, 0, 0), (32, 32, 32))
    packer.add(grow("nim", 31, backend=device, cells=True).cells())
    rays = Rays(np.full((3, 999), 40), np.zeros((3, 999)), np.full((3, 999), -(3**-0.5)), np.zeros(999, np.int8))
    corners = TreeScene(np.array([0, 1], np.uint64), (np.array([[0] * 8, [1] * 8], np.int32),), 1, (0, 0, 0))
    for scene in (NimScene(31), packer.scene(), corners):
        tracer = device.tracer(scene)
        tracer.trace(rays)
        tracer.blocked(Cones(rays.cells, rays.fractions, rays.levels, rays.directions[:, :5].T))


def sanitized() -> bool:
    """Launch every kernel under each tool of compute-sanitizer, side by side: one after the other they would take too long."""
    if shutil.which("compute-sanitizer") is None:
        raise Skipped("compute-sanitizer is not on PATH")
    clean = True
    with ThreadPoolExecutor(len(SANITIZER_TOOLS)) as pool:
        running = {pool.submit(sanitize, tool): tool for tool in SANITIZER_TOOLS}
        for done in as_completed(running):  # so that a tool that takes too long leaves the others in the report
            found = done.result()
            print(f"{running[done]}, exit status {found.returncode}:\n{found.stdout}", end="", flush=True)
            clean &= found.returncode == 0
    return clean


def sanitize(tool: str) -> subprocess.CompletedProcess[str]:
    """Launch every kernel under one tool, which watches gpunim's own: CuPy's take most of the time.

    initcheck watches all, as some of CuPy's initialise what ours read.
    """
    watched = () if tool == "initcheck" else ("--kernel-name-exclude", "kns=cupy_")
    command = ("compute-sanitizer", "--tool", tool, "--error-exitcode", "9", *watched, *MYSELF, "kernels")
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=PIPE, stderr=STDOUT, text=True, errors="replace")


def benchmark(work: Work, cupy: Any, rates: Rates) -> bool:
    """Time gpunim and its peers at one work, as `gpunim bench device` does."""
    rows = compare(work, RUNS, cupy, rates, timeout=TIMEOUT)
    for row in rows:
        print(" | ".join(row.cells()))
    if rows[0].result is None:
        raise Skipped(rows[0].remark)
    return True


def run(*command: str) -> int:
    """Run a command from the checkout, which prints where this process prints, and return its exit status."""
    sys.stdout.flush()
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if sys.argv[2:] else 0, failed="failed" in sys.argv))
