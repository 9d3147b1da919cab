"""What the sources print beside what gpunim computes: no number is missing, each item runs, and a difference is noticed."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from gpu_nim.model.errors import UsageError
from gpu_nim.papers import (
    Entry,
    ItemResult,
    Paper,
    Printed,
    Verdict,
    find_papers,
    find_statements,
    statements,
)
from gpu_nim.papers.entries import PAPERS, Cases, Reach
from gpu_nim.papers.views import reproduce
from gpu_nim.render.figures import FIGURES
from gpu_nim.render.report import FACTS, PAGE, page, save_report
from tests.chromium import Browser, chromium_driver, needs_chromium
from tests.helpers import beside, facts, printed, refused, run
from tests.shown_commands import run_shown, smaller

SOURCES: dict[str, dict[str, Any]] = beside(__file__)
NUMBERED = {
    name: {*source.get("named", ())}
    | {f"{word} {number}" for word, numbers in source.get("numbered", {}).items() for number in numbers.split()}
    for name, source in SOURCES.items()
}
#: What is drawn, and no table of digits.
PICTURES: dict[str, list[str]] = {name: source.get("pictures", []) for name, source in SOURCES.items()}
ANSWERS = {  # (5,7,9) has nim-sum 11, (15,23,30) has 6; a pile of 1 balances 13 and 12
    "the outcome of (5,7,9)": "N",
    "the outcome of (15,23,30)": "N",
    "the third winning move": [[7, [13, 12, 1]]],
}
ITEMS = [(name, item) for name, paper in PAPERS.items() for item in paper.items]


def label(value: object) -> str:
    return value.number if isinstance(value, Entry) else str(value)


@pytest.fixture(scope="module")
def results() -> list[ItemResult]:
    return list(reproduce(find_papers(["all"]), upto=2))


@pytest.mark.parametrize("name", PAPERS)
def test_no_number_is_missing(name: str) -> None:
    numbers = [item.number for item in PAPERS[name].items]
    assert len(set(numbers)) == len(numbers)
    assert NUMBERED[name] - set(numbers) == set()
    assert {number.split(",")[0].removeprefix("Section ") for number in numbers if number[:7] == "Section"} >= {
        *SOURCES[name].get("sections", ())
    }
    assert {item.number for item in PAPERS[name].items if item.kind != "text"} >= NUMBERED[name]


def test_every_item_is_as_expected(results: list[ItemResult]) -> None:
    verdicts = {(result.paper, result.item.number): result.verdict for result in results}
    assert len(verdicts) == len(ITEMS)
    assert [key for key, verdict in verdicts.items() if verdict is Verdict.DISAGREEMENT] == []
    answered = [each for result in results for each in result.compared if each.verdict is Verdict.ANSWERED]
    found = {each.about: each.computed for each in answered}
    assert {about: found[about] for about in ANSWERS} == ANSWERS
    assert [result.item.number for result in results if (result.verdict is Verdict.ERRATUM) is not bool(result.item.erratum)] == []


@pytest.mark.parametrize(("name", "item"), ITEMS, ids=label)
def test_every_item_has_its_command(name: str, item: Entry) -> None:
    assert item.summary
    assert not item.figure or item.figure in FIGURES
    assert item.checks or [*item.printed()]


@pytest.mark.parametrize("command", dict.fromkeys(item.shown_by for _, item in ITEMS))
def test_every_command_that_is_listed_runs(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run_shown(smaller(command))
    assert done.exit_code == 0, done.stderr


def test_every_picture_is_drawn_and_nothing_is_left_out(results: list[ItemResult]) -> None:
    assert all(item.figure for name, item in ITEMS if item.number in PICTURES[name])
    assert not [each.item.number for each in results if each.verdict is Verdict.OMITTED]


def test_results_have_the_numbers_of_the_version_of_the_arxiv() -> None:
    found = [item.arxiv_number for item in PAPERS["nim-fractals"].items if item.arxiv and "," not in item.number]
    assert found == SOURCES["nim-fractals"]["arxiv"]
    (bouton,) = find_statements(["arxiv-theorem-2"])
    assert bouton.source == "[NF] Theorem 4 (arXiv: Theorem 2)"
    assert "; [NF] Theorem 2 (arXiv: Theorem 1)\n" in printed("verify", "nf-theorem-2", "--upto", 1)
    assert [each.name for each in find_statements(["arxiv-theorem-13", "arxiv-lemma-6"])] == ["nf-theorem-15", "nf-lemma-8"]


def test_an_entry_without_a_check_or_a_command_is_refused(made_up: Paper) -> None:
    with pytest.raises(UsageError, match=r"an entry must have a check or a command, got neither for \[M\] Graph 1"):
        Entry(made_up, "Graph 1", "A picture.")
    assert made_up.items == []


def test_every_check_of_a_paper_stands_for_an_item() -> None:
    shown = {check for _, item in ITEMS for check in item.checks}
    of_papers = {statement.name for statement in statements() if statement.source.startswith("[") or "[V]" in statement.after}
    assert len(of_papers) >= 50
    assert of_papers - shown == set()
    assert shown - {statement.name for statement in statements()} == set()


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [
        (Printed("1 + 1", 2, 2), Verdict.AGREEMENT),
        (Printed("1 + 1", 2, 3), Verdict.DISAGREEMENT),
        (Printed("1 + 1", 2, 3, right=2), Verdict.ERRATUM),
        (Printed("an erratum that is none", 2, 2, right=2), Verdict.DISAGREEMENT),
        (Printed("an erratum and a fault", 4, 3, right=2), Verdict.DISAGREEMENT),
        (Printed("a fault that makes an erratum right", 3, 3, right=2), Verdict.DISAGREEMENT),
        (Printed("a question", 2), Verdict.ANSWERED),
    ],
    ids=lambda value: getattr(value, "about", ""),
)
def test_verdicts(printed: Printed, verdict: Verdict) -> None:
    assert printed.verdict is verdict


HOSTILE = "</script><script>alert(1)</script> <img src=x onerror=alert(2)> & \"quoted\" 'too'"


def test_a_paper_is_all_that_the_command_needs(tmp_path: Path, made_up: Paper) -> None:
    @Entry(made_up, "Theorem 1", also=("nf-lemma-8",))
    def true() -> Cases:
        """1 + 1 = 2."""
        yield Printed("1 + 1", 1 + 1, 2)

    @Entry(made_up, "Theorem 2", f"1 + 1 = 3, {HOSTILE}.", command="gpunim nim 1 1")
    def false() -> Cases:
        yield Printed("1 + 1", 1 + 1, 3)

    @Entry(made_up, "Theorem 3", "False.", name="made-up-false", reach=Reach())
    def fails(upto: int) -> Cases:
        yield f"n to {upto}"
        yield "1 + 1", 2, 3

    @Entry(made_up, "Theorem 4", "0 can be divided by.", command="gpunim nim 1")
    def error() -> Cases:
        yield Printed("1 / 0", 1 // 0, 2)

    listed = printed("reproduce", "made-up", "--list").splitlines()
    assert [line.split()[0] for line in listed] == ["paper", *["made-up"] * 4]
    assert facts("reproduce", "made-up", "--list")["items"][1]["command"] == "gpunim nim 1 1"
    assert "made-up" in run("reproduce", "--help").output
    assert "did you mean made-up?" in refused("reproduce", "maid-up")
    for _ in range(2):  # the second report replaces the first
        done = run("reproduce", "made-up", "--upto", "4", "-o", tmp_path / "report")
        assert done.exit_code == 1
    assert "[M]    Theorem 1  proved        gpunim verify nf-lemma-8\n" in done.stdout
    assert "disagreement: [M] Theorem 2: 1 + 1: expected 3, got 2\n" in done.stdout
    assert "disagreement: [M] Theorem 3: made-up-false: 1 + 1 is 2, not 3\n" in done.stdout
    assert "[M] Theorem 4: what gpunim computes: expected no error, got ZeroDivisionError: " in done.stdout
    counts = "1 proved, 0 agreement, 0 answered, 0 omitted, 0 erratum, 3 disagreement"
    assert f"4 items: {counts}\nsaved {tmp_path / 'report'}\n" in done.stdout
    assert sorted(path.name for path in (tmp_path / "report").iterdir()) == [PAGE, FACTS]
    saved = json.loads((tmp_path / "report" / FACTS).read_text())
    assert saved["verdicts"] == {"proved": 1, "agreement": 0, "answered": 0, "omitted": 0, "erratum": 0, "disagreement": 3}
    first, second, *_ = saved["items"]
    assert first["checks"][0]["name"] == "nf-lemma-8"
    assert (first["checks"][0]["holds"], first["checks"][0]["proved"]) == (True, True)
    assert second["comparisons"] == [{"about": "1 + 1", "printed": 3, "right": None, "computed": 2, "verdict": "disagreement"}]
    text = (tmp_path / "report" / PAGE).read_text()
    assert HOSTILE not in text
    assert "1 + 1 = 3, &lt;/script&gt;" in text
    as_json = run("reproduce", "made-up", "--upto", "4", "--json")
    assert as_json.exit_code == 1
    assert json.loads(as_json.stdout)["items"] == saved["items"]


def test_a_report_replaces_nothing_but_a_report(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    for name in ("notes.txt", "thesis/index.html"):
        (tmp_path / name).write_text("years of work")
    for out, sentence, status in (
        (tmp_path / "thesis", "a folder that gpunim did not make", 1),
        (tmp_path / "notes.txt", "it is a file, and a report is a folder", 1),
        (tmp_path / "no" / "such", "there is no folder", 1),
        (".", "out must be a folder by its name, got '.'", 2),
    ):
        assert sentence in refused("reproduce", "game-theory", "--upto", 1, "-o", out, status=status)
    assert {(tmp_path / name).read_text() for name in ("notes.txt", "thesis/index.html")} == {"years of work"}
    (tmp_path / "empty").mkdir()
    assert run("reproduce", "game-theory", "--upto", 1, "-o", tmp_path / "empty").exit_code == 0
    assert sorted(path.name for path in (tmp_path / "empty").iterdir()) == [PAGE, FACTS]


def test_a_report_links_to_the_page_that_it_belongs_to(tmp_path: Path) -> None:
    for home in ("", "../results.html?a=1&b"):
        save_report([], 1, tmp_path / "report", home=home)
        links = re.findall(r'<a href="([^"]*)"', (tmp_path / "report" / PAGE).read_text())
        assert links == ([html.escape(home)] if home else [])


@pytest.mark.nightly
@needs_chromium
def test_the_page_in_a_browser(tmp_path: Path, results: list[ItemResult]) -> None:
    (tmp_path / PAGE).write_text(page(results, 2), encoding="utf-8")
    with chromium_driver(tmp_path) as driver:
        for width, phone in ((1280, False), (390, True)):
            Browser(driver, tmp_path).resize((width, 900), phone=phone, ratio=1)
            driver.get((tmp_path / PAGE).as_uri())
            assert driver.execute_script("return document.documentElement.scrollWidth") <= width
            drawn = "return [...document.images].map(image => image.decode().then(() => image.naturalWidth))"
            widths = driver.execute_script(f"return Promise.all((() => {{ {drawn} }})())")
            assert len(widths) == sum(bool(item.figure) for _, item in ITEMS) >= 6
            assert min(widths) > 300
        shown = "return [...document.querySelectorAll('article')].filter(item => item.offsetParent).map(item => item.id)"
        assert len(driver.execute_script(shown)) == len(set(driver.execute_script(shown))) == len(ITEMS)
        driver.find_element("id", "words").send_keys("kayles")
        assert driver.execute_script(shown) == ["nf-lemma-24"]
        assert driver.find_element("id", "count").text == f"1 of {len(ITEMS)} items"
        driver.find_element("id", "words").clear()
        driver.find_element("css selector", "#verdict option[value=erratum]").click()
        assert len(driver.execute_script(shown)) == sum(bool(item.erratum) for _, item in ITEMS)
        background = "return getComputedStyle(document.body).backgroundColor"
        assert driver.execute_script(background) == "rgb(255, 255, 255)"
        dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
        assert max(map(int, re.findall(r"\d+", driver.execute_script(background)))) < 64
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", **dark})
        assert driver.execute_script(background) == "rgb(255, 255, 255)"
        assert not driver.find_element("id", "search").is_displayed()
        assert driver.get_log("browser") == []
