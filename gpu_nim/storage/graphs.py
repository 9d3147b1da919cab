"""Evolution graphs in files: .graphml, or .dot for Graphviz."""

from collections.abc import Callable, Iterator
from pathlib import Path

from gpu_nim.games.nim.evolution_graph import Drawable, dot, graphml
from gpu_nim.storage.atomic import check_output, replacing

GRAPH_FORMATS: dict[str, Callable[[Drawable], Iterator[str]]] = {".graphml": graphml, ".dot": dot}


def check_graph(path: Path) -> None:
    """Raise what `save_graph` would raise for this path, before the graph is made."""
    check_output(path, "the file of a graph", GRAPH_FORMATS)


def save_graph(graph: Drawable, path: Path, on_done: Callable[[int], object] = lambda count: None) -> None:
    """Write a graph; the write is atomic.

    Args:
        graph: the graph.
        path: the file, .graphml or .dot.
        on_done: called with 1 for each node and edge, and 0 for other lines.

    Raises:
        UsageError: the file has another suffix.
        FileError: the file cannot be written.
        MissingDependency: .graphml needs networkx.
    """
    check_graph(path)
    with replacing(path) as scratch, scratch.open("w", encoding="utf-8") as file:
        for line in GRAPH_FORMATS[path.suffix](graph):
            file.write(f"{line}\n")
            on_done(line.lstrip().startswith(('"', "<node", "<edge")))
