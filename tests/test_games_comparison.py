"""Two games compared: against sets of P-positions that are solved by the definitions."""

from __future__ import annotations

import pytest

from gpu_nim.games import Comparison, compare
from gpu_nim.games.inequality import InequalityGame, bar, chocolate, parse_game
from gpu_nim.papers.by_definition import inequality_values


@pytest.mark.parametrize(
    ("first", "second", "size"),
    [
        (chocolate(3), chocolate(2), 5),
        (chocolate(3), chocolate(7), 7),
        (chocolate("5/2"), bar(2), 6),
        (chocolate(1), parse_game("y <= x + z; y <= 2"), 5),
        (parse_game("x <= y; y <= x + 1"), parse_game("y <= x + 2"), 9),
    ],
    ids=str,
)
def test_what_two_sets_have_in_common(first: InequalityGame, second: InequalityGame, size: int) -> None:
    values = [inequality_values(game, game.limits(size)) for game in (first, second)]
    p_first, p_second = ({position for position, value in each.items() if value == 0} for each in values)
    shared = values[0].keys() & values[1].keys()
    differing = sorted((p_first ^ p_second) & shared, key=lambda position: (sum(position), position))
    expected = Comparison(
        game=first.describe(),
        against=second.describe(),
        size=size,
        p_positions=(len(p_first), len(p_second)),
        both=len(p_first & p_second),
        only_first=len((p_first - p_second) & shared),
        only_second=len((p_second - p_first) & shared),
        elsewhere=(len(p_first - shared), len(p_second - shared)),
        first_difference=differing[0] if differing else None,
        p_in_first=differing[0] in p_first if differing else None,
    )
    found = compare(first, second, size)
    assert found == expected
    assert found.equal is not bool(differing)


def test_games_of_other_kinds() -> None:
    """Wythoff's P-positions are (0,0), (1,2), (3,5), (4,7), ...; Nim's with two piles are the equal ones."""
    found = compare("wythoff", "nim:piles=2", 7)
    assert (found.both, found.only_first, found.only_second, found.elsewhere) == (1, 6, 7, (0, 0))
    assert (found.first_difference, found.p_in_first) == ((1, 1), False)
    assert compare("kayles", "subtraction:take=1,2,3", 8).first_difference == (4,)


def test_the_search_ends_at_the_first_difference() -> None:
    assert compare("chocolate", "chocolate:a=3", 127, until_difference=True, a=2).size == 15
    found = compare("chocolate", "nim", 64, until_difference=True, a=8)
    assert (found.size, found.first_difference, found.p_in_first) == (64, (25, 7, 32), True)
    assert compare("chocolate", "nim", 20, until_difference=True).equal
