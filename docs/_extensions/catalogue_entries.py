"""What the site says of each entry of a catalogue, as Markdown, read off the entry alone."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

REACH = 8
"""The reach of the checks whose results the site prints."""

_MARKS = re.compile(r"([\\*_\[\]<>$|{}#])")


@dataclass(frozen=True)
class Described:
    """An entry: its name, its summary and facts about it with their labels.

    `group` is the title of the group that it is in, and `mark` a word that stands out behind its name; either may be "".
    """

    name: str
    summary: str
    facts: tuple[tuple[str, str], ...]
    group: str = ""
    mark: str = ""


def described(name: str, summary: str, *facts: tuple[str, str | None], group: str = "", mark: str = "") -> Described:
    """Return an entry without the facts that are None or empty."""
    return Described(name, plain(summary), tuple((label, text) for label, text in facts if text), group, mark)


def plain(text: str) -> str:
    """Return Markdown that shows a text, with code where it has backticks."""
    return "".join(part if part.startswith("`") else _MARKS.sub(r"\\\1", part) for part in re.split(r"(`[^`]*`)", text))


def _command(text: str) -> str:
    return f"`{text}`"


def _listed(words: Iterable[object]) -> str:
    return ", ".join(str(word) for word in words)


def _statements() -> Iterator[Described]:
    from gpu_nim.papers import run_checks, statements
    from gpu_nim.papers.entries import PAPERS

    items: dict[str, list[str]] = {}
    errata: dict[str, list[str]] = {}
    for paper in PAPERS.values():
        for item in paper.items:
            link = f"{{item}}`{item.anchor}`"
            for check in item.checks:
                items.setdefault(check, []).append(link)
                if item.erratum:
                    errata.setdefault(check, []).append(f"{link}: {plain(item.erratum)}")
    for checked in run_checks(statements(), REACH):
        statement = checked.statement
        result = "no counterexample" if checked.holds else f"**counterexample**: {plain(str(checked.result.counterexample))}"
        yield described(
            statement.name,
            statement.summary,
            ("Source", plain(statement.source)),
            ("Checked", f"{plain(checked.result.scope)}: {result}"),
            ("Command", _command(f"gpunim verify {statement.name}")),
            ("Papers", _listed(items.get(statement.name, ()))),
            ("Erratum", " ".join(errata.get(statement.name, ()))),
            group=statement.paper.summary,
            mark="erratum" if statement.name in errata else "conjecture" if statement.conjecture else "",
        )


def _automata() -> Iterator[Described]:
    from gpu_nim.automata.catalogue import CATALOGUE

    for automaton in CATALOGUE.values():
        rule = automaton.rule
        births = _listed(sorted(rule.births)) if rule.touches is None else "any number of parents"
        yield described(
            automaton.name,
            automaton.summary,
            ("Cells", plain(automaton.space)),
            ("Neighbours", f"{len(rule.offsets)}; born with {births} alive"),
            ("Source", plain(automaton.source)),
            (
                "Theorem",
                "checks births and cells" if automaton.cell_test else "checks births" if automaton.births_formula else "none known",
            ),
            ("OEIS", _listed(f"{{oeis}}`{entry.number}` ({plain(entry.counts)})" for entry in automaton.oeis)),
            ("Command", _command(f"gpunim grow {automaton.name} --gen 64")),
        )


def _columns() -> Iterator[Described]:
    from gpu_nim.automata.columns import COLUMNS

    for name, summary in COLUMNS.summaries():
        yield described(name, summary, ("Command", _command(f'gpunim grow edge --gen 16 --columns "{name}"')))


def _games() -> Iterator[Described]:
    from gpu_nim.games.named_games import CATALOGUE

    for game in CATALOGUE.values():
        parameters = [
            f"`--{each.name}`: {plain(each.help)} ({plain(each.type.expected)}"
            + (")" if each.default is None else f"; default `{each.default}`)")
            for each in game.parameters
        ]
        required = "".join(f" --{each.name} {each.type.word.upper()}" for each in game.parameters if each.default is None)
        yield described(
            game.name,
            game.summary,
            ("Source", plain(game.source)),
            ("Parameters", "; ".join(parameters)),
            ("Size", f"{game.default_size} by default"),
            ("Command", _command(f"gpunim solve {game.name}{required}")),
        )


def _families() -> Iterator[Described]:
    from gpu_nim.counting.families import FAMILIES

    for family in FAMILIES.values():
        numbers = [f"{{oeis}}`{number}` for {piles} piles" for piles, number in sorted(family.numbers.items())]
        yield described(
            family.name,
            family.summary.format(piles="k"),
            ("About", plain((family.__doc__ or "").strip().splitlines()[0])),
            ("OEIS", _listed(numbers)),
            ("Command", _command(f"gpunim count {family.name} --piles 4 --range 0:16")),
        )


def _oeis() -> Iterator[Described]:
    from gpu_nim.oeis.catalogue import entries
    from gpu_nim.oeis.submissions import DRAFTS

    for entry in entries().values():
        family = entry.family
        shifted = f", shifted by {entry.shift}" if entry.shift else ""
        first = entry.terms(entry.offset)
        yield described(
            entry.name,
            entry.summary,
            ("Terms", f"{_listed(next(first) for _ in range(9))}, ... from n = {entry.offset}"),
            ("Family", f"{{family}}`{family.name}` with {family.piles} piles{shifted}" if family else None),
            ("OEIS", None if entry.name in DRAFTS else f"[oeis.org/{entry.name}](https://oeis.org/{entry.name})"),
            ("Draft", _command(f"gpunim oeis {entry.name}") if entry.name in DRAFTS else None),
            ("Command", _command(f"gpunim count {entry.name} --range {entry.offset}:9 --format bfile")),
            group="Without an entry yet" if entry.name in DRAFTS else "With an A-number",
        )


def _themes() -> Iterator[Described]:
    from gpu_nim.render.themes import THEMES

    for theme in THEMES.values():
        yield described(
            theme.name,
            theme.summary,
            ("Command", _command(f"gpunim render nim:63 --theme {theme.name} -o nim.png")),
        )


def _motions() -> Iterator[Described]:
    from gpu_nim.render.motions import MOTIONS

    for motion in MOTIONS.values():
        yield described(
            motion.name,
            motion.summary,
            ("Command", _command(f"gpunim movie {motion.example} --motion {motion.name} -o {motion.name}.mp4")),
        )


def _growth_formats() -> Iterator[Described]:
    from gpu_nim.storage.growth_formats import GROWTH_FORMATS

    for each in GROWTH_FORMATS.values():
        yield described(
            each.name,
            each.summary,
            ("Dimensions", _listed(each.dimensions or ())),
            ("Read back", "yes, by `gpu_nim.load`" if each.load else "no"),
            (
                "Command",
                _command(f"gpunim grow {'ulam-warburton' if each.dimensions == (2,) else 'nim'} --gen 64 --out growth{each.name}"),
            ),
        )


def _simple(registry: Callable[[], Any], command: str) -> Callable[[], Iterator[Described]]:
    """The entries of a registry with nothing to say but their names, summaries and commands."""

    def entries() -> Iterator[Described]:
        for entry in registry().values():
            yield described(entry.name, entry.summary, ("Command", _command(command.format(entry.name))))

    return entries


def _registry(module: str, name: str) -> Callable[[], Any]:
    def get() -> Any:
        from importlib import import_module

        return getattr(import_module(f"gpu_nim.{module}"), name)

    return get


KINDS: dict[str, Callable[[], Iterable[Described]]] = {
    "statement": _statements,
    "automaton": _automata,
    "column": _columns,
    "game": _games,
    "family": _families,
    "oeis": _oeis,
    "reduction": _simple(_registry("counting.reductions", "REDUCTIONS"), "gpunim count D --piles 4 --range 0:4096 --reduce {}"),
    "formula": _simple(_registry("guessing", "KINDS"), "gpunim guess D --piles 4 --kind {}"),
    "figure": _simple(_registry("render.figures", "FIGURES"), "gpunim render figure:{0} -o {0}.svg"),
    "style": _simple(_registry("render.styles", "STYLES"), "gpunim render nim:63 --style {} -o nim.png"),
    "theme": _themes,
    "colour": _simple(_registry("render.colourings", "COLOURINGS"), "gpunim render nim:63 --colour {} -o nim.png"),
    "opacity": _simple(_registry("render.look", "OPACITIES"), "gpunim render edge:31 --style volume --opacity {} -o edge.png"),
    "view": _simple(_registry("render.views", "VIEWS"), "gpunim render nim:63 --view {} -o nim.png"),
    "cut": _simple(_registry("render.geometry", "CUTS"), "gpunim render edge:31 --cut {} -o edge.png"),
    "motion": _motions,
    "export": _simple(_registry("render.exports", "EXPORTS"), "gpunim export nim:63 -o nim{}"),
    "growth-format": _growth_formats,
    "table-format": _simple(_registry("storage.tables", "TABLE_FORMATS"), "gpunim count D --piles 3 --range 0:8 --out D{}"),
}
"""Returns the entries of each kind, by the name of its role."""
