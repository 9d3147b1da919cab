"""`gpunim evolution`: the evolution graph of Nim or of another game, counted and exported."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from gpu_nim.cli.command import SIZE, Command, File, json_option
from gpu_nim.cli.games import game_argument, parameter_options, taken
from gpu_nim.cli.output import emit_json, point, print_table, say, step_progress
from gpu_nim.games.evolution import GameEvolution, game_evolution
from gpu_nim.games.named_games import check_parameters, find, integer_type
from gpu_nim.games.nim.evolution_graph import GRAPH_FORMATS, evolution_graph, kind_table
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import one_of
from gpu_nim.storage.save_load import check_graph, save_graph

#: Rows and their header.
_Table = tuple[Sequence[tuple[object, ...]], Sequence[str]]

_EXAMPLES = {
    "gpunim evolution --piles 4 --gen 15": "Count the kinds of P-positions of four piles.",
    "gpunim evolution --gen 6 --out figure.dot": "Save the evolution tree of three piles for Graphviz.",
    "gpunim evolution '2y <= x + z' --size 5": "Tabulate the generations of a user-defined game.",
    "gpunim evolution kayles --size 8": "Tabulate the generations of Kayles, where Lemma 24 of Nim Fractals fails.",
}


def _arguments() -> list[click.Parameter]:
    return [game_argument(required=False), *parameter_options()]


@click.command(cls=Command, examples=_EXAMPLES, options=_arguments)
@click.option("--gen", "generations", type=SIZE, help="Nim: the last generation; generation 0 has no counters.  [default: 6]")
@click.option("--size", type=SIZE, help="Other games: the largest coordinate, or the most counters in heaps.  [default: 7]")
@click.option("--misere", is_flag=True, help="Other games: whoever makes the last move loses.")
@click.option("-o", "--out", type=File(".dot"), help=f"Save the graph: {one_of(GRAPH_FORMATS)}.")
@json_option
def evolution(
    game: str | None,
    generations: int | None,
    size: int | None,
    misere: bool,
    out: Path | None,
    as_json: bool,
    **options: str | None,
) -> None:
    """Build the evolution graph of the P-positions of Nim, or of GAME, and count its generations, parents and children.

    With four piles the table of Nim is Table 1 of "Nim Fractals", with the number and the first of the positions of each kind; with
    three, `--gen 6 --out figure.dot` saves the tree of its Figures 1 and 2. A game is solved up to a size, and its generations are
    those of the longest optimal play; in Nim they are the steps of the standard algorithm, in other games not always.
    """
    texts = taken(options)
    if game is None and (size is not None or misere):
        raise UsageError(f"{'--size' if size is not None else '--misere'} is for games other than Nim; give a GAME")
    if game is not None and generations is not None:
        raise UsageError("--gen is for Nim only; use --size")
    if out is not None:
        check_graph(out)
    if game is None:
        facts, tables = _nim(_piles(texts), 6 if generations is None else generations, out)
    else:
        facts, tables = _game(game, texts, out, size=size, misere=misere)
    if as_json:
        emit_json({**facts, "saved": None if out is None else str(out)})
        return
    for rows, header in tables:
        print_table(rows, header)
    if out is not None:
        say(f"saved {out}")


def _piles(texts: dict[str, str]) -> int:
    """The number of Nim's piles, of which a graph has no bound."""
    check_parameters(find("nim"), texts)
    piles: int = replace(find("nim").parameters[0], type=integer_type(1)).read(texts.get("piles", "3"))
    return piles


def _nim(piles: int, generations: int, out: Path | None) -> tuple[dict[str, Any], list[_Table]]:
    """The facts of Nim's graph, and the table of its kinds."""
    with step_progress() as step:
        if out is not None:
            save_graph(evolution_graph(piles, generations, progress=step), out, step)
        table = kind_table(piles, generations, progress=step)
    rows = [(*kind, count, example) for kind, (count, example) in table.items()]
    kinds = [dict(zip(("parents", "children", "positions", "first"), row, strict=True)) for row in rows]
    facts = {"piles": piles, "generations": generations, "positions": sum(row[2] for row in rows), "kinds": kinds}
    parents, children = (sorted({*each}) for each in zip(*table, strict=True))
    cells = {kind: f"{count:,}, first {point(example)}" for kind, (count, example) in table.items()}
    lines = [(above, *(cells.get((above, below), "") for below in children)) for above in parents]
    return facts, [(lines, ("parents", *(f"{below} child{'ren' * (below != 1)}" for below in children)))]


def _game(game: str, texts: dict[str, str], out: Path | None, **options: Any) -> tuple[dict[str, Any], list[_Table]]:
    """The facts of a game's graph, and the tables of its generations and of its steps."""
    found = game_evolution(game, **options | texts)
    if out is not None:
        with step_progress() as step:
            save_graph(found, out, step)
    lines = [
        (row.generation, row.births, _span(row.steps), _span(row.parents), _span(row.children), point(row.first))
        for row in found.rows()
    ]
    header = ("generation", "P-positions", "steps", "parents", "children", "first")
    return found.summary(), [(lines, header), ([("step = generation", _step_is_generation(found))], ())]


def _step_is_generation(found: GameEvolution) -> str:
    mismatch, count = found.first_step_mismatch(), len(found.positions)
    if mismatch is None:
        return "yes, for the only P-position" if count == 1 else f"yes, for all {count:,} P-positions"
    many = int((found.step != found.generation).sum())
    where = f"{point(found.positions[mismatch])}, of step {found.step[mismatch]} and generation {found.generation[mismatch]}"
    return f"no, for {many:,} of {count:,} P-positions, first {where}"


def _span(ends: tuple[int, int]) -> str:
    least, most = ends
    return str(least) if least == most else f"{least}-{most}"
