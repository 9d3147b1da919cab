"""Inequality games on CUDA: the kernels against the definitions, the published numbers, and NumPy's solver to the last bit."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_nim.backends.cuda import CudaBackend
from gpu_nim.backends.cuda import games as cuda_games
from gpu_nim.backends.cuda import launcher as launcher_module
from gpu_nim.backends.cuda.launcher import to_host
from gpu_nim.backends.cuda.table import KERNELS
from gpu_nim.backends.interface import LinearBounds
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.games.game_graph import Listed, evolve
from gpu_nim.games.inequality import chocolate, parse_game, six_coordinate_chocolate
from gpu_nim.games.inequality_game import InequalityGame
from gpu_nim.games.solve import solve
from gpu_nim.model.errors import BackendError
from tests import strict_cupy

NUMPY = NumpyBackend()
FREE = LinearBounds(*(np.zeros(shape, np.int64) for shape in (0, (0, 3), 0, 0)))
searching = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def cuda(launcher):
    """The CUDA backend on a launcher."""
    return CudaBackend(launcher)


def assert_solved_as_by_numpy(cuda, kind, *arguments):
    """Compare the P-positions and the Grundy values of a wedge, or of a box under inequalities."""
    for what in ("outcomes", "grundy"):
        results = (getattr(backend, f"{kind}_{what}")(*arguments) for backend in (cuda, NUMPY))
        np.testing.assert_array_equal(*results, strict=True)


@st.composite
def tops(draw):
    """Small arrays that decrease along neither axis."""
    top = np.zeros((draw(st.integers(1, 6)), draw(st.integers(1, 6))), np.int64)
    for x, z in np.ndindex(*top.shape):
        top[x, z] = max(top[max(x - 1, 0), z], top[x, max(z - 1, 0)]) + draw(st.sampled_from([0, 0, 0, 1, 1, 2, 5]))
    return top


def solve_wedge_literally(top):
    """The Grundy value of each position, option by option."""

    def options(position):
        x, y, z = position
        yield from ((u, min(y, top[u, z]), z) for u in range(x))
        yield from ((x, v, z) for v in range(y))
        yield from ((x, min(y, top[x, w]), w) for w in range(z))

    places = sorted(((x, y, z) for x, z in np.ndindex(*top.shape) for y in range(top[x, z] + 1)), key=sum)
    return dict(zip(places, evolve(Listed(places, options)).grundy.tolist(), strict=True))


@searching
@given(top=tops())
def test_any_wedge_by_the_definition(every_backend, top):
    literal = solve_wedge_literally(top)
    values = every_backend.wedge_grundy(top)
    assert {tuple(p): values[tuple(p)] for p in np.argwhere(values >= 0).tolist()} == literal
    points = every_backend.wedge_outcomes(top).tolist()
    assert points == sorted(list(position) for position, value in literal.items() if value == 0)


@pytest.mark.parametrize(
    ("shape", "steepness"),
    [
        *(((3, 130), 0.3), ((130, 3), 0.3)),
        *(pytest.param(shape, 0.3, marks=pytest.mark.larger) for shape in ((70, 66), (1, 129), (129, 1))),
        *(pytest.param(shape, 0.02, marks=pytest.mark.larger) for shape in ((3, 150), (150, 3), (70, 66), (1, 129), (129, 1))),
    ],
)
def test_wedges_of_many_words_equal_numpy(cuda, shape, steepness):
    rng = np.random.default_rng([*shape, int(100 * steepness)])
    steps = rng.random(shape) < steepness / min(shape)
    top = np.cumsum(np.cumsum(steps, axis=0), axis=1) // min(shape) + 1
    assert_solved_as_by_numpy(cuda, "wedge", top)


@pytest.mark.parametrize("size", [1, 2 * 7, 2 * 7 * 6, 1 << 24])
def test_values_come_home_in_pieces(cuda, monkeypatch, size):
    """A line of z at a time or several, pieces that the last line fills and that it does not; a box in any pieces."""
    monkeypatch.setattr(launcher_module, "PIECE", size)
    top = np.add.outer(np.arange(5), np.arange(7)) // 2
    assert_solved_as_by_numpy(cuda, "wedge", top)
    assert_solved_as_by_numpy(cuda, "inequality", LinearBounds(*map(np.array, ([1], [[1, 0, 1]], [0], [2]))), np.array([4, 5, 6]))


@pytest.mark.parametrize("grundy", [False, True])
@pytest.mark.parametrize("game", [chocolate(3), parse_game("y <= x/2; w <= 3y + 1")])
def test_solving_tells_how_far_it_has_come(cuda, game, grundy):
    steps = []
    last = sum(solve(game, 6, grundy=grundy, backend=cuda, progress=lambda *step: steps.append(step)).limits)
    assert steps == [("total", total, last) for total in range(last + 1)]


@pytest.mark.parametrize(
    ("game", "limits"),
    [
        (six_coordinate_chocolate(), (3,) * 6),
        (parse_game("y <= x/2 + z/3 + 1; w <= y; w <= 5/2 z"), (6, 8, 5, 7)),
        (parse_game("x <= 2y; 2y <= x; z <= x/2 + 1"), (40, 20, 21)),
        (parse_game("y <= x - 1"), (70, 69)),
        (InequalityGame("nim", ("x", "y", "z"), ()), (4, 40, 11)),
        (InequalityGame("nim", ("x", "y", "z"), ()), (0, 0, 0)),
        (InequalityGame("nim", ("x",), ()), (300,)),
    ],
    ids=lambda value: value.describe() if isinstance(value, InequalityGame) else "",
)
def test_boxes_equal_numpy(cuda, game, limits):
    assert_solved_as_by_numpy(cuda, "inequality", game.bounds(limits), np.array(limits))


@pytest.mark.parametrize(("most", "dtype"), [(300, np.int16), (32_766, np.int16), (32_767, np.int32), (33_000, np.int32)])
def test_values_are_widened_where_numpy_widens_them(most, dtype):
    """What comes back of values that a device left; a single pile of n has the value n."""
    values = np.full((1, most + 1, 1), 0xFFFF, np.uint16)
    values[0, :-1, 0] = np.arange(most)
    signed = cuda_games._signed(values)
    assert signed.dtype == dtype
    assert signed[0, :, 0].tolist() == [*range(most), -1]


def test_the_largest_value(launcher):
    """A pile of 65534, whose options have all been solved: one launch, and the largest value that 16 bits leave room for."""
    most = 65_534
    xp = launcher.xp
    none, sides = (xp.asarray(np.array(values, np.uint32)) for values in ([], [most + 1]))
    no_bounds = [xp.zeros(0, np.int64)] * 3
    values = xp.arange(most + 1, dtype=np.uint16)
    values[most:] = 0xFFFF
    shared = 4 * (2 * 64 + 2 * (most // 32 + 1))
    arguments = (none, *no_bounds, sides, 1, 0, 1, 1, 0, most, most // 32 + 1, values)
    named = dict(zip(KERNELS["inequality_grundy"].arguments, arguments, strict=True))
    launcher.bind("inequality_grundy", named, shared_bytes=shared)(1)
    np.testing.assert_array_equal(to_host(values), np.arange(most + 1))


class Poor:
    """A device with little of everything, on which nothing is ever launched."""

    xp = np
    shared_limit = 16 * 1024
    device = "a poor device"

    def __init__(self, free=1000):
        self._free = free

    def free_memory(self):
        return self._free

    def bind(self, *arguments, **keywords):
        raise AssertionError("launched")


MANY = LinearBounds(*(np.zeros(shape, np.int64) for shape in (0, (0, 33), 0, 0)))


@pytest.mark.parametrize(
    ("solving", "words"),
    [
        (lambda cuda: cuda.wedge_grundy(np.full((1, 1), 65_535)), "add up to at most 65,534, got 65,535"),
        (lambda cuda: cuda.inequality_grundy(FREE, np.array([65_535, 0, 0])), "add up to at most 65,534, got 65,535"),
        (lambda cuda: cuda.wedge_outcomes(np.full((1, 1), 2**31)), "at most 2,147,483,647, got 2,147,483,648"),
        (
            lambda cuda: cuda.wedge_outcomes(np.full((1, 2**18), 2**20 - 1)),
            "at most 4,294,966,272 words of z and y, got 4,294,967,296",
        ),
        (lambda cuda: cuda.inequality_outcomes(MANY, np.zeros(33, np.int64)), "at most 32 coordinates and floors, got 33"),
        (lambda cuda: cuda.inequality_grundy(MANY, np.zeros(33, np.int64)), "fewer coordinates and floors, got 33"),
    ],
)
def test_what_the_kernels_cannot_do_is_refused_and_says_how_else(solving, words):
    with pytest.raises(BackendError, match=f"{words}: use --backend numpy"):
        solving(CudaBackend(Poor(free=2**40)))


def test_each_total_of_the_chocolate_at_1023_is_launched_once_in_order():
    """With threads for all of its positions."""
    launches = []

    class Recording(Poor):
        xp = strict_cupy

        def bind(self, kernel, arguments, shared_bytes=0):
            return SimpleNamespace(
                each=lambda items, **scalars: launches.append((kernel, items, arguments["words"], *scalars.values()))
            )

    backend = CudaBackend(Recording(free=2**40))
    solve(chocolate(3), 1023, backend=backend)
    assert [total for _, _, _, total, _, _ in launches] == list(range(1023 + 682 + 1023 + 1))
    for kernel, items, words, total, first, rows in launches:
        assert (kernel, words, items) == ("wedge_outcomes", 16, rows * words)
        # x + z = total - y is at least 3y, and at most 2046.
        assert (first, first + rows - 1) == (max(0, total - 2046), min(total // 4, 682))
