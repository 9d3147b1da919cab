"""Drafts of OEIS entries, corrections and b-files: their format, their terms, their programs, and what they claim."""

import ast
import io
import re
from contextlib import redirect_stdout
from dataclasses import replace
from functools import reduce
from itertools import accumulate, pairwise, product
from math import comb
from operator import xor
from pathlib import Path

import pytest

from gpu_nim import grow, solve
from gpu_nim.automata.catalogue import find as find_automaton
from gpu_nim.model.arguments import is_a_number
from gpu_nim.model.errors import UsageError
from gpu_nim.oeis.catalogue import entries, find, resolve
from gpu_nim.oeis.corrections import CORRECTIONS
from gpu_nim.oeis.draft import Draft, data_lines, data_terms
from gpu_nim.oeis.drafts import DRAFTS, all_drafts
from gpu_nim.oeis.from_games import SIX_DIRECTIONS
from gpu_nim.oeis.submissions import submissions
from tests.helpers import facts, printed, refused, run
from tests.lattices import terms_of

CHECKOUT = Path(__file__).parents[1]
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
    anew = {draft.name: draft for draft in all_drafts()}  # with a fault that was planted after the catalogue was made
    submission = replace(submission, draft=anew.get(name))
    path = FOLDER / submission.file_name()
    assert path.read_text(encoding="ascii").splitlines() == submission.lines()


def test_the_terms_that_are_kept_are_solved_and_on_the_page() -> None:
    largest = solve("chocolate6", 5).p_positions.max(axis=1)
    assert [int((largest <= size).sum()) for size in range(6)] == list(SIX_DIRECTIONS[:6])
    assert fields(DRAFTS["chocolate6"])["F"] == ["a(n) <= (n+1)^5, since no two P-positions differ in one coordinate only."]
    assert all(term <= (n + 1) ** 5 for n, term in enumerate(SIX_DIRECTIONS))
    page = (CHECKOUT / "docs" / "open-problems" / "six-directions.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| [\d,]+ \| ([\d,]+) \|", page, re.MULTILINE)
    assert [(int(size), int(shown.replace(",", ""))) for size, shown in rows] == list(enumerate(SIX_DIRECTIONS))[1:]


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
    assert title.startswith("Square array T(k,n), " if "tabl" in lines["K"][0] else "Number of ")
    assert title.endswith(".")
    assert set(lines["K"][0].split(",")) <= KEYWORDS
    assert ("more" in lines["K"][0]) == (len(", ".join(map(str, terms))) < 180)
    assert min(terms) >= 0
    large = next(place for place, term in enumerate(terms, 1) if term > 1)
    assert lines["O"] == [f"{find(draft.name).offset},{large}"]
    assert lines["A"] == ["_YOUR NAME_, MMM DD YYYY"]
    assert f"n = {find(draft.name).offset}..{draft.reach}<" in lines["H"][0]


@pytest.mark.thorough
@pytest.mark.parametrize("draft", DRAFTS.values(), ids=DRAFTS)
def test_the_program_of_a_draft_prints_its_terms(draft: Draft) -> None:
    lines = fields(draft)["o"]
    assert lines[0] == "(Python)"
    output = io.StringIO()
    with redirect_stdout(output):
        exec("\n".join(lines[1:]), {})
    found = ast.literal_eval(output.getvalue())
    assert len(found) >= (4 if draft.name == "chocolate6" else 10)
    assert found == list(find(draft.name).terms(find(draft.name).offset, find(draft.name).offset + len(found)))
    shown = data(draft)[: len(found)]
    assert found[: len(shown)] == shown


def evaluated(formula: str, **names: object) -> object:
    return eval(formula.replace("^", "**").replace("/", "//"), {}, names)  # whose divisions leave no remainder


