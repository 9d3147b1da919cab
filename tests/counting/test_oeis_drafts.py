"""Drafts of OEIS entries, corrections and b-files: their format, their terms, their programs, and what they claim."""

import ast
import io
import math
import re
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from functools import cache, reduce
from itertools import accumulate, islice, pairwise, permutations, product
from operator import xor
from pathlib import Path
from typing import Any

import pytest

from gpu_nim import Growth, grow, solve
from gpu_nim.automata.catalogue import find as find_automaton
from gpu_nim.model.arguments import is_a_number
from gpu_nim.oeis.catalogue import SIX_DIRECTIONS, entries, find, resolve
from gpu_nim.oeis.submissions import CORRECTIONS, DRAFTS, SOURCES, Change, Draft, Note, by_worth, submissions
from gpu_nim.storage.submissions import submit
from tests.helpers import CHECKOUT, facts, printed, run
from tests.lattices import terms_of

FOLDER = CHECKOUT / "docs" / "oeis"
ORDER = "ISTUNCDHFeptoYKOAE"  # of the lines of an entry, as the OEIS prints them
KEYWORDS = {"nonn", "easy", "hard", "more", "tabl"}


def fields(draft: Draft) -> dict[str, list[str]]:
    """The lines of a committed draft by their letters."""
    found: dict[str, list[str]] = {}
    for line in (FOLDER / f"{draft.name}.seq.txt").read_text(encoding="ascii").splitlines():
        if not line.startswith("#"):
            match = re.fullmatch(r"%([A-Za-z]) Axxxxxx(?: (.+))?", line)
            assert match is not None, line
            found.setdefault(match[1], []).append(match[2] or "")
    return found


def data(draft: Draft) -> list[int]:
    lines = fields(draft)
    return [int(term) for tag in "STU" for line in lines.get(tag, []) for term in line.rstrip(",").split(",")]


def test_every_entry_without_a_number_has_a_draft_and_a_committed_file() -> None:
    assert set(DRAFTS) == {name for name in entries() if not is_a_number(name)}
    committed = {*(f"{name}.seq.txt" for name in DRAFTS), *(f"{name}.edit.txt" for name in CORRECTIONS)}
    assert {path.name for path in FOLDER.iterdir()} == committed


@pytest.mark.parametrize("name", [*DRAFTS, *CORRECTIONS])
def test_a_committed_file_is_what_is_generated(name: str) -> None:
    (submission,) = submissions([name])
    path = FOLDER / submission.file_name()
    assert path.read_text(encoding="utf-8").splitlines() == submission.lines()


def test_the_terms_that_are_kept_are_solved_and_on_the_page() -> None:
    largest = solve("chocolate6", 5).p_positions.max(axis=1)
    assert [int((largest <= size).sum()) for size in range(6)] == list(SIX_DIRECTIONS[:6])
    page = (CHECKOUT / "docs" / "open-problems" / "six-directions.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| [\d,]+ \| ([\d,]+) \|", page, re.MULTILINE)
    assert [int(shown.replace(",", "")) for _, shown in rows] == [SIX_DIRECTIONS[int(size)] for size, _ in rows]
    assert len(rows) == 9


@pytest.mark.parametrize("draft", DRAFTS.values(), ids=DRAFTS)
def test_a_draft_has_the_format_of_the_oeis(draft: Draft) -> None:
    lines = fields(draft)
    assert list(lines) == [tag for tag in ORDER if tag in lines]
    assert set(lines) >= set("ISNCHoYKOA")
    assert all(line == line.strip() and "\t" not in line for tag in set(lines) - {"o"} for line in lines[tag])
    rows = [line for tag in "STU" for line in lines.get(tag, [])]
    assert all(len(f"%S Axxxxxx {row}") <= 80 for row in rows)
    assert [row.endswith(",") for row in rows] == [True] * (len(rows) - 1) + [False]
    terms = data(draft)
    assert len(", ".join(map(str, terms))) <= 260
    assert len(terms) >= 13
    (title,) = lines["N"]
    assert title.endswith(".")
    assert set(lines["K"][0].split(",")) <= KEYWORDS
    assert ("more" in lines["K"][0]) == (len(", ".join(map(str, terms))) < 180)
    assert min(terms) >= 0
    large = next(place for place, term in enumerate(terms, 1) if term > 1)
    assert lines["O"] == [f"{find(draft.name).offset},{large}"]
    assert lines["A"] == ["_YOUR NAME_, MMM DD YYYY"]
    assert f"n = {find(draft.name).offset}..{draft.reach}<" in lines["H"][0]


