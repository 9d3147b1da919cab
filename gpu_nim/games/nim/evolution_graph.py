"""The evolution graph of Nim [NF 5.2, 5.5]: P-positions by generation, and an edge from each parent to each child."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.counting.families import UpToTotal
from gpu_nim.games.nim import position_arrays
from gpu_nim.games.nim.positions import Position
from gpu_nim.model.arguments import argument, integer
from gpu_nim.model.arrays import ArrayValue, distinct_rows
from gpu_nim.model.errors import UsageError, import_optional
from gpu_nim.model.shown import Shown
from gpu_nim.model.work import OnStep, host_memory, no_progress, require_memory

_MAX_POSITIONS = 1 << 36  # a day's work

#: For each kind, (number of parents, number of children), the number of its positions, and the first of them.
KindTable = dict[tuple[int, int], tuple[int, Position]]


@dataclass(frozen=True, eq=False, repr=False)
class PositionGraph(ArrayValue, Shown):
    """P-positions by generation, and an edge from each parent to each child, of any game.

    Attributes:
        positions: the positions, by generation.
        generation: int64 (V,), the generation of each.
        edges: int64 (E, 2), (parent, child) as indices into `positions`.
    """

    positions: Any
    generation: NDArray[np.int64]
    edges: NDArray[np.int64]

    @property
    def facts(self) -> dict[str, Any]:
        """The attributes of the graph in files."""
        raise NotImplementedError

    def labels(self) -> list[str]:
        """The positions as text, "1,2,3"; "0" for no heap."""
        positions = self.positions.tolist() if isinstance(self.positions, np.ndarray) else self.positions
        return [",".join(map(str, position)) or "0" for position in positions]

    def layout(self) -> NDArray[np.int64] | None:
        """The coordinates of the positions in a drawing, int64 (V, 2); None where none are known."""
        return None


@dataclass(frozen=True, eq=False, repr=False)
class EvolutionGraph(PositionGraph):
    """The P-positions of Nim of generations 0 to `generations` and their parent-child pairs.

    `positions` is int64 (V, k), by generation and in lexicographic order within each; `edges` are in order of the parent.
    """

    positions: NDArray[np.int64]

    def _line(self) -> str:
        size = f"{len(self.positions)} P-positions, {len(self.edges)} edges"
        return f"<EvolutionGraph of {self.piles} piles to generation {self.generations}, {size}>"

    @property
    def piles(self) -> int:
        """The number of piles."""
        return int(self.positions.shape[1])

    @property
    def generations(self) -> int:
        """The last generation."""
        return int(self.generation[-1])

    def births(self) -> list[int]:
        """The number of P-positions of each generation, D_k(0), D_k(1), ... [NF 3].

        >>> evolution_graph(3, 7).births()
        [1, 3, 3, 9, 3, 9, 9, 27]
        """
        return [int(count) for count in np.bincount(self.generation)]

    def cells(self) -> NDArray[np.int64]:
        """The automaton's cells of the positions, int64 (V, 2), for three piles: the drawing of [NF Figure 1].

        >>> evolution_graph(3, 1).cells().tolist()
        [[0, 0], [-1, 0], [0, 1], [1, 0]]
        """
        return position_arrays.cells_of(self.positions)

    def summary(self) -> dict[str, Any]:
        """Return its size as plain values."""
        return {**self.facts, "positions": len(self.positions), "edges": len(self.edges), "births": self.births()}

    def layout(self) -> NDArray[np.int64] | None:
        """The cells, for three piles; None for others."""
        return self.cells() if self.piles == 3 else None

    @property
    def facts(self) -> dict[str, Any]:
        """The attributes of the graph in files."""
        return {"piles": self.piles, "generations": self.generations}


def evolution_graph(piles: int, generations: int, *, progress: OnStep = no_progress) -> EvolutionGraph:
    """Grow the evolution graph from the position without counters through generation `generations`.

    Every P-position but the first has a parent [NF Lemma 21], so the children of a generation are the whole next one.

    Args:
        piles: the number of piles.
        generations: the last generation.
        progress: called with the number of positions done.

    Raises:
        UsageError: there are too many positions.
        InsufficientMemoryError: the graph would not fit.

    >>> graph = evolution_graph(4, 2)
    >>> graph.births(), len(graph.edges)
    ([1, 6, 7], 18)
    """
    count = positions(piles, generations)
    require_memory(count * (16 * piles + 40), host_memory(), f"a graph of {count:,} P-positions", "fewer generations take less")
    layers = []
    edges = []
    first = 0
    for layer, parents, children in _grow(piles, generations, progress):
        layers.append(layer)
        edges.append(np.stack([first + parents, first + len(layer) + children], axis=1))
        first += len(layer)
    generation = np.repeat(np.arange(len(layers)), [len(layer) for layer in layers])
    return EvolutionGraph(np.concatenate(layers), generation.astype(np.int64), np.concatenate(edges))


def kind_table(piles: int, generations: int, *, progress: OnStep = no_progress) -> KindTable:
    """The P-positions of generations 0 to `generations` by their numbers of parents and children [NF Table 1], kinds in order.

    The first position of a kind is the lexicographically least of the earliest generation. One generation is in memory at a time.
    Arguments and errors are as for `evolution_graph`.

    >>> kind_table(3, 7)
    {(0, 3): (1, (0, 0, 0)), (1, 0): (30, (1, 2, 3)), (1, 1): (18, (0, 1, 1)), (1, 3): (15, (0, 2, 2))}
    """
    table: KindTable = {}
    for layer, _, _ in _grow(piles, generations, progress):
        parents, children = position_arrays.parent_counts(layer), position_arrays.child_counts(layer)
        width = int(children.max()) + 1
        codes, firsts, counts = np.unique(parents * width + children, return_index=True, return_counts=True)
        for code, first, count in zip(codes.tolist(), firsts.tolist(), counts.tolist(), strict=True):
            kind = divmod(code, width)
            before, example = table.get(kind, (0, tuple(layer[first].tolist())))
            table[kind] = (before + count, example)
    return dict(sorted(table.items()))


def to_networkx(graph: PositionGraph) -> Any:
    """The graph as a networkx.DiGraph: nodes "1,2,3" with attribute `generation` (and x, y for three piles), parent -> child.

    Raises MissingDependency where networkx is not installed.

    >>> sorted(to_networkx(evolution_graph(3, 1)).successors("0,0,0"))
    ['0,1,1', '1,0,1', '1,1,0']
    """
    networkx = import_optional("this graph needs networkx", "networkx")
    result = networkx.DiGraph(**graph.facts)
    labels = graph.labels()
    for index, (label, generation) in enumerate(zip(labels, graph.generation.tolist(), strict=True)):
        result.add_node(label, generation=generation, index=index)
    if (layout := graph.layout()) is not None:
        for label, (x, y) in zip(labels, layout.tolist(), strict=True):
            result.nodes[label].update(x=x, y=y)
    result.add_edges_from((labels[parent], labels[child]) for parent, child in graph.edges.tolist())
    return result


def graphml(graph: PositionGraph) -> Iterator[str]:
    """The lines of the graph as GraphML, written by networkx, with the attributes of `to_networkx`.

    >>> next(iter(graphml(evolution_graph(2, 1))))[:8]
    '<graphml'
    """
    network = to_networkx(graph)
    from networkx.readwrite.graphml import generate_graphml

    yield from generate_graphml(network)


def dot(graph: PositionGraph) -> Iterator[str]:
    r"""The lines of the graph in Graphviz' DOT language; three piles are placed on their cells, as in [NF Figure 1].

    >>> print("\n".join(dot(evolution_graph(2, 1))))
    digraph evolution {
      "0,0" [generation=0];
      "1,1" [generation=1];
      "0,0" -> "1,1";
    }
    """
    yield "digraph evolution {"
    labels = graph.labels()
    layout = graph.layout()
    pinned = [""] * len(labels) if layout is None else [f', pos="{x},{y}!"' for x, y in layout.tolist()]
    for label, generation, pin in zip(labels, graph.generation.tolist(), pinned, strict=True):
        yield f'  "{label}" [generation={generation}{pin}];'
    for parent, child in graph.edges.tolist():
        yield f'  "{labels[parent]}" -> "{labels[child]}";'
    yield "}"


def positions(piles: int, generations: int) -> int:
    """The number of P-positions of generations 0 to `generations`, A_k(n) [NF 3]; UsageError for more than 2^36.

    >>> positions(3, 7)
    64
    """
    count = UpToTotal(integer("piles", piles, 1)).value(integer("generations", generations, 0))
    if count > _MAX_POSITIONS:
        both = f"{argument('piles')} and {argument('generations')}"
        raise UsageError(f"{both} must give at most 2^36 P-positions, got {piles} and {generations}")
    return count


def _grow(piles: int, last: int, progress: OnStep) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Each generation's positions, and its parent-child pairs as row numbers in it and in the next (none for the last)."""
    total, done = positions(piles, last), 0
    layer = np.zeros((1, piles), dtype=np.int64)
    none = np.empty(0, dtype=np.int64)
    for generation in range(last + 1):
        parents, found = position_arrays.children_of(layer) if generation < last else (none, layer[:0])
        following, children = distinct_rows(found, generation + 2)
        yield layer, parents, children
        done += len(layer)
        progress("P-position", done, total)
        if not len(following):
            return
        layer = following


#: What yields the lines of a file, by its ending.
GRAPH_FORMATS: dict[str, Callable[[PositionGraph], Iterator[str]]] = {".graphml": graphml, ".dot": dot}
