"""`gpunim evolution`: the evolution graph of Nim, counted and exported."""

from pathlib import Path

import click

from gpu_nim.cli.command import Command
from gpu_nim.cli.output import emit_json, print_table, reserve, say, wants_progress
from gpu_nim.cli.params import AMOUNT, FILE, SIZE, json_option
from gpu_nim.cli.progress import work_progress
from gpu_nim.model.errors import UsageError

_SUFFIXES = (".graphml", ".dot")


_EXAMPLES = {
    "gpunim evolution --piles 4 --gen 15": "Count the kinds of P-positions of four piles.",
    "gpunim evolution --gen 6 --out figure.dot": "Save the evolution tree of three piles for Graphviz.",
}


@click.command(cls=Command, examples=_EXAMPLES)
@click.option("--piles", type=AMOUNT, default=3, help="The number of piles.")
@click.option("--gen", "generations", type=SIZE, default=6, help="The last generation; generation 0 has no counters.")
@click.option("--out", type=FILE, help="Save the graph: .graphml, or .dot for Graphviz.")
@json_option
def evolution(piles: int, generations: int, out: Path | None, as_json: bool) -> None:
    """Build the evolution graph of the P-positions of Nim, and count them by their numbers of parents and children.

    With four piles the table is Table 1 of "Nim Fractals" with the frequency of each of its nine kinds; with three, `--gen 6
    --out figure.dot` saves the tree of its Figures 1 and 2.
    """
    from gpu_nim.games.nim.evolution_graph import dot, evolution_graph, graphml, kind_table, positions, require_graph
    from gpu_nim.storage.atomic import check_writable, replacing

    shown = wants_progress(quiet=False)
    if out is not None:
        if out.suffix not in _SUFFIXES:
            raise UsageError(f"the file of a graph must end in {' or '.join(_SUFFIXES)}, got {str(out)!r}")
        check_writable(out)
        reserve(out)
        with work_progress(require_graph(piles, generations, out.suffix), "P-positions", shown) as advance:
            graph = evolution_graph(piles, generations, on_done=advance)
        written = work_progress(len(graph.positions) + len(graph.edges), "nodes and edges written", shown)
        with replacing(out) as scratch, scratch.open("w", encoding="utf-8") as file, written as advance:
            for line in (graphml if out.suffix == ".graphml" else dot)(graph):
                file.write(f"{line}\n")
                advance(line.lstrip().startswith(('"', "<node", "<edge")))
    with work_progress(positions(piles, generations), "P-positions", shown) as advance:
        table = kind_table(piles, generations, on_done=advance)
    rows = [(*kind, count, example) for kind, (count, example) in table.items()]
    if as_json:
        keys = ("parents", "children", "positions", "first")
        emit_json(
            {
                "piles": piles,
                "generations": generations,
                "positions": sum(row[2] for row in rows),
                "kinds": [dict(zip(keys, row, strict=True)) for row in rows],
                "saved": None if out is None else str(out),
            }
        )
        return
    table_rows = [(parents, children, count, ",".join(map(str, example))) for parents, children, count, example in rows]
    print_table(table_rows, ("parents", "children", "P-positions", "first"))
    if out is not None:
        say(f"saved {out}")
