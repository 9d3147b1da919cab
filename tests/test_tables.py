"""Tables fit the terminal without cutting a word, and are as wide as they are in a file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.cli.output import print_table, table_lines
from tests.helpers import printed

AUTOMATA = [[each.name, each.space, " ".join(each.numbers), each.summary] for each in CATALOGUE.values()]
HEADER = ["name", "space", "OEIS", "rule"]
WORDS = st.text("abc-", min_size=1, max_size=12)
TEXTS = st.lists(WORDS, max_size=9).map(" ".join)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_catalogue_fits_any_terminal(width: int) -> None:
    lines = list(table_lines(AUTOMATA, HEADER, width))
    assert max(map(len, lines)) <= width
    shown = " ".join(lines).split()
    for row in AUTOMATA:
        for text in row:
            assert set(text.split()) <= set(shown)


@given(st.lists(st.tuples(WORDS, TEXTS, st.integers(0, 10**9).map(str)), min_size=1, max_size=5), st.integers(24, 90))
def test_no_word_is_cut_and_none_is_lost(rows: list[tuple[str, str, str]], width: int) -> None:
    lines = list(table_lines(rows, ("name", "text", "number"), width))
    assert sorted(" ".join(lines).split()) == sorted(
        word for text in [*(text for row in rows for text in row), *_names(rows, lines)] for word in text.split()
    )
    assert all(len(line) <= width for line in lines)


def _names(rows: list[tuple[str, str, str]], lines: list[str]) -> list[str]:
    """The names of columns that are shown: once above a table, and in each row of a list but the first."""
    return ["name", "text", "number"] if lines[0].split()[:1] == ["name"] else ["text", "number"] * len(rows)


def test_tables_align(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([("a", 1000, None), ("bcd", 5, "x")], ("name", "n", "note"))
    assert capsys.readouterr().out == "name      n  note\na     1,000\nbcd       5  x\n"


def test_text_is_wrapped_within_its_column() -> None:
    rows = [("nim", "the children of each position, with one added to two piles", "1")]
    assert list(table_lines(rows, ("name", "rule", "births"), 40)) == [
        "name  rule                        births",
        "nim   the children of each             1",
        "      position, with one added",
        "      to two piles",
    ]


def test_rows_that_do_not_fit_become_lists() -> None:
    assert list(table_lines([("a" * 16, "b" * 16, "c d")], ("one", "two", "three"), 36)) == [
        "a" * 16,
        "  two    " + "b" * 16,
        "  three  c d",
    ]


def test_facts_keep_their_names_before_them() -> None:
    rows = [("digest", "0" * 30), ("verified", "yes, births and each cell"), ("births", "7")]
    assert list(table_lines(rows, (), 30)) == [
        "digest",
        "  " + "0" * 30,
        "verified  yes, births and each",
        "          cell",
        "births    7",
    ]


def test_a_file_has_whole_lines() -> None:
    lines = printed("automata").splitlines()
    assert len(lines) == 1 + len(CATALOGUE)
    assert max(map(len, lines)) > 120
