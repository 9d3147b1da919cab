"""Inequality games against the published theorems and counts, and every solver against the definitions."""

import re
from fractions import Fraction
from itertools import product
from math import floor
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gpu_nim.backends.selection import select
from gpu_nim.games.game_graph import evolve
from gpu_nim.games.inequality import bar, chocolate, nim, parse_game, sheared, six_coordinate_chocolate
from gpu_nim.games.inequality_game import Inequality, InequalityGame
from gpu_nim.games.named_games import find
from gpu_nim.games.solve import expected_points, solve
from gpu_nim.model.errors import UsageError
from gpu_nim.papers.by_definition import inequality_values
from tests.helpers import beside


def general(game, limits, capability):
    """The general solver, also where `solve` would take the one for wedges."""
    return getattr(select("numpy"), capability)(game.bounds(limits), np.array(limits))


DATA: dict[str, Any] = beside(__file__)
SHAPES = ["{} + {}", "{} - 1", "2({})", "1/2 ({})", ".5*({})", "({})//3", "({})/2", "floor({})", "min({}, {})", "max({}, {})"]


def sides_of(side):
    """Sums, multiples, quotients, floors, minima and maxima."""
    return st.builds(str.format, st.sampled_from(SHAPES), side, side)


SIDES = st.recursive(st.sampled_from(["x", "z", "3z", "z//2", "floor(x/3)", "2"]), sides_of, max_leaves=4)


def meant(text, names):
    """Whether an inequality holds, as Python reads it, with whole numbers as fractions."""
    written = re.sub(r"(?<![\w.])([\d.]+)", r"Fraction('\1')", re.sub(r"([\d)])\s*(?=[xyzmf(])", r"\1*", text))
    return all(eval(part, {"floor": floor, "Fraction": Fraction, **names}) for part in written.split(";"))


@settings(max_examples=40, deadline=None)
@given(SIDES, st.sampled_from(["y", "2y", "1/2 y"]))
def test_any_side_means_what_python_reads(side, left):
    game = parse_game(f"{left} <= {side}; x; z")
    assert parse_game("; ".join([*game.formulas(), "x", "z"])) == game
    assert parse_game(f"{side.replace(' ', '')} >= {left}; z; x") == game
    vectors = np.indices((7, 7, 7)).reshape(3, -1).T
    assert game.are_positions(vectors, (6, 6, 6)).tolist() == [
        meant(f"{left} <= {side}", dict(zip("xyz", v, strict=True))) for v in vectors.tolist()
    ]


@pytest.mark.parametrize(("one", "other"), DATA["equal"])
def test_texts_of_one_game(one, other):
    game = parse_game(one)
    assert game == parse_game(other)
    assert game.coordinates == tuple(sorted(game.coordinates, key=lambda name: (name[0], len(name), name)))


COUNTS = [(chocolate(a), 127, n) for a, n in enumerate([16130, 7046, 5462, 3654, 3278, 2624, 2352, 1964], 1)]
COUNTS += [(bar(k), 127, n) for k, n in enumerate([6869, 4160, 2594, 2112], 1)]
COUNTS += [(chocolate(3), 31, 342), (chocolate(3), 63, 1366), (chocolate(3), 255, 21846)]


@pytest.mark.larger
@pytest.mark.parametrize(("game", "size", "count"), COUNTS, ids=str)
def test_numbers_of_p_positions(every_backend, game, size, count):
    assert len(solve(game, size, backend=every_backend).p_positions) == count


@pytest.mark.parametrize(("theorem", "games"), DATA["theorems"].items())
def test_theorems_are_told_of_games_of_their_form_alone(theorem, games):
    theorems = [parse_game(text).theorem for text in games]
    assert [each.statement if each else "none" for each in theorems] == [theorem] * len(games)


@st.composite
def random_games(draw, most=4):
    k = draw(st.integers(1, most))
    rationals = st.fractions(0, 3, max_denominator=4)
    inequalities = []
    for _ in range(draw(st.integers(0, 4))) if k > 1 else []:
        target = draw(st.integers(0, k - 1))
        factors = [draw(st.one_of(st.just(Fraction(0)), rationals)) for _ in range(k)]
        factors[target] = Fraction(0)
        constant = draw(st.fractions(-2, 3, max_denominator=3))
        inequalities.append(Inequality(target, tuple(factors), constant))
    return InequalityGame("random", tuple("wxyz"[:k]), tuple(inequalities))


