"""Tables fit the terminal, and are as wide as they are in a file."""

import pytest

from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.cli.output import print_table
from tests.helpers import printed

HEADER = ("name", "rule", "births")
ROWS = [("nim", "the children of each position, with one [added] to two piles", 12345678), ("edge", ":smile:", 5)]


def test_tables_align(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([("a", 1000, None), ("bcd", 5, "x")], ("name", "n", "note"))
    assert capsys.readouterr().out == "name      n  note\na     1,000\nbcd       5  x\n"


@pytest.mark.parametrize("columns", [8, 20, 40, 60, 80, 120])
def test_no_letter_is_lost(columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    print_table(ROWS, HEADER)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    texts = [*HEADER, *(f"{cell:,}" if isinstance(cell, int) else cell for row in ROWS for cell in row)]
    assert sorted("".join(lines).replace(" ", "")) == sorted("".join(texts).replace(" ", ""))
    assert columns < 36 or max(map(len, lines)) <= columns


def test_a_file_has_whole_lines() -> None:
    lines = printed("automata").splitlines()
    assert len(lines) == 1 + len(CATALOGUE)
    assert max(map(len, lines)) > 120