@pytest.mark.nightly
@pytest.mark.parametrize("draft", DRAFTS.values(), ids=DRAFTS)
def test_the_program_of_a_draft_prints_its_terms(draft: Draft) -> None:
    assert set(draft.programs) == {"Python"}
    output = io.StringIO()
    with redirect_stdout(output):
        exec(draft.programs["Python"], {})
    found = ast.literal_eval(output.getvalue())
    assert len(found) >= (4 if draft.name == "chocolate6" else 10)
    assert found == list(find(draft.name).terms(find(draft.name).offset, find(draft.name).offset + len(found)))
    shown = data(draft)[: len(found)]
    assert found[: len(shown)] == shown


# What drafts and corrections claim.

SAID: list[tuple[str, tuple[Note | Change, ...]]] = [
    *((draft.name, draft.claims) for draft in DRAFTS.values()),
    *((correction.name, correction.changes) for correction in CORRECTIONS.values()),
]
CLAIMS = {f"{name}-{place}": (name, said) for name, words in SAID for place, said in enumerate(words)}


def last_value(program: str, names: dict[str, Any]) -> object:
    """Run a program, and return the value of its last line."""
    *before, last = ast.parse(program).body
    assert isinstance(last, ast.Expr), program
    exec(compile(ast.Module(before, []), "<check>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<check>", "eval"), names)


@cache
def grown(automaton: str, last: int) -> Growth:
    return grow(automaton, last, verify=False, cells=True)


@cache
def first_terms(name: str) -> list[int]:
    entry = find(name)
    return list(entry.terms(entry.offset, entry.offset + 64)) if name != "chocolate6" else list(SIX_DIRECTIONS)