TWO_SIDES = st.tuples(SIDES, SIDES.map(lambda side: side.replace("x", "y").replace("may", "max")))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    game=st.one_of(random_games(), TWO_SIDES.map("y <= {0[0]}; w <= {0[1]}; x; z".format).map(parse_game)), size=st.integers(1, 5)
)
@example(game=parse_game("y <= 2 floor(x/2) + 1; x <= 2 floor(y/2) + 3"), size=5)
@example(game=parse_game("2y <= max(x, floor(z/2) + floor(z/3)) - 1; x <= y + min(3, z)"), size=5)
def test_every_solver_agrees_with_the_definitions(every_backend, game, size):
    try:
        limits = game.limits(size)
    except UsageError:
        with pytest.raises(UsageError, match="must allow some position"):
            solve(game, size)
        return
    limits = tuple(min(limit, (0, 12, 8, 5, 3)[len(limits)]) for limit in limits)
    literal = inequality_values(game, limits)
    p_positions = sorted(position for position, value in literal.items() if value == 0)
    if literal:
        values = every_backend.inequality_grundy(game.bounds(limits), np.array(limits))
        assert values.shape == tuple(limit + 1 for limit in limits)
        assert {tuple(p): values[tuple(p)] for p in np.argwhere(values >= 0).tolist()} == literal
        assert [tuple(p) for p in every_backend.inequality_outcomes(game.bounds(limits), np.array(limits)).tolist()] == p_positions


@settings(max_examples=40, deadline=None)
@given(random_games(most=3), st.integers(0, 7))
def test_solve_agrees_with_evolution_by_options(game, size):
    try:
        limits = game.limits(size)
    except UsageError:
        return
    if np.prod([limit + 1 for limit in limits]) > 600:
        return
    evolution = evolve(game.within(size))
    solution = solve(game, size, grundy=True)
    assert solution.positions == len(evolution.positions)
    assert [int(solution.grundy[p]) for p in evolution.positions] == evolution.grundy.tolist()
    outcomes = solve(game, size)
    assert outcomes.positions == solution.positions
    assert np.array_equal(outcomes.p_positions, solution.p_positions)
    nim = {p for p in evolution.positions if np.bitwise_xor.reduce(p) == 0}
    differ = nim ^ set(map(tuple, solution.p_positions.tolist()))
    assert outcomes.first_difference == min(differ, key=lambda p: (sum(p), p), default=None)


def test_many_words_of_grundy_values(every_backend):
    game = chocolate(1)
    solution = solve(game, 44, grundy=True, backend=every_backend)
    assert solution.largest_grundy > 128
    assert np.array_equal(solution.grundy, general(game, solution.limits, "inequality_grundy"))


def test_limits():
    assert chocolate(1).limits(7) == (7, 14, 7)
    assert bar(2).limits(7) == (7, 3, 7)
    assert parse_game("y <= x; z <= y/2").limits(9) == (9, 9, 4)
    assert parse_game("x <= y; y <= x; z").limits(9) == (9, 9, 9)


def test_points_and_the_picture_of_the_gasket():
    solution = solve(chocolate(3), 31, grundy=True)
    points, values = solution.points(2)
    assert set(values.tolist()) == {0, 1, 2}
    assert all(solution.grundy[tuple(p)] == v for p, v in zip(points.tolist(), values.tolist(), strict=True))
    p_points, zeros = solution.points()
    assert np.array_equal(p_points, solution.p_positions)
    assert not zeros.any()
    # [V 4] lists these of the sheared points.
    listed = [[0, 0, 0], [24, 0, 0], [2, 1, 1], [3, 1, -1], [22, 1, 1], [4, 2, 2], [6, 2, -2], [25, 2, 2]]
    data = sheared(p_points).tolist()
    assert all(point in data for point in listed)


def test_more_coordinates_than_a_byte_has_flags(every_backend):
    """Nine piles of one: a P-position has evenly many; its value is otherwise 1."""
    game = InequalityGame("nim", tuple("abcdefghi"), ())
    expected = [list(p) for p in product(range(2), repeat=9) if sum(p) % 2 == 0]
    assert solve(game, 1, backend=every_backend).p_positions.tolist() == expected
    assert solve(game, 1, grundy=True, backend=every_backend).largest_grundy == 1


def test_as_many_coordinates_as_can_be_solved():
    assert len(solve(nim(32), 0).p_positions) == 1


@pytest.mark.parametrize("grundy", [False, True])
@pytest.mark.parametrize("game", [chocolate(3), bar(3), parse_game("y <= x/2; w <= 3y + 1"), six_coordinate_chocolate()])
def test_solving_tells_how_far_it_has_come(game, grundy):
    steps = []
    positions = solve(game, 4, grundy=grundy, progress=lambda *step: steps.append(step)).positions
    assert {(what, total) for what, _, total in steps} == {("position", positions)}
    done = [done for _, done, _ in steps]
    assert done == sorted(set(done))
    assert done[0] >= 1
    assert done[-1] == positions


@pytest.mark.parametrize(
    ("game", "parameters"), [("chocolate", {"a": "5/2"}), ("bar", {"k": 3}), ("wythoff", {}), ("nim", {"piles": 2})]
)
def test_the_number_of_positions_is_known_about_before(game, parameters):
    rules = find(game).game(parameters)
    for size, largest in ((255, 0), (300, 0), (150, 1)):
        there = len(solve(rules, size, grundy=largest > 0).points(largest)[0])
        assert there / 2 < expected_points(rules, size, largest) < there * 2
