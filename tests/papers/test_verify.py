"""The registry of statements: every one holds, a false one is detected, and the command reports it."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import gpu_nim
from gpu_nim import Growth, grow, save
from gpu_nim.automata.catalogue import find
from gpu_nim.automata.newborns import ancestry
from gpu_nim.deciding.relations import nim_sum_is_zero, numbers
from gpu_nim.model.digest import checksum
from gpu_nim.papers import Entry, Paper, by_definition, find_statements, run_checks, statements
from gpu_nim.papers.claims import Claim
from gpu_nim.papers.entries import Cases, Reach
from gpu_nim.papers.growth_check import cells_to_check, check_cells, last_regrown
from gpu_nim.render.source import read_source
from tests.helpers import facts, run
from tests.lattices import growth_of, tabled

verify = partial(run, "verify")


LONG = "gpunim-long-indices"  # a second, at any reach


@pytest.mark.parametrize(
    "statement",
    [pytest.param(each, marks=[pytest.mark.nightly] if each.name == LONG else [], id=each.name) for each in statements()],
)
@pytest.mark.parametrize("upto", [8, *(pytest.param(other, marks=pytest.mark.nightly) for other in (1, 20))])
def test_each_statement_holds(statement: Entry, upto: int) -> None:
    (checked,) = run_checks([statement], upto)
    assert checked.holds, checked.result.counterexample
    assert checked.result.scope


def test_names() -> None:
    assert len(find_statements(["all"])) == len(statements())
    assert [s.name for s in find_statements(["nf-lemma", "nf-lemma-6"])] == [
        f"nf-lemma-{n}" for n in (6, 8, 10, 20, 21, 23, 24, 26, 27, 28)
    ]


def test_far_is_cut_short_not_endless() -> None:
    assert by_definition.max_index(2, 10**30) == 1 << 16
    assert by_definition.max_index(9, 64) == 6
    assert by_definition.max_index(9, 10**30) == by_definition.max_index(9, 1024) == 12


@pytest.mark.parametrize("statement", statements(), ids=lambda statement: statement.name)
def test_a_thorough_check_goes_further(statement: Entry) -> None:
    reach = statement.reach
    assert reach is not None
    usual, far = reach.to(None), reach.to(None, thorough=True)
    assert far > usual or (far == usual and reach.far is None) or far == reach.usual
    assert reach.to(3) == reach.to(3, thorough=True) == min(3, far)
    assert reach.seconds >= 1


def test_a_thorough_check_says_how_long_it_takes_and_how_far_it_went() -> None:
    result = verify("nf-corners", "nf-theorem-4", "--thorough", "--upto", "16")
    assert (result.exit_code, result.stderr) == (0, "")
    assert verify("nf-b-and-c", "nf-theorem-4", "--thorough").stderr == "2 statements, about 3.0 seconds on one core\n"
    assert "cases, generations up to 16 of the Ulam-Warburton automaton, whole and without" in result.stdout
    (checked,) = gpu_nim.verify("nf-theorem-4", thorough=True)
    assert checked.result.scope == "every position, k = 1 to 5"


def test_what_was_checked_before_ctrl_c_is_printed(made_up: Paper) -> None:
    @Entry(made_up, "Theorem 1", "1 = 1", name="endless", reach=Reach())
    def interrupted(upto: int) -> Cases:
        raise KeyboardInterrupt
        yield

    names = ("nf-lemma-8", "nf-two-piles", "endless", "nf-lemma-6")
    found = facts("verify", *names, status=130)
    assert (found["complete"], [s["name"] for s in found["statements"]]) == (False, ["nf-lemma-8", "nf-two-piles"])
    assert verify(*names).stdout.endswith("\n2 of 2 statements hold, 2 of them for every number, 2 were not checked\n")
    alone = verify("endless", "--json")
    assert (alone.exit_code, alone.stdout) == (130, "")


@pytest.mark.parametrize(("first", "scope"), [(5, "4 cases, n from 5 to 8"), (10**6, "n from 1000000 to 64")])
def test_a_check_compares_something(made_up: Paper, first: int, scope: str) -> None:
    @Entry(made_up, "Theorem 1", "n = n", name="beyond", reach=Reach())
    def beyond(upto: int) -> Cases:
        yield f"n from {first} to {upto}"
        yield from (("n", n, n) for n in range(first, upto + 1))

    (found,) = gpu_nim.verify("beyond", 1)
    assert (found.holds, found.result.scope) == (first == 5, scope)


def test_a_conjecture_is_open_and_can_fail(made_up: Paper) -> None:
    conjecture = Entry(made_up, "Conjecture 1", "n^2 - n + 41 is prime", name="made-up-conjecture", reach=Reach(), conjecture=True)

    @conjecture
    def primes(upto: int) -> Cases:
        yield f"n to {upto}"
        yield "the first counterexample", 41 if upto >= 41 else None, None

    assert "conjecture: n^2 - n + 41 is prime" in verify("--list").stdout
    listed = facts("verify", "--list")["statements"]
    assert next(s["conjecture"] for s in listed if s["name"] == conjecture.name) is True
    result = verify(conjecture.name, "nf-lemma-8", "--upto", "40")
    assert result.exit_code == 0
    assert "open   made-up-conjecture" in result.stdout
    assert "conjecture, tried for n to 40; [M] Conjecture 1" in result.stdout
    assert result.stdout.endswith(
        "1 of 2 statements hold, 1 of them for every number, no counterexample was found to 1 conjecture\n"
    )
    result = verify(conjecture.name, "nf-lemma-8", "--upto", "41")
    assert result.exit_code == 1
    assert "FAILS  made-up-conjecture" in result.stdout
    assert "counterexample: the first counterexample is 41, not None\n" in result.stdout
    assert result.stdout.endswith("\n1 of 2 statements hold, 1 of them for every number\n")
    assert facts("verify", conjecture.name, "--upto", "40")["statements"][0]["conjecture"] is True


def test_a_theorem_is_an_entry_and_may_fail_or_raise(made_up: Paper) -> None:
    @Entry(made_up, "Theorem 1", name="made-up-squares", reach=Reach(30))
    def squares(upto: int) -> Cases:
        """n^2 is the sum of the first n odd numbers"""
        yield f"n up to {upto}"
        yield from ((f"{n}^2", n * n, sum(range(1, 2 * n, 2))) for n in range(upto + 1))

    @Entry(made_up, "Theorem 2", "0 can be divided by", name="made-up-error", reach=Reach())
    def error(upto: int) -> Cases:
        if upto == 1:
            raise MemoryError
        yield f"{upto / 0}"

    assert facts("verify", "--list")["statements"][-2] == {
        "name": "made-up-squares",
        "source": "[M] Theorem 1",
        "summary": "n^2 is the sum of the first n odd numbers",
        "conjecture": False,
        "decided": False,
    }
    holding = verify("made-up-squares")
    assert holding.exit_code == 0
    assert holding.stdout.startswith("holds  made-up-squares      n^2 is the sum of the first n odd numbers\n")
    assert "31 cases, n up to 30; [M] Theorem 1\n" in holding.stdout
    assert "did you mean made-up-squares" in verify("made-up-square").stderr
    raising = verify("made-up-error")
    assert raising.exit_code == 1
    assert "counterexample: the check ended with ZeroDivisionError: division by zero\n" in raising.stdout
    short = verify("made-up-error", "--upto", "1")  # of memory, which says nothing about the statement
    assert (short.exit_code, short.stdout) == (2, "")
    for words, upto in (("made-up",), None), (("made-up-error", "made-up-squares", "--upto", "9"), 9):
        found = facts("verify", *words, status=1)
        assert {s["name"]: s["holds"] for s in found["statements"]} == {"made-up-squares": True, "made-up-error": False}
        assert (found["failed"], found["upto"]) == (1, upto)


def test_what_is_decided_is_proved_or_has_the_least_counterexample(made_up: Paper) -> None:
    @Entry(
        made_up,
        "Theorem 1",
        "The nim-sum of x and y is at most x + y - a for a = 0.",
        name="bounded",
        reach=Reach(0, 1, claims="every position", over=(0, 1), parameter="a"),
    )
    def bounded(a: int) -> Cases:
        x, y, z = numbers("x y z")
        yield Claim(f"the bound with a = {a}", nim_sum_is_zero(x, y, z).implies(z + a <= x + y))

    assert verify("bounded").stdout.splitlines()[1] == "       every position, a = 0; [M] Theorem 1"
    (found,) = facts("verify", "bounded")["statements"]
    assert (found["holds"], found["proved"], found["decided"], found["scope"]) == (True, True, True, "every position, a = 0")
    wrong = verify("bounded", "--prove")
    assert wrong.exit_code == 1
    assert wrong.stdout.endswith("       counterexample: the bound with a = 1 is wrong for x = 0, y = 0, z = 0\n")
    assert facts("verify", "bounded", "--prove", status=1)["statements"][0]["proved"] is False


@pytest.mark.parametrize("name", ["g.zarr", "g.npz"])
@pytest.mark.parametrize(
    ("automaton", "known"),
    [("nim", "as [B], first rule, and [NF] Theorem 19 has it"), ("edge", "no theorem is known")],
)
def test_a_saved_growth(tmp_path: Path, name: str, automaton: str, known: str) -> None:
    growth = grow(automaton, 31)
    path = tmp_path / name
    save(growth, path, parents=path.suffix == ".zarr")
    result = verify(path)
    anew = ", which were grown again by their rule" if automaton == "edge" else ""
    parents = ", and their parents" if path.suffix == ".zarr" else ""
    cells = f"{growth.population:,} cells of generations 0 to 31{parents}{anew}"
    assert result.stdout == f"{path}: {automaton}, {cells}, agree with births and checksums; {known}\n"
    if path.is_dir():  # completion ends its name in a slash
        assert verify(f"{path}/").exit_code == 0
        assert read_source(f"{path}/").name == "g.zarr"
    found = facts("verify", path)
    assert found["digest"] == growth.digest
    assert (found["automaton"], found["population"], found["generations"]) == (automaton, growth.population, 31)
    assert found["counterexample"] is None
    assert found["theorem"] == ("[B], first rule, and [NF] Theorem 19" if automaton == "nim" else None)


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ([[0, 1, 1], [1, 0, 1]], "generation 1 has 2 births, not 3"),
        ([[0, 1, 1], [1, 0, 1], [1, 1, 1]], "(1, 1, 1) is not born at generation 1"),
        ([[0, 1, 1], [1, 0, 1], [1, 0, 1]], "the cells of generation 1 are not in lexicographic order, each once"),
        ([[1, 0, 1], [0, 1, 1], [1, 1, 0]], "the cells of generation 1 are not in lexicographic order, each once"),
    ],
)
def test_a_growth_against_its_theorem(tmp_path: Path, second: list[list[int]], words: str) -> None:
    path = tmp_path / "g.npz"
    growth = growth_of(find("nim"), [np.array(cells, np.int32) for cells in ([[0, 0, 0]], second)])
    assert check_cells(growth).counterexample == words
    save(growth, path)
    result = verify(path)
    assert result.exit_code == 1
    if "order" in words:  # which the file does not get past
        assert "the cells of generation 1 were edited or damaged" in result.stderr
        return
    assert result.stdout == f"{path}: {words}\n"
    assert facts("verify", path, status=1)["counterexample"] == words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nim", "(0, 6, 6) is not born at generation 3"),
        ("nim-4", "(0, 0, 6, 6) is not born at generation 3"),
        ("ulam-warburton", "(-6, 0) is not born at generation 3"),
        *((name, "generation 3 is not that of its rule") for name in ("edge", "fcc", "hexagonal")),
    ],
)
def test_cells_that_changed_generations(tmp_path: Path, name: str, words: str) -> None:
    growth = grow(name, 8, cells=True)
    newborns = [growth.newborns(n) for n in range(9)]
    first, later = newborns[3][0], newborns[6][0]
    for n, leaves, comes in ((3, first, later), (6, later, first)):
        cells = np.vstack([newborns[n][(newborns[n] != leaves).any(axis=1)], [comes]])
        newborns[n] = cells[np.lexsort(cells.T[::-1])]
    save(growth_of(find(name), newborns), tmp_path / "g.npz")
    result = verify(tmp_path / "g.npz")
    assert (result.exit_code, result.stdout) == (1, f"{tmp_path / 'g.npz'}: {words}\n")


@pytest.mark.parametrize(
    ("claimed", "status", "words"),
    [
        ("fcc", 1, "generation 1 is not that of its rule"),
        ("edge", 1, "generation 3 is not that of its rule"),
        ("ulam-warburton", 1, "its rule has other cells"),
        ("nim-4", 1, "its rule has other cells"),
        ("nim-3", 0, "[NF] Lemma 23"),  # another rule for the very same cells
    ],
)
def test_a_growth_under_another_name(tmp_path: Path, claimed: str, status: int, words: str) -> None:
    growth = grow("nim", 15, cells=True)
    growth.automaton = claimed
    save(growth, tmp_path / "g.npz")
    result = verify(tmp_path / "g.npz")
    assert (result.exit_code, result.stdout) == (1, f"{tmp_path / 'g.npz'}: its rule is not that of {claimed}\n")
    growth.rule, growth.symmetry = find(claimed).rule, find(claimed).rule.symmetry
    represented = (growth.symmetry.representative(cells) for cells in growth)
    growth.checksums = np.array([checksum(cells) for cells in represented], np.uint64)
    save(growth, tmp_path / "g.npz")
    result = verify(tmp_path / "g.npz")
    assert result.exit_code == status
    assert words in result.output


@pytest.mark.parametrize("name", ["nim", "edge"])
def test_parents_of_another_program_are_held_against_the_rule(name: str) -> None:
    growth = grow(name, 15, cells=True)
    given = [(n, parents + 2 * (n == 7)) for n, parents in ancestry(growth.rule, enumerate(growth))]
    result = check_cells(replace(growth, parents=lambda first, stop: iter(given[first:stop])))
    assert re.fullmatch(r"the parent of \(\d+, \d+, \d+\) is cell \d+, not \d+", result.counterexample)


def test_a_growth_beyond_a_minutes_work_is_last_regrown_in_part() -> None:
    grown, births = grow("edge", 3), np.diff(tabled("edge"), prepend=0).astype(np.uint64)
    whole = Growth("edge", births, births, grown.source, rule=grown.rule, verified=None, backend="", device="", seconds=0)
    last = last_regrown(whole)
    again = tabled("edge")[last]
    assert again <= 2**26 < tabled("edge")[last + 1]
    assert cells_to_check(whole) == whole.population + again
