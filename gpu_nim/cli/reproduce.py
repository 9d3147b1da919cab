"""`gpunim reproduce`: every statement, table, figure and sequence of the sources, beside what gpunim computes."""

from pathlib import Path

import click

from gpu_nim.cli.command import AMOUNT, FILE, PAPER_NAME, Command, json_option
from gpu_nim.cli.output import emit_json, print_table, say, step_progress
from gpu_nim.papers import ItemResult, Paper, Verdict, find_papers
from gpu_nim.papers.views import in_words, report, summary
from gpu_nim.papers.views import reproduce as run

_REACH = 20  # all checks take some ten seconds


_EXAMPLES = {
    "gpunim reproduce nim-fractals": "Compare one paper.",
    "gpunim reproduce -o report": "Compare all papers, and write a page.",
    "gpunim reproduce --list": "List the items with the commands that show them.",
}


@click.command(cls=Command, examples=_EXAMPLES, listings=lambda: {"Papers": PAPER_NAME.described()})
@click.argument("paper", type=PAPER_NAME, nargs=-1)
@click.option("--list", "show_list", is_flag=True, help="List the items of the papers with the commands that show them.")
@click.option("--upto", type=AMOUNT, default=_REACH, help="The reach of the checks: the largest pile, index or generation.")
@click.option(
    "-o", "--out", type=FILE, help="Write a report into this folder: index.html, with the figures, and reproduction.json."
)
@json_option
@click.option("--quiet", is_flag=True, help="Print no progress.")
def reproduce(paper: tuple[str, ...], show_list: bool, upto: int, out: Path | None, as_json: bool, quiet: bool) -> int:
    """Compare what the sources print with what gpunim computes: all of them, or each PAPER.

    A verdict is "proved" for what is decided for every number; "agreement"; "erratum" where the paper prints a wrong value;
    "answered" for a question left to the reader; "omitted" for what is not compared, such as a picture that is not drawn; or
    "disagreement". The exit status is 1 if there is a disagreement.
    """
    papers = find_papers(paper)
    if show_list:
        return _list(papers, as_json)
    if out is not None:
        from gpu_nim.render.report import check_report, save_report

        check_report(out)
    with step_progress(quiet) as step:
        results = list(run(papers, upto, step))
    if out is not None:
        save_report(results, upto, out)
    counts = summary(results)
    if as_json:
        emit_json(report(results, upto))
    else:
        _print(papers, results)
        words = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        say(f"{len(results)} items: {words}")
        if out is not None:
            say(f"saved {out}")
    return 1 if counts[Verdict.DISAGREEMENT] else 0


def _list(papers: dict[str, Paper], as_json: bool) -> int:
    items = [(name, item) for name, paper in papers.items() for item in paper.items]
    if as_json:
        rows = [{"paper": name, "number": item.number, "kind": item.kind, "command": item.shown_by} for name, item in items]
        emit_json({"items": rows})
    else:
        print_table(
            [(name, item.numbers, item.kind, item.shown_by) for name, item in items], ("paper", "number", "kind", "command")
        )
    return 0


def _print(papers: dict[str, Paper], results: list[ItemResult]) -> None:
    """Print all items with their verdicts, then what is wrong, in words."""
    rows = [(f"[{papers[each.paper].label}]", each.item.numbers, each.verdict, each.item.shown_by) for each in results]
    print_table(rows, ("paper", "number", "verdict", "command"))
    for each in results:
        name = each.item.source
        if each.verdict is Verdict.ERRATUM:
            say(f"erratum: {name}: {each.item.erratum}")
        for compared in each.compared:
            found = in_words(compared.computed)
            if compared.verdict is Verdict.ANSWERED:
                say(f"answered: {name}: {compared.about}: {found}")
            if compared.verdict is Verdict.DISAGREEMENT:
                say(f"disagreement: {name}: {compared.about}: expected {in_words(compared.expected)}, got {found}")
        for checked in each.checked:
            if not checked.holds:
                say(f"disagreement: {name}: {checked.statement.name}: {checked.result.counterexample}")
