"""The directive `{results}`: what every paper prints beside what gpunim computes, as `gpunim reproduce` compares them.

It does so while the site is built. The role {item} links to an item of a paper, as {item}`nf-theorem-19` does. The report as
files is beside the page.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from catalogue_entries import REACH, plain
from catalogues import described_by
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from gpu_nim.papers import ItemResult, Verdict
from gpu_nim.papers.entries import PAPERS
from gpu_nim.papers.views import in_words, reproduce, summary
from gpu_nim.render.report import FACTS, PAGE, save_report

REPORT = "reproduction"
"""The folder of the report beside the page."""


class ResultsDirective(SphinxDirective):
    """The results of all papers."""

    def run(self) -> list[nodes.Node]:
        """Run `gpunim reproduce all` and return a section for each paper."""
        results = list(reproduce(PAPERS, REACH))
        wrong = [f"{each.paper}: {each.item.number}" for each in results if each.verdict is Verdict.DISAGREEMENT]
        if wrong:
            raise self.error(f"gpunim reproduce disagrees with its catalogue: {', '.join(wrong)}")
        save_report(results, REACH, Path(self.env.app.outdir) / REPORT, home=f"../{self.env.docname}.html")
        counts = ", ".join(f"{count} {verdict}" for verdict, count in summary(results).items() if count)
        opening = nodes.paragraph("", f"{len(results)} items: {counts}. There is also ")
        opening += nodes.reference("", "the same with a search box", refuri=f"{REPORT}/{PAGE}")
        opening += nodes.Text(" and the figures, and as ")
        opening += nodes.reference("", "JSON", refuri=f"{REPORT}/{FACTS}")
        opening += nodes.Text(".")
        return [opening, *(self._paper(name, list(group)) for name, group in groupby(results, lambda each: each.paper))]

    def _paper(self, name: str, results: list[ItemResult]) -> nodes.Node:
        paper = PAPERS[name]
        section = nodes.section(ids=[name], names=[name])
        section += nodes.title("", f"[{paper.label}] {paper.title}")
        section += self.parse_text_to_nodes(plain(paper.note))
        for result in results:
            item = result.item
            mark = nodes.inline("", str(result.verdict), classes=["verdict", str(result.verdict)])
            text = "\n\n".join(_blocks(result))
            section += described_by(self, "item", item.anchor, item.numbers, [text], mark)
        return section


def _blocks(result: ItemResult) -> Iterator[str]:
    """The paragraphs and tables about an item, as Markdown."""
    item = result.item
    yield plain(item.summary)
    if item.erratum:
        yield f"**Erratum:** {plain(item.erratum)}"
    if result.compared:
        rows = ((each.about, in_words(each.printed), in_words(each.computed)) for each in result.compared)
        yield _table(("compared", "the paper prints", "gpunim computes"), ([plain(word) for word in row] for row in rows))
    if result.checked:
        yield _table(
            ("checked exhaustively", "how far", "result"),
            (
                (f"{{statement}}`{each.statement.name}`: {plain(each.statement.summary)}", plain(each.result.scope), "holds")
                for each in result.checked
            ),
        )
    yield f"`{item.shown_by}`" + (f", {{figure}}`{item.figure}`" if item.figure else "")


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [header, ("---", "---", "---"), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("results", ResultsDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
