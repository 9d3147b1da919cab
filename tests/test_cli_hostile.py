"""Hostile command lines that once ended in a traceback or not at all; `tests/campaign/lines.py` makes up others."""

import os
from pathlib import Path

import pytest

from tests.helpers import ON_NUMPY, printed, refused


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("render chocolate:size=² -o a.png", "source 'chocolate:size=²': size must be a whole number, got '²'"),
        ("render nim:٣ -o a.png", "source nim:GENERATION needs a whole number after the colon, got 'nim:٣'"),
        ("render chocolate:size=3 --colour branch -o a.png", "colour branch needs a growth, and chocolate:size=3 is"),
        ("render chocolate:a=1e999999999 -o a.png", "a must be a number such as 3, 5/2 or 2.5, got '1e999999999'"),
        ("render nim:3 --resolution 16384x16 -o a.webp", "a .webp picture is at most 16383 pixels wide and high, got 16384x16"),
        ("render figure:NF1 --resolution 16384x16 -o a.webp", "a .webp picture is at most 16383 pixels wide and high, got"),
        ("movie nim:3 -o a.gif --seconds inf", "'--seconds': expected a number above 0 and at most 3600, got inf"),
        ("movie nim:3 -o a.gif --seconds nan", "'--seconds': expected a number above 0 and at most 3600, got nan"),
        ("movie nim:3 -o a.gif --seconds 1e9", "'--seconds': expected a number above 0 and at most 3600, got 1e9"),
        ("count A048833 --at 2^63", "A048833 is counted from all partitions of 2n, for n up to 1000, got 9223372036854775808"),
        ("evolution --gen 2^64", "'--gen': expected an integer of at most 4611686018427387904, got 2^64"),
        ("evolution --gen 2^60", "generations must give at most 2^36 P-positions, got"),
        ("verify bogus", "statement must be 'all' or one that `gpunim verify --list` prints, got 'bogus'\n"),
        ("verify nf-lemma8", "got 'nf-lemma8'; did you mean nf-lemma-8 or"),
        ("solve wythoff --size 10^999999", "'--size': expected an integer of at most 4611686018427387904, got 10^999999"),
        ("nim 10^999999", "expected an integer of at most 10^10000, got 10^999999"),
        ("play 10^10001", "expected an integer of at most 10^10000, got 10^10001"),
        ("nim 10^1000000", "10^1000000 is beyond 10^999999, the largest integer that is read"),
        ("solve chocolate --a 1e999999999", "must be a positive rational such as 5/2, or START:STOP[:STEP], got '1e999999999'"),
    ],
)
def test_what_was_a_traceback_or_had_no_end(line: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert words in refused(*line.split())
    assert os.listdir(tmp_path) == []


def test_cells_far_apart_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The grid of the open sky stays as small as its limit, however thin and long the body is."""
    monkeypatch.chdir(tmp_path)
    printed("grow", "--offsets", "1000000000,0,0;0,1,0;0,0,1", "--gen", "1", "--out", "far.npz", *ON_NUMPY)
    printed("render", "far.npz", "--resolution=32x32", "--engine=numpy", "--quality=final", "--style=cubes", "-o", "a.png")
