"""A reduction of ranges that is registered by one entry alone: it is listed, parsed, planned, computed and printed."""

import pytest

from gpu_nim.counting.reductions import REDUCTIONS, ReductionEntry
from tests.helpers import facts, printed, refused, run

SPREAD = ReductionEntry(
    "spread",
    "the largest value less the smallest",
    "value",
    lambda family, start, stop, *_: family.maximum(start, stop) - family.minimum(start, stop),
)
MIDDLE = ReductionEntry("middle", "the index in the middle", "index", lambda family, start, stop, *_: (start + stop) // 2)
TENTHS = ReductionEntry(
    "tenths",
    "the number of values by remainder modulo 10 M",
    "counts",
    lambda *_: None,
    scan=lambda family, values, chunk, modulus: values.residues(*chunk, 10 * modulus),
    takes_modulus=True,
    describe=lambda key: f"...{key}",
)
VALUES = [1, 6, 7, 36, 13, 42, 43, 216]  # A237711, D_4


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for entry in (SPREAD, MIDDLE, TENTHS):
        monkeypatch.setitem(REDUCTIONS, entry.name, entry)


def test_they_are_listed_and_named() -> None:
    told = printed("count", "--help")
    for entry in (SPREAD, MIDDLE, TENTHS):
        assert f"  {entry.written} " in told
        assert entry.summary in told
    known = refused("count", "A237711", "--range", "0:8", "--reduce", "spred")
    assert f"reduce must be among {', '.join(entry.written for entry in REDUCTIONS.values())}, got" in known
    assert "reduce needs tenths:M with M from 1" in refused("count", "A237711", "--range", "0:8", "--reduce", "tenths")


def test_they_are_computed_and_printed() -> None:
    words = ("count", "A237711", "--range", "0:8", "--reduce", "spread,middle,tenths:1", "--quiet")
    counts = {digit: [value % 10 for value in VALUES].count(digit) for digit in sorted({value % 10 for value in VALUES})}
    expected = {"spread": "215", "middle": 4, "tenths:1": {str(digit): number for digit, number in counts.items()}}
    assert facts(*words)["reductions"] == expected
    rows = [line.split() for line in printed(*words).splitlines()]
    assert rows == [["spread", "215"], ["middle", "4"], *(["tenths:1", f"...{digit}", str(n)] for digit, n in counts.items())]


def test_an_index_is_the_entrys_and_visits_are_planned() -> None:
    assert facts("count", "A000027", "--range", "1:9", "--reduce", "middle,argmax")["reductions"] == {"middle": 5, "argmax": 8}
    for name, visited in (("spread", 0), ("tenths:3", 10**9), ("sum", 0)):
        assert facts("count", "A237711", "--range", "0:10^9", "--reduce", name, "--plan")["plan"]["values"] == visited
    assert run("count", "A237711", "--range", "0:10^9", "--reduce", "tenths:3", "--plan").exit_code == 0