@pytest.mark.parametrize("name", [name for name in DRAFTS if re.fullmatch("nim-.-(births|population)", name)])
def test_the_recurrence_and_the_generating_function_of_a_draft(name: str) -> None:
    generating, recurrence, *_ = fields(DRAFTS[name])["F"]
    terms = list(find(name).terms(0, 40))
    match = re.fullmatch(
        r"a\(2\*n\) = (.*) for n >= 1, a\(2\*n\+1\) = (.*), with a\(0\) = 1 and a\(n\) = 0 for n < 0\.", recurrence
    )
    assert match is not None

    def a(n: int) -> int:
        return terms[n] if n >= 0 else 0

    assert [evaluated(match[n % 2 + 1], a=a, n=n // 2) for n in range(1, 40)] == terms[1:]
    product_of = re.fullmatch(r"G\.f\.: (\(1/\(1 - x\)\) \* )?Product_\{j>=0\} \((.*)\)\.", generating)
    assert product_of is not None
    series = [1] + [0] * 39
    for j in range(6):
        series = [
            sum(part * series[n - power] for power, part in factor(product_of[2], j).items() if power <= n) for n in range(40)
        ]
    assert terms == (list(accumulate(series)) if product_of[1] else series)


def factor(text: str, j: int) -> dict[int, int]:
    """The coefficients of a factor by their powers of x."""
    found = {}
    for term in text.split(" + "):
        match = re.fullmatch(r"(?:(\d+)\*)?x\^\((.*)\)|1", term)
        assert match is not None, term
        found[int(eval(match[2].replace("^", "**"), {"j": j})) if match[2] else 0] = int(match[1] or 1)
    return found


@pytest.mark.parametrize("name", [name for name in DRAFTS if name.endswith("-maximum")])
def test_the_formula_by_the_highest_digit_of_a_draft(name: str) -> None:
    formula, at_the_end = fields(DRAFTS[name])["F"]
    sums = list(find(name.replace("by", "up-to")).terms(0, 70))
    match = re.search(r" = (2\^.*?)(?: for n >= 1)?, where b = floor\(log_2\(n\)\) and c = n \+ 1 - 2\^b\.", formula)
    assert match is not None
    digits = [(n.bit_length() - 1, n) for n in range(1, 70)]
    assert [evaluated(match[1], b=b, c=n + 1 - 2**b, a=sums.__getitem__, s=sums.__getitem__) for b, n in digits] == sums[1:]
    power = re.search(r"a\(2\^m-1\) = (.*)\.", at_the_end)
    assert power is not None
    assert [evaluated(power[1], m=m) for m in range(7)] == [sums[2**m - 1] for m in range(7)]


def test_tables_have_the_rows_and_the_formulas() -> None:
    for name, letter in (("nim-by-total-table", "D"), ("nim-up-to-maximum-table", "a")):
        antidiagonals = iter(find(name).terms(1))
        table = {(k, s - k): next(antidiagonals) for s in range(1, 20) for k in range(1, s + 1)}
        for k in range(1, 12):
            assert [table[k, n] for n in range(20 - k)] == list(resolve(letter, k).terms(0, 20 - k))
            tuples = [(*some, reduce(xor, some, 0)) for some in product(range(8), repeat=k - 1)] if k < 5 else []
            measure = (lambda piles: sum(piles) / 2) if letter == "D" else max
            for n in range(8) if tuples else ():
                same = [measure(piles) == n if letter == "D" else measure(piles) <= n for piles in tuples]
                assert table[k, n] == sum(same)
        rows = [line.partition(": ")[2].removesuffix(" ...").split() for line in fields(DRAFTS[name])["e"][1:]]
        assert [[int(term) for term in row] for row in rows] == [[table[k, n] for n in range(8)] for k in range(1, 7)]
        if letter == "D":
            assert [table[2 * n, n] for n in range(1, 7)] == list(find("A372967").terms(1, 7))
        else:
            assert all(table[k, 2**m - 1] == 2 ** ((k - 1) * m) for k in range(1, 9) for m in range(4))
            for k, n in product(range(1, 9), range(1, 12)):
                b, c = n.bit_length() - 1, n + 1 - 2 ** (n.bit_length() - 1)
                parts = [comb(k, 2 * i) * c ** (2 * i) * 2 ** ((k - 1 - 2 * i) * b) for i in range((k + 1) // 2)]
                assert table[k, n] == sum(parts) + (table[k, c - 1] if k % 2 == 0 else 0)


def test_further_formulas_of_six_piles() -> None:
    assert fields(DRAFTS["nim-6-births"])["F"][-1] == "a(n) < a(n+1)."
    terms = list(find("nim-6-births").terms(0, 3000))
    assert all(before < after for before, after in pairwise(terms))
    formula = fields(DRAFTS["nim-6-population"])["F"][-1].removeprefix("a(2^m-1) = ").removesuffix(".")
    assert [evaluated(formula, m=m) for m in range(12)] == [find("nim-6-population").term(2**m - 1) for m in range(12)]


def test_bounds_of_edge() -> None:
    for name, shown in (("edge-births", 63), ("edge-n-births", 63)):
        (formula,) = fields(DRAFTS[name])["F"]
        match = re.fullmatch(r"a\(n\) >= (.*) for n >= 1, where s = A000120\(n\)\.", formula)
        assert match is not None
        bounds = [evaluated(match[1], s=n.bit_count()) for n in range(1, shown)]
        terms = list(find(name).terms(1, shown))
        assert all(term >= bound for term, bound in zip(terms, bounds, strict=True))
        assert terms[0] == bounds[0]
    (formula,) = fields(DRAFTS["edge-population"])["F"]
    bound = formula.removeprefix("a(2^m-1) >= ").removesuffix(".")
    terms = list(find("edge-population").terms(0, 64))
    assert [terms[2**m - 1] >= evaluated(bound, m=m) for m in range(7)] == [True] * 7
    assert [evaluated(bound, m=m) for m in range(3)] == [1, 4, 22]


def test_records_and_sums_of_four_and_five_piles() -> None:
    """What the additions to A237711, A238759, A237686 and A238147 say."""
    for name, c, e in (("A237711", 6, 1), ("A238759", 10, 5)):
        (text,) = (change.proposed for change in CORRECTIONS[name].changes if change.proposed.startswith("Record"))
        assert f"a(2^m-1) = {c}^m, a(2^m-1-2^j) = ({c}^m - {c}^j{'' if e == 1 else f'*{e}^(m-j)'})/{c - e}." in text
        terms = list(find(name).terms(0, 1 << 11))
        records = [n for n, top in enumerate(accumulate(terms, max)) if terms[n] == top and top not in terms[:n]]
        assert records == [0, *(n for n in range(1, 1 << 11) if f"{n:b}".count("0") <= 1)]
        assert all(terms[2**m - 1] == c**m for m in range(12))
        assert all(terms[2**m - 1 - 2**j] == (c**m - c**j * e ** (m - j)) // (c - e) for m in range(2, 12) for j in range(m - 1))
    for name in ("A237686", "A238147"):
        (text,) = (change.proposed for change in CORRECTIONS[name].changes if change.proposed.startswith("a(2^m-1) = "))
        formula = text.removeprefix("a(2^m-1) = ").removesuffix(".")
        assert [evaluated(formula, m=m) for m in range(20)] == [find(name).term(2**m - 1) for m in range(20)]


def test_p_positions_of_four_piles_by_their_or() -> None:
    ors = [a | b | c | a ^ b ^ c for a, b, c in product(range(16), repeat=3)]
    assert [ors.count(n) for n in range(16)] == list(find("A161343").terms(0, 16))
    assert [sum(each < n for each in ors) for n in range(17)] == list(find("A161342").terms(0, 17))


def test_the_formula_of_a_chocolate_is_nims() -> None:
    (formula,) = fields(DRAFTS["chocolate-7"])["F"]
    assert formula == "a(n) = number of pairs (x,z) with 0 <= x,z <= n and 7*(x XOR z) <= x + z."
    counted = [sum(7 * (x ^ z) <= x + z for x, z in product(range(n + 1), repeat=2)) for n in range(40)]
    assert counted == list(find("chocolate-7").terms(0, 40))


def test_the_section_of_cubic18_is_not_a151725() -> None:
    assert "First differs from A151725 at n = 14." in fields(DRAFTS["cubic18-section"])["C"]
    here, there = list(find("cubic18-section").terms(1, 15)), list(find("A151725").terms(1, 15))
    assert here[:13] == there[:13]
    assert here[13] != there[13]


def test_examples_of_edge() -> None:
    assert list(find("edge-births").terms(1, 4)) == [3, 3, 15]
    assert list(find("edge-n-births").terms(0, 9)) == [
        births - 3 ** n.bit_count() for n, births in enumerate(find("edge-births").terms(0, 9))
    ]
    assert 0 ^ 1 ^ 3 == 2


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
    assert cubic6.tolist() == list(find("A147562").terms(1, 66))  # so that docs/howto/oeis-entry.md has no draft of it


def test_terms_fill_three_lines() -> None:
    assert data_lines(range(10**5, 10**5 + 40), 69)[1].count(",") == 9
    assert data_terms([10**300]) == []
    assert data_lines([], 10) == [""]


# Corrections.


def test_the_digits_of_n() -> None:
    """A236305, A241522, A241523, A241717, A241718, A241731: the formulas with floor(log_2(n)), not with the number of digits."""
    for n in range(1, 40):
        b = n.bit_length() - 1
        c = n + 1 - 2**b
        a3, a4, a5, d3, d4, d5 = (find(name).term(n) for name in ("A236305", "A241522", "A241523", "A241717", "A241718", "A241731"))
        assert a3 == 4**b + 3 * c**2
        assert a4 == 8**b + 6 * c**2 * 2**b + find("A241522").term(c - 1)
        assert a5 == 16**b + 10 * 4**b * c**2 + 5 * c**4
        assert d3 == 6 * c - 3
        assert d4 == (12 * c - 6) * 2**b + find("A241718").term(c - 1)
        assert d5 == 10 * 4**b * (2 * c - 1) + 20 * c**3 - 30 * c**2 + 20 * c - 5
        assert find("A236305").term(n - 1) == 4**b + 3 * (n % 2**b) ** 2  # not a(n), as was conjectured


def test_a256534_is_four_times_a236305() -> None:
    terms = [4**i + 3 * (2 * j) ** 2 for i in range(1, 8) for j in range(2 ** (i - 1))]
    assert terms == [4 * term for term in find("A236305").terms(0, len(terms))]


def test_the_first_program_of_a238147_bounds_each_pile() -> None:
    def first(a: int) -> int:
        tuples = ((*four, four[0] ^ four[1] ^ four[2] ^ four[3]) for four in product(range(a + 1), repeat=4))
        return sum(piles[4] <= a for piles in tuples)

    def proposed(a: int) -> int:
        tuples = ((*four, four[0] ^ four[1] ^ four[2] ^ four[3]) for four in product(range(a + 1), repeat=4))
        return sum(sum(piles) == 2 * a for piles in tuples)

    assert [first(a) for a in range(5)] == list(find("A241523").terms(0, 5)) != list(find("A238147").terms(0, 5))
    assert list(accumulate(proposed(a) for a in range(6))) == list(find("A238147").terms(0, 6))


def test_the_section_of_a151776_is_not_a160720() -> None:
    """A160720 by its definition, with neighbours along the diagonals that are no further from the origin."""
    alive, counts = {(0, 0)}, [0, 1]
    for _ in range(12):
        steps = list(product((-1, 1), repeat=2))
        near = {(x + u, y + v) for x, y in alive for u, v in steps} - alive
        alive |= {
            (x, y)
            for x, y in near
            if sum((x + u, y + v) in alive and (x + u) ** 2 + (y + v) ** 2 <= x * x + y * y for u, v in steps) == 1
        }
        counts.append(len(alive))
    section = list(find("A147552").terms(0, 14))
    assert counts[:13] == section[:13]
    assert (counts[13], section[13]) == (145, 153)


def test_the_chocolate_of_nim_is_a256249() -> None:
    josephus = [0] + [2 * (n - 2 ** (n.bit_length() - 1)) + 1 for n in range(1, 64)]
    counted = [sum(3 * (x ^ z) <= x + z for x, z in product(range(n + 1), repeat=2)) for n in range(64)]
    assert counted == [1 + total for total in accumulate(josephus)]


def test_b_files_that_are_proposed_are_computed_and_longer() -> None:
    for correction in CORRECTIONS.values():
        if correction.reach is not None:
            (change,) = (each for each in correction.changes if "Table of n" in each.proposed)
            assert change.proposed.endswith(f"n = {find(correction.name).offset}..{correction.reach}</a>")
            ends = re.search(r"\.\.(\d+)$", change.present)
            assert ends is None or int(ends[1]) < correction.reach


# The command.


def test_a_draft_is_printed_and_listed() -> None:
    text = printed("oeis", "chocolate-2", "nim-6-births")
    assert text.count("%I Axxxxxx\n") == 2
    assert "# b-file: `gpunim oeis chocolate-2 -o . --b-file`" in text
    listed = facts("oeis")
    assert listed["edge-n-births"]["summary"] == "N-positions among the births of the automaton edge"
    assert listed["edge-births"] == {"summary": "births of the automaton edge", "offset": 0, "submit": "draft"}
    assert listed["A236305"]["submit"] == "changes"
    assert listed["A160720"] == {"summary": CORRECTIONS["A160720"].counts, "offset": None, "submit": "changes"}
    assert [name for name, row in listed.items() if not row["summary"]] == []
    assert "nim-6-births" in printed("oeis")
    automata = facts("automata")
    assert automata["edge"]["oeis"] == {}
    assert automata["edge"]["drafts"]["edge-births"] == "births"
    assert (automata["fcc"]["drafts"], "edge-births" in printed("automata")) == ({}, False)


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
    assert f"{len(lines)} terms, n = {find(name).offset} to {upto}, all those of {name}" in printed("verify", path, "--as", name)
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


def test_an_entry_that_is_only_corrected_has_no_b_file(tmp_path: Path) -> None:
    printed("oeis", "A160720", "A000027", "-o", tmp_path, "--b-file", "--upto", 9)
    assert {path.name for path in tmp_path.iterdir()} == {"A160720.edit.txt", "A000027.edit.txt", "b000027.txt"}


def test_a_growth_finds_its_draft_by_the_file(tmp_path: Path) -> None:
    path = tmp_path / "cubic18-population.txt"
    printed("grow", "cubic18", "--gen", 8, "--bfile", path, "--quiet")
    assert path.read_text().startswith("1 1\n2 19\n")
    assert printed("verify", path, "--as", "cubic18-population")
    assert [entry.number for entry in find_automaton("edge").oeis] == [
        "edge-births",
        "edge-population",
        "edge-n-births",
        "edge-section",
    ]


def test_wrong_use(tmp_path: Path) -> None:
    assert "did you mean edge-births" in refused("oeis", "edge-brith")
    assert "--out needs a NAME" in refused("oeis", "-o", tmp_path)
    assert "--b-file needs --out" in refused("oeis", "edge-births", "--b-file")
    assert "--upto needs --out" in refused("oeis", "edge-births", "--upto", 9)
    assert "--upto needs --b-file" in refused("oeis", "edge-births", "--upto", 9, "-o", tmp_path)
    assert "--json lists the sequences" in refused("oeis", "edge-births", "--json")
    assert "--number belongs to one draft, got 2" in refused("oeis", "chocolate-2", "chocolate-4", "--number", "A999999")
    assert "number must be an A-number such as A123456, got 'x'" in refused("oeis", "chocolate-2", "--number", "x")
    assert "A236305 has a number" in refused("oeis", "A236305", "--number", "A999999")
    assert "does not compute its terms" in refused("oeis", "A160720", "-o", tmp_path, "--b-file")
    (tmp_path / "file").write_text("")
    assert "it is a file, not a folder" in refused("oeis", "chocolate-2", "-o", tmp_path / "file", status=1)
    assert "cannot write into" in refused("oeis", "chocolate-2", "-o", tmp_path / "none" / "below", status=1)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    with pytest.raises(UsageError, match="begins, got 0"):
        find("cubic18-births").terms(0)
