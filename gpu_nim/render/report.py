"""The report of a run: a folder with a self-contained page, which embeds the figures, and the same facts as JSON."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from io import BytesIO
from itertools import groupby
from pathlib import Path

from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.model.files import MAX_TEXT, CorruptFile, parse_json, read_regular
from gpu_nim.papers.entries import PAPERS, Verdict
from gpu_nim.papers.views import ItemResult, in_words, report
from gpu_nim.render.figures import draw_figure
from gpu_nim.storage.atomic import atomic_write, check_writable

PAGE, FACTS = "index.html", "reproduction.json"
_LARGEST_SVG = 200_000  # characters; a larger drawing is embedded as pixels
_WIDTH = 1440  # of these


def is_report(folder: Path) -> bool:
    """Return whether a folder may be replaced by a report: it is one, or empty."""
    try:
        names = {path.name for path in folder.iterdir()}
        return not names or (names == {PAGE, FACTS} and "gpunim" in parse_json(read_regular(folder / FACTS, MAX_TEXT)))
    except (OSError, CorruptFile):
        return False


def check_report(folder: Path) -> None:
    """Check that a report can be written, before the run.

    Args:
        folder: its folder.

    Raises:
        UsageError: the folder has no name of its own, such as ".".
        FileError: it cannot.
    """
    if folder.name in ("", ".."):
        raise UsageError(f"out must be a folder by its name, got {str(folder)!r}")
    if folder.is_file():
        raise FileError(f"cannot write {folder}: it is a file, and a report is a folder")
    check_writable(folder, is_report)


def save_report(results: list[ItemResult], upto: int, folder: Path, *, home: str = "") -> None:
    """Write the report of a run: the page and the facts, both or none.

    Args:
        results: the results.
        upto: the reach of the checks.
        folder: a new folder, an empty one, or that of an earlier report.
        home: the address of the page that the report belongs to, if any, to which it links.

    Raises:
        FileError: it cannot be written.
    """
    with atomic_write(folder, is_report) as scratch:
        scratch.mkdir()
        (scratch / PAGE).write_text(page(results, upto, home), encoding="utf-8")
        (scratch / FACTS).write_text(json.dumps(report(results, upto), indent=1) + "\n", encoding="utf-8")


def page(results: list[ItemResult], upto: int, home: str = "") -> str:
    """Return the page of a run, in HTML, with a link to another page if one is given."""
    facts = report(results, upto)
    counts = {verdict: count for verdict, count in facts["verdicts"].items() if count}
    words = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    parts = {
        "home": f'<nav><a href="{escape(home)}">Back to the documentation</a></nav>' if home else "",
        "summary": escape(f"{len(results)} items: {words}. The checks reach piles, indices and generations up to {upto}, or less."),
        "verdicts": "".join(f'<option value="{verdict}">{verdict} ({count})</option>' for verdict, count in counts.items()),
        "provenance": escape(facts["gpunim"]),
        "items": "\n".join(_section(name, list(group)) for name, group in groupby(results, key=lambda result: result.paper)),
    }
    text = files("gpu_nim.render").joinpath("report.html").read_text(encoding="utf-8")
    return re.sub(r"<!-- (\w+) -->", lambda place: parts[place[1]], text)


def _section(name: str, results: list[ItemResult]) -> str:
    paper = PAPERS[name]
    return _joined(
        (
            f'<section id="{name}">',
            f"<h2>[{paper.label}] {escape(paper.title)}</h2>",
            f'<p class="muted">{escape(paper.note)}</p>' if paper.note else "",
            *map(_article, results),
            "</section>",
        )
    )


def _article(result: ItemResult) -> str:
    item = result.item
    label = item.anchor
    return _joined(
        (
            f'<article id="{label}" class="{result.verdict}">',
            f'<header><h3><a href="#{label}">{escape(item.numbers)}</a></h3>'
            f'<span class="muted">{item.kind}</span><span class="verdict">{result.verdict}</span></header>',
            f"<p>{escape(item.summary)}</p>",
            f'<p class="correction">{escape(item.erratum)}</p>' if item.erratum else "",
            _comparisons(result) if result.compared else "",
            _checks(result) if result.checked else "",
            _figure(item.figure, f"{item.number}: {item.summary}") if item.figure else "",
            f"<p><code>{escape(item.shown_by)}</code></p>",
            "</article>",
        )
    )


def _comparisons(result: ItemResult) -> str:
    rows = ((each.about, in_words(each.printed), in_words(each.computed), each.verdict) for each in result.compared)
    return _table(("compared", "the paper prints", "gpunim computes"), rows)


def _checks(result: ItemResult) -> str:
    rows = []
    for each in result.checked:
        found = each.mark if each.holds else f"fails: {each.result.counterexample}"
        verdict = Verdict.DISAGREEMENT if not each.holds else Verdict.PROVED if each.result.proved else Verdict.AGREEMENT
        rows.append((each.statement.summary, each.result.scope, found, verdict))
    return _table(("checked exhaustively", "how far", "result"), rows)


def _table(header: tuple[str, str, str], rows: Iterable[tuple[str, str, str, Verdict]]) -> str:
    """A table of three columns, the last of them in the colour of a verdict; on phones, cells one below the other."""
    head = "".join(f"<th>{word}</th>" for word in header)
    _, middle, end = header
    body = (
        f'<tr><td>{escape(about)}</td><td data-label="{middle}">{escape(value)}</td>'
        f'<td data-label="{end}" class="{verdict}">{escape(found)}</td></tr>'
        for about, value, found, verdict in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{_joined(body)}</tbody></table>"


def _figure(name: str, about: str) -> str:
    drawing = draw_figure(name)
    kind, data = "svg+xml", drawing.document(".svg")
    if len(data) > _LARGEST_SVG:
        kind, file = "jpeg", BytesIO()
        drawing.image(_WIDTH, round(_WIDTH * drawing.height / drawing.width)).save(file, "JPEG", quality=88)
        data = file.getvalue()
    return f'<img alt="{escape(about)}" src="data:image/{kind};base64,{b64encode(data).decode("ascii")}">'


def _joined(parts: Iterable[str]) -> str:
    return "\n".join(filter(None, parts))