def names_of_a_check(name: str, said: Note | Change, wrong: bool = False) -> dict[str, Any]:
    """What a check may use.

    `a(n)` and `s(n)`, the entry's terms and their sums; `first(k)`, its first terms; `T(k, n)`, those of a table; `A(name)`,
    another entry's terms; `born(automaton, n)`, cells; `p_positions(game, size)`; `says(start)`, the formula that follows these
    words in the text, a function of its letters; `digits(k)`, each n from 1 below k with b and c; `coefficients(factor, k)` of
    the product of factor(x=x, j=j); and a few functions of mathematics. If `wrong`, all that gpunim computes is something else.
    """
    text = said.text if isinstance(said, Note) else said.proposed

    def terms_of_entry(other: str) -> Callable[[int], int]:
        entry, known = find(other), first_terms(other)

        def term(n: int) -> int:
            if n < entry.offset:
                return 0
            value = known[n - entry.offset] if n - entry.offset < len(known) else entry.term(n)
            return value + (len(other) + 10**9 * (n % 2) if wrong else 0)

        return term

    def first(k: int) -> list[int]:
        entry = find(name)
        terms = entry.terms(entry.offset, entry.offset + k)
        return [term + (len(name) + 10**9 * (n % 2) if wrong else 0) for n, term in enumerate(terms)]

    def born(automaton: str, n: int) -> set[tuple[int, ...]]:
        cells = grown(automaton, 1 << n.bit_length()).newborns(n)
        return {tuple(cell) for cell in cells.tolist()} | ({(8, 8, 8)} if wrong else set())

    def p_positions(game: str, size: int, **parameters: int) -> set[tuple[int, ...]]:
        found = {tuple(position) for position in solve(game, size, **parameters).p_positions.tolist()}
        return found - {(0,) * len(min(found))} if wrong else found

    def says(start: str) -> Callable[..., int]:
        found = re.search(re.escape(start) + r"(.*?)(?:, | for | where | = |: |\.$)", text)
        assert found is not None, f"{text} has no {start}"
        formula = found[1].replace("^", "**").replace("/", "//").replace(" mod ", " % ")  # whose divisions leave no remainder
        return lambda **letters: eval(formula, names | letters)

    def coefficients(factor: Callable[..., int], k: int) -> list[int]:
        base, product_of_factors = 1 << 64, 1  # coefficients are its digits at x = base
        for j in range(k.bit_length()):
            product_of_factors = product_of_factors * factor(x=base, j=j) % base**k
        return [product_of_factors // base**n % base for n in range(k)]

    names: dict[str, Any] = {
        "text": text,
        "present": getattr(said, "present", ""),
        "proposed": getattr(said, "proposed", ""),
        "sources": dict.fromkeys(SOURCES, "") if wrong else SOURCES,
        "a": terms_of_entry(name) if name in entries() else None,
        "A": terms_of_entry,
        "first": first,
        "s": lambda n: sum(first(n + 1)),
        "T": lambda k, n: names["a"]((k + n) * (k + n - 1) // 2 + k),
        "born": born,
        "p_positions": p_positions,
        "says": says,
        "coefficients": coefficients,
        "digits": lambda k: [(n, n.bit_length() - 1, n + 1 - (1 << n.bit_length() - 1)) for n in range(1, k)],
        "josephus": lambda n: 2 * (n - (1 << n.bit_length() - 1)) + 1 if n else 0,
        "floor": lambda value: value,
        "log_2": lambda n: n.bit_length() - 1,
        "automaton": find_automaton,
        "resolve": resolve,
        "xor": lambda *piles: reduce(xor, piles),
        "comb": math.comb,
        **{function.__name__: function for function in (accumulate, pairwise, permutations, product)},
    }
    return names


@pytest.mark.parametrize("wrong", [False, True])
@pytest.mark.parametrize(("name", "said"), CLAIMS.values(), ids=CLAIMS)
def test_a_claim_is_true_and_its_check_can_fail(name: str, said: Note | Change, wrong: bool) -> None:
    assert last_value(said.check, names_of_a_check(name, said, wrong)) is (not wrong)


@pytest.mark.parametrize(("name", "said"), [each for each in CLAIMS.values() if "says(" in each[1].check])
def test_the_check_of_a_formula_reads_it(name: str, said: Note | Change) -> None:
    names = names_of_a_check(name, said)
    says = names["says"]
    names["says"] = lambda start: lambda **letters: says(start)(**letters) + 1
    assert last_value(said.check, names) is False


SUMS: Mapping[str, Callable[[list[int]], list[int]]] = {
    "partial sums": lambda terms: list(accumulate(terms)),
    "first differences": lambda terms: [terms[0], *(after - before for before, after in pairwise(terms))],
}


def test_related_entries_are_known_and_what_they_are_said_to_be() -> None:
    for draft in DRAFTS.values():
        assert draft.related or not draft.name.startswith("nim")
        for name, about in draft.related.items():
            if about in SUMS:
                terms = [list(find(each).terms(find(each).offset, 40)) for each in (draft.name, name)]
                assert SUMS[about](terms[0]) == terms[1], (draft.name, name)
            elif not is_a_number(name):
                assert name in DRAFTS
    proofs = {said.reason.rpartition(", ")[2] for _, said in CLAIMS.values() if isinstance(said, Change) and "docs/" in said.reason}
    assert proofs
    assert all((CHECKOUT / proof).is_file() for proof in proofs)


@pytest.mark.parametrize("draft", DRAFTS.values(), ids=DRAFTS)
def test_no_known_entry_has_the_terms_of_a_draft(draft: Draft) -> None:
    terms = data(draft)
    for path in (CHECKOUT / "tests" / "oeis").glob("A*.txt"):
        assert f",{','.join(map(str, terms[1:20]))}," not in f",{','.join(map(str, terms_of(path.stem).values()))},", path.stem
    assert [other.name for other in DRAFTS.values() if data(other)[1:] == terms[1:]] == [draft.name]


def test_sections_and_the_entries_that_they_look_like() -> None:
    edge = [4 * term - 3 for term in find("edge-section").terms(0, 36)]
    fcc = list(find("A147552").terms(1, 37))
    assert "A147552 (all of Z^3; first differs from 4*a(n-1) - 3 at n = 36)" in fields(DRAFTS["edge-section"])["Y"][0]
    assert edge[:35] == fcc[:35]
    assert (edge[35], fcc[35]) == (1165, 1157)
    cubic6 = grow("cubic6", 64, columns=["section z=0"], verify=False).table["section z=0"]
    assert cubic6.tolist() == list(find("A147562").terms(1, 66))  # so that docs/howto/oeis.md has no draft of it


def test_b_files_that_are_proposed_are_computed_and_longer() -> None:
    for correction in CORRECTIONS.values():
        if correction.reach is not None:
            line = next(line for line in correction.lines(find(correction.name)) if line.startswith("+%H") and "Table of n" in line)
            assert f"n = {find(correction.name).offset}..{correction.reach}</a>" in line
            ends = re.search(r"\.\.(\d+)<", correction.b_file)
            assert ends is None or int(ends[1]) < correction.reach
            assert submissions([correction.name])[0].last_index(None) == correction.reach


# The command.


def test_each_entry_is_listed_with_what_it_counts() -> None:
    listed = facts("oeis")
    assert listed["A160720"]["summary"] == CORRECTIONS["A160720"].counts
    assert [name for name, row in listed.items() if not row["summary"]] == []
    assert "edge-births" not in printed("automata")


B_LINE = re.compile(r"(-?[1-9][0-9]*|0) (-?[1-9][0-9]*|0)")


@pytest.mark.parametrize(
    ("name", "upto"), [("edge-population", 60), ("nim-6-births", 300), ("chocolate-4", 30), ("cubic18-section", 20)]
)
def test_a_b_file_is_written_and_verified(name: str, upto: int, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    printed("oeis", name, "-o", folder, "--b-file", "--upto", upto)
    assert f"n = {find(name).offset}..{upto}<" in (folder / f"{name}.seq.txt").read_text(encoding="ascii")
    path = folder / f"{name}.txt"
    raw = path.read_bytes()
    assert raw.endswith(b"\n")
    lines = raw.decode("ascii").split("\n")[:-1]
    assert all(B_LINE.fullmatch(line) and len(line) < 1000 for line in lines)
    assert f"agrees with {name} in all {len(lines)} terms, n = {find(name).offset} to {upto}" in printed(
        "verify", path, "--as", name
    )
    path.write_text(path.read_text().replace(lines[-1], f"{lines[-1]}0"))
    assert run("verify", path, "--as", name).exit_code == 1


def test_an_allocated_number_is_written(tmp_path: Path) -> None:
    printed("oeis", "chocolate-2", "-o", tmp_path, "--b-file", "--upto", 9, "--number", "A999999")
    text = (tmp_path / "A999999.seq.txt").read_text(encoding="ascii")
    assert text.startswith("%I A999999\n%S A999999 1,2,5,6,9,14,")
    assert 'href="/A999999/b999999.txt">Table of n, a(n) for n = 0..9</a>' in text
    assert printed("verify", tmp_path / "b999999.txt", "--as", "chocolate-2")


def test_the_b_file_of_an_entry(tmp_path: Path) -> None:
    printed("oeis", "a237711", "-o", tmp_path, "--b-file", "--upto", 40)
    assert printed("verify", tmp_path / "b237711.txt", "--as", "A237711")
    assert (tmp_path / "A237711.edit.txt").read_text() == (FOLDER / "A237711.edit.txt").read_text()
    (later,) = submissions(["A147582"])
    assert later.last_index(None) == 1001  # from its offset on


def test_what_is_worth_most_comes_first(tmp_path: Path) -> None:
    files = list(islice(submit(every=True, out=tmp_path / "new"), 6))
    assert [path.relative_to(tmp_path).as_posix() for path in files[:2]] == [
        "new/01-A186410/A186410.edit.txt",
        "new/02-A186411/A186411.edit.txt",
    ]
    assert files[4].name == "b238147.txt"
    assert sorted(each.name for each in by_worth()) == sorted([*DRAFTS, *CORRECTIONS])


def test_an_entry_that_is_only_corrected_has_no_b_file(tmp_path: Path) -> None:
    printed("oeis", "A160720", "A000027", "-o", tmp_path, "--b-file", "--upto", 9)
    assert {path.name for path in tmp_path.iterdir()} == {"A160720.edit.txt", "A000027.edit.txt", "b000027.txt"}
