"""A family of sequences and a reduction of ranges are each known by one entry: made-up ones to every command, on either backend."""

from collections.abc import Iterator
from math import comb
from typing import ClassVar

import pytest

from gpu_nim import count
from gpu_nim.backends.interface import Backend
from gpu_nim.counting import closed_forms
from gpu_nim.counting.digit_matrices import DigitProduct, IndexBlocks
from gpu_nim.counting.families import FAMILIES, find_family
from gpu_nim.counting.family import DigitFamily, Family, Rising, index
from gpu_nim.counting.reductions import REDUCTIONS, ReductionEntry
from gpu_nim.model.arguments import IntLike
from gpu_nim.model.errors import UsageError
from gpu_nim.model.work import OnStep, no_progress
from tests.helpers import facts, printed, refused, run

STOP = 40


class Stern(DigitFamily):
    """prod_j (1 + k x^(2^j) + x^(2^(j+1))), for one pile Stern's diatomic sequence from its second term on (A002487)."""

    name = "S"
    summary = "Stern's sequence with weight {piles}"

    product_of = staticmethod(lambda weight: DigitProduct((1, weight, 1)))


class Powers(Rising):
    """n^k: no digit product, and nothing that tuples could count; the powers of the index are moved by those of its digits."""

    name = "pow"
    summary = "The power n^{piles}"
    numbers: ClassVar = {3: "A999991"}

    def value(self, n: IntLike, progress: OnStep = no_progress) -> int:
        return index(n) ** self.piles

    def _sum_through(self, last: int) -> int:
        return closed_forms.power_sum(self.piles, last)

    def blocks(self) -> IndexBlocks:
        size = range(self.piles + 1)
        moved = lambda bit, digit: [[comb(i, j) * (digit << bit) ** (i - j) if j <= i else 0 for j in size] for i in size]  # noqa: E731
        return IndexBlocks([int(i == self.piles) for i in size], [int(i == 0) for i in size], moved)


def stern(piles: int, n: int) -> int:
    """By the coefficients of the generating function's lowest factor."""
    if n == 0:
        return 1
    half = n // 2
    return piles * stern(piles, half) if n % 2 else stern(piles, half) + stern(piles, half - 1)


VALUES = {"S": stern, "pow": lambda piles, n: n**piles}


@pytest.fixture(params=[Stern, Powers])
def made_up(request: pytest.FixtureRequest) -> Iterator[type[Family]]:
    """A family that the package does not know, in the catalogue for the time of a test."""
    FAMILIES.add(request.param)
    yield request.param
    del FAMILIES[request.param.name]


def expected(name: str, stop: int = STOP) -> list[int]:
    return [VALUES[name](3, n) for n in range(stop)]


@pytest.mark.parametrize("made_up", [Powers], indirect=True)
def test_its_oeis_entries_are_known(made_up: type[Family]) -> None:
    assert printed("count", "A999991", "--at", 12) == printed("count", made_up.name, "--piles", 3, "--at", 12) == "1728\n"
    assert "A999991" in printed("oeis")


def test_values_and_ranges(made_up: type[Family], backend: Backend) -> None:
    values, words = expected(made_up.name), ("count", made_up.name, "--piles", 3)
    assert printed(*words, "--at", 37) == f"{values[37]}\n"
    assert printed(*words, "--range", f"0:{STOP}", "--format", "bfile") == "".join(f"{n} {v}\n" for n, v in enumerate(values))
    assert count(made_up.name, range(5, STOP), piles=3, backend=backend).tolist() == values[5:]
    start = 2**70 + 3
    found = count(made_up.name, range(start, start + 20), piles=3, backend=backend).tolist()
    assert found == [find_family(made_up.name, 3).value(n) for n in range(start, start + 20)]


def test_trying_tuples_is_refused(made_up: type[Family]) -> None:
    sentence = f"{made_up.name}_3 is no count of P-positions by total or by largest pile: it cannot be enumerated"
    with pytest.raises(UsageError, match=f"^{sentence}$"):
        count(made_up.name, range(9), piles=3, method="enumerate")


def test_help_and_messages_know_it(made_up: type[Family]) -> None:
    name, others = made_up.name, ", ".join(list(FAMILIES)[:-1])
    assert f"  {name}  " in printed("count", "--help")
    assert made_up.summary.format(piles="K") in printed("count", "--help")
    assert f"one of {others}, {name}, A000007" in refused("count", "E", "--at", 3)
    assert f"{name} needs --piles" in refused("count", name, "--at", 3)
    assert f"piles belongs to {others} and {name}" in refused("count", "A237711", "--piles", 3, "--at", 3)
    assert f"is for a range of {others} or {name} or of" in refused("count", "A048833", "--range", "0:9", "--reduce", "sum")
    assert f"{others} or {name}, and a b-file" in refused("verify", "all", "--piles", 3)


def test_statements_hold_beside_it(made_up: type[Family]) -> None:
    assert run("verify", "gpunim-counts", "gpunim-tables", "--upto", 4).exit_code == 0


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
D4 = [1, 6, 7, 36, 13, 42, 43, 216]  # A237711, D_4


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
    counts = {digit: [value % 10 for value in D4].count(digit) for digit in sorted({value % 10 for value in D4})}
    expected = {"spread": "215", "middle": 4, "tenths:1": {str(digit): number for digit, number in counts.items()}}
    assert facts(*words)["reductions"] == expected
    rows = [line.split() for line in printed(*words).splitlines()]
    assert rows == [["spread", "215"], ["middle", "4"], *(["tenths:1", f"...{digit}", str(n)] for digit, n in counts.items())]


def test_an_index_is_the_entrys_and_visits_are_planned() -> None:
    assert facts("count", "A000027", "--range", "1:9", "--reduce", "middle,argmax")["reductions"] == {"middle": 5, "argmax": 8}
    for name, visited in (("spread", 0), ("tenths:3", 10**9), ("sum", 0)):
        assert facts("count", "A237711", "--range", "0:10^9", "--reduce", name, "--plan")["plan"]["values"] == visited
    assert run("count", "A237711", "--range", "0:10^9", "--reduce", "tenths:3", "--plan").exit_code == 0
