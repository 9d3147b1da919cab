"""Save and load growths, solved games and graphs, and read the terms of sequences, by the suffix of the file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, pairwise
from math import lcm
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from gpu_nim._version import __version__
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.newborns import ancestry
from gpu_nim.games.nim.evolution_graph import GRAPH_FORMATS, PositionGraph
from gpu_nim.games.solution import Solution
from gpu_nim.model.arguments import short_repr
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.model.files import STDIN, CorruptFile, open_regular, printable, read_regular, reading
from gpu_nim.model.registry import wrong_ending
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.storage.atomic import atomic_write, check_output
from gpu_nim.storage.growth_formats import GROWTH_FORMATS, growth_format, readable_suffixes
from gpu_nim.storage.rle_files import PATTERN_SUFFIXES
from gpu_nim.storage.solutions import is_solution, load_solution, save_solution
from gpu_nim.storage.tables import MAIN, TABLE, TABLE_FORMATS, Column, Columns, entries

if TYPE_CHECKING:
    from gpu_nim.guessing.search import Guess

_KINDS: dict[type, str] = {Growth: "growth", Solution: "solved game"}
_INDICES = ("n", "generation")  # columns that count the rows
_INTEGER = re.compile(r"\s*-?[0-9]+\s*")
_OEIS = re.compile(r"^[ \t]*+(?:%([A-Z])[ \t]++)?(A[0-9]{6,7})\b(?:[ \t]++(.*))?$", re.MULTILINE)
# How programs print lists: PARI and Mathematica begin with a number of the line, and NumPy ends with the dtype.
_PRINTED = re.compile(r"(?:%[0-9]*|Out\[[0-9]+\])\s*+=|\barray\(|,\s*+dtype=\w+\s*+\)|[][(){}]")
_NUMBER = re.compile(r"-?[0-9]+(/0*[1-9][0-9]*)?")
_BEGINNING = 1 << 16  # bytes of a list of numbers
_MOST_TEXT = 1 << 26  # bytes of one that is read
#: The endings of texts that list terms.
TEXTS = (".txt", ".seq")
#: The endings of texts for other programs that say what they hold.
SAYING = (*PATTERN_SUFFIXES, ".vti", *GRAPH_FORMATS)
_COMMENTS = {".graphml": "<!-- {} -->\n", ".dot": "// {}\n"}
_SAID = re.compile(rb"(gpunim [^:\n]+): (.+?)(?: -->)?\n")


def save(found: Growth | Solution | PositionGraph | Guess, path: str | Path, *, parents: bool = False) -> None:
    """Write a growth, a solved game, an evolution graph or a guess to a file, in the format of its suffix.

    `load` reads .zarr and .npz, which hold all of a growth or a solved game. The other formats are for other programs.

    Args:
        found: a growth, a solved game, an evolution graph, or a guess.
        path: the file; its suffix is one of `gpu_nim.storage.growth_formats`, for a solved game one of
            `gpu_nim.storage.solutions.save_solution`, for a graph one of `GRAPH_FORMATS`, for a guess .json, as `gpunim guess
            --json` prints it.
        parents: save each cell's parent, too, for growths in a format that holds parents.

    Raises:
        UsageError: the suffix is of no format, or the format holds no parents.
        FileError: the file cannot be written.

    >>> import tempfile
    >>> from gpu_nim import grow, load, save, solve
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(grow("nim", 15), f"{folder}/nim.zarr")
    ...     save(solve("3y <= x + z", 31), f"{folder}/chocolate.zarr")
    ...     load(f"{folder}/nim.zarr").population, len(load(f"{folder}/chocolate.zarr").p_positions)
    (256, 342)
    """
    if isinstance(found, Growth):
        chosen = growth_format(Path(path), parents=parents)
        chosen.save(with_parents(found) if parents else replace(found, parents=None), Path(path))
    elif parents:
        raise UsageError(f"parents must be of a growth, got {short_repr(found)}")
    elif isinstance(found, PositionGraph):
        save_graph(found, Path(path))
    elif isinstance(found, Solution):
        save_solution(found, Path(path))
    else:
        from gpu_nim.guessing.search import Guess  # here, for its start-up time

        if not isinstance(found, Guess):
            raise UsageError(f"found must be a growth, a solved game, an evolution graph or a guess, got {short_repr(found)}")
        check_output(Path(path), "the file of a guess", (".json",))
        with atomic_write(Path(path)) as scratch:
            scratch.write_text(f"{json.dumps(found.facts())}\n", encoding="utf-8")


def with_parents(growth: Growth) -> Growth:
    """Return a growth with each cell's parent, computed by its rule where it has none yet; UsageError where that is not known."""
    rule = growth.rule
    if growth.parents is not None:
        return growth
    if rule is None:
        raise UsageError("parents need the rule of the growth, which its file does not hold")
    return replace(growth, parents=lambda first, stop: islice(ancestry(rule, growth.source(0, stop)), first, None))


@overload
def load(path: str | Path) -> Growth | Solution: ...
@overload
def load(path: str | Path, kind: type[Growth]) -> Growth: ...
@overload
def load(path: str | Path, kind: type[Solution]) -> Solution: ...
def load(path: str | Path, kind: type[Growth] | type[Solution] | None = None) -> Growth | Solution:
    """Read a growth or a solved game from a file.

    Args:
        path: the file, in a format of `gpu_nim.storage.growth_formats` that can be read.
        kind: `Growth` or `Solution`, where the file must hold one, as type checkers then know; None for either.

    Returns:
        A growth, whose cells are read on demand and compared with their checksums; or a solved game, which is read at once and
        compared with its digest.

    Raises:
        UsageError: no format of this suffix can be read, or the file holds the other kind.
        FileError: the file is missing, foreign, truncated or edited; the message says which.

    >>> import tempfile
    >>> from gpu_nim import grow
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(grow("edge", 15), f"{folder}/edge.npz")
    ...     growth = load(f"{folder}/edge.npz", Growth)
    >>> growth.population, growth.newborns(2).tolist()
    (826, [[0, 2, 2], [2, 0, 2], [2, 2, 0]])
    """
    if kind is not None and kind not in _KINDS:
        raise UsageError(f"kind must be Growth or Solution, got {short_repr(kind)}")
    path = Path(path)
    if not os.path.exists(path):  # also where no file can have the name, for which Path.exists raises
        raise FileError(f"cannot read {printable(str(path))}: there is no such file")
    chosen = GROWTH_FORMATS.get(path.suffix)
    if chosen is None or chosen.load is None:
        raise wrong_ending("a growth or a solved game is read from a file that ends in", path, readable_suffixes())
    if TABLE.is_declared(path):
        raise UsageError(f"{path} must hold a growth or a solved game, got a table, which gpunim guess reads")
    solved = is_solution(path)
    if kind is not None and solved is not (kind is Solution):
        raise UsageError(f"{path} must hold a {_KINDS[kind]}, got a {_KINDS[Solution if solved else Growth]}")
    return load_solution(path) if solved else chosen.load(path)


def check_graph(path: Path) -> None:
    """Raise what `save_graph` would raise for this path, before the graph is made."""
    check_output(path, "the file of a graph", GRAPH_FORMATS)


def save_graph(graph: PositionGraph, path: Path, progress: OnStep = no_progress) -> None:
    """Write a graph; the write is atomic.

    Args:
        graph: the graph.
        path: the file; its suffix is one of `GRAPH_FORMATS`.
        progress: called with the number of nodes and edges written.

    Raises:
        UsageError: the file has another suffix.
        FileError: the file cannot be written.
        MissingDependency: .graphml needs networkx.
    """
    check_graph(path)
    total, done = len(graph.generation) + len(graph.edges), 0
    facts = ", ".join(f"{name} {value}" for name, value in graph.facts.items())
    said = f"gpunim {__version__}: evolution graph, {facts}".replace("--", "- -")
    with atomic_write(path) as scratch, scratch.open("w", encoding="utf-8") as file:
        file.write(_COMMENTS[path.suffix].format(said))
        for line in GRAPH_FORMATS[path.suffix](graph):
            file.write(f"{line}\n")
            done += line.lstrip().startswith(('"', "<node", "<edge"))
            progress("node and edge", done, total)


@dataclass(frozen=True)
class TermList:
    """Terms of a sequence.

    Attributes:
        name: what they are.
        first: the index of the first of them.
        values: the terms.
        counted: whether that index was given with them; if not, it is 0.
    """

    name: str
    first: int
    values: tuple[int, ...]
    counted: bool = True

    @classmethod
    def of(cls, name: str, numbers: Sequence[int | Fraction], first: int | None = None) -> TermList:
        """Return numbers as terms, fractions multiplied by their least common denominator, as the name then says.

        Args:
            name: what they are.
            numbers: the numbers.
            first: the index of the first; None for one that is not given, and is taken to be 0.

        >>> TermList.of("numbers", [1, Fraction(1, 2)], 3)
        TermList(name='numbers, times 2', first=3, values=(2, 1), counted=True)
        """
        scale = lcm(*(each.denominator for each in numbers))
        named = name if scale == 1 else f"{name}, times {scale}"
        return cls(named, first or 0, tuple(int(each * scale) for each in numbers), first is not None)


def read_terms(path: Path, column: str | None = None, most: int | None = None) -> TermList:
    """Read the terms of a sequence from a file.

    Args:
        path: a file of a table, an object that `count` or `grow` printed as .json, a growth, or a text, .txt, .seq or -, for stdin,
            as for `parse_terms`, where two numbers on the first line are those of a b-file.
        column: which column of a table or a growth; by default the only one, or births.
        most: how many terms are read at most; None for all.

    Raises:
        UsageError: files of this suffix hold no terms, or there is no such column.
        FileError: the file cannot be read, or holds something else than integers.

    >>> import tempfile
    >>> from gpu_nim import grow, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(grow("nim", 3), f"{folder}/nim.csv")
    ...     read_terms(Path(folder, "nim.csv"), "population").values
    (1, 4, 7, 16)
    """
    is_text = path.suffix in TEXTS or str(path) in STDIN
    if not is_text and path.suffix not in readable():
        raise wrong_ending("terms are read from a file that ends in", path, readable())
    with reading(path):
        listed = is_text and _holds_list(path)
        columns = {"value": ()} if listed else TABLE_FORMATS[".txt"].read(path, most) if is_text else _columns_of(path, most)
        names = list(columns)
        counted = next((name for name in names if name in _INDICES), None)
        if column is not None and set(names) <= {*_INDICES, "value"}:
            raise UsageError(f"column is for files of several columns, got {column} of {path}")
        if listed:
            return _read_list(path, most)
        chosen = _choose(path, [name for name in names if name != counted], column)
        found = columns[chosen][:most]
        values = tuple(_integer_of(value, chosen) for value in entries(found))
        first = _first_of_rows(columns[counted][: len(values)], counted) if counted is not None and values else 0
        return TermList(path.name if chosen == "value" else f"{chosen} of {path.name}", first, values, counted=counted is not None)


def _read_list(path: Path, most: int | None) -> TermList:
    try:
        return parse_terms(read_regular(path, _MOST_TEXT).decode(errors="replace"), path.name, most)
    except UsageError as error:
        raise CorruptFile(str(error)) from error


def _columns_of(path: Path, most: int | None) -> Columns:
    if path.suffix in TABLE_FORMATS and (path.suffix not in readable_suffixes() or TABLE.is_declared(path)):
        return TABLE_FORMATS[path.suffix].read(path, most)
    table = load(path, Growth).table
    return {table.header[0]: range(len(next(iter(table.values())))), **table}


def _holds_list(path: Path) -> bool:
    """Whether a text does not begin with two integers on a line, as a b-file does."""
    with open_regular(path) as file:
        text = file.read(_BEGINNING).decode(errors="replace").removeprefix("\ufeff")
    return re.match(r"(?:[ \t]*+(?:#.*)?\r?\n)*+[ \t]*+-?[0-9]++[ \t,;]++-?[0-9]++[ \t]*+(?:#.*)?[\r\n]", text) is None


def _choose(path: Path, names: Sequence[str], column: str | None) -> str:
    """Return the column of a file that is read, of those that it has."""
    listed = printable(", ".join(names))
    if column is None and (len(names) == 1 or MAIN in names):
        return MAIN if MAIN in names else names[0]
    if not names:
        raise FileError(f"{path} holds no column")
    if column is None:
        raise UsageError(f"column must be given for {path}, which has {listed}")
    if column not in names:
        raise UsageError(f"column must be one of {listed}, the columns of {path}, got {column!r}")
    return column


def _first_of_rows(numbers: Column, column: str) -> int:
    """Return the first number of rows, which count on from there: none may be missing, doubled or out of order."""
    if not isinstance(numbers, range):
        for before, after in pairwise(_integer_of(number, column) for number in entries(numbers)):
            if after != before + 1:
                raise CorruptFile(f"in column {column}, expected {before + 1} after {before}, got {after}")
    return _integer_of(numbers[0], column)


def _integer_of(value: Any, column: str) -> int:
    """Return an entry of a column of a file, which must be an integer."""
    if type(value) is int:
        return value
    if not isinstance(value, str) or not _INTEGER.fullmatch(value):
        raise FileError(f"column {printable(column)} must have integers, got {printable(repr(value), 40)}")
    try:
        return int(value)
    except ValueError as error:  # longer than Python reads
        raise CorruptFile(printable(str(error))) from error


def contents(path: Path) -> dict[str, Any]:
    """Return what a file that gpunim writes holds, as plain values: of a growth or a solved game its summary, without its lists.

    Args:
        path: a growth, also as text for other programs, a solved game, or a table.

    Raises:
        UsageError: it is none of these.
        FileError: it cannot be read, or does not say what it holds.
    """
    if path.suffix in SAYING:
        with reading(path), open_regular(path) as file:
            if said := _SAID.search(file.read(_BEGINNING)):
                return {"software": said[1].decode(errors="replace"), "holds": said[2].decode(errors="replace")}
            raise CorruptFile("it does not say which version of gpunim made it")
    if path.suffix in readable_suffixes() and not TABLE.is_declared(path):
        return {name: value for name, value in load(path).summary().items() if not isinstance(value, list)}
    if path.suffix not in TABLE_FORMATS:
        raise wrong_ending("what a file holds is known where it ends in", path, [*TABLE_FORMATS, *readable_suffixes(), *SAYING])
    with reading(path):
        columns = _columns_of(path, None)
    rows = len(next(iter(columns.values()), ()))
    if not rows:
        raise FileError(f"{path} holds no column with numbers")
    return {"columns": ", ".join(columns), "rows": rows}


def readable() -> list[str]:
    """Return the endings of the files that terms are read from."""
    return list(dict.fromkeys([*TABLE_FORMATS, *readable_suffixes(), *TEXTS]))


def bare(text: str) -> tuple[str, int | None]:
    r"""Return the part of a text that has the terms, without what programs print beside them, and the index of the first, if given.

    Args:
        text: an entry of the OEIS in its internal format, lines of one or a line of its file `stripped`; a list of Python, NumPy,
            PARI or Mathematica; or numbers. Lines may be continued by a backslash; those that begin with # are comments.

    >>> bare("%S A000045 0,1,1,\n%T A000045 2,3"), bare("A000045 ,0,1,1,2,3,"), bare("[1, 2, 4...]")
    (('0,1,1,\n2,3', None), (',0,1,1,2,3,', None), ('1, 2, 4', None))
    >>> bare("%I A000027\n%S A000027 1,2,\n%N A000027 The numbers.\n%O A000027 1,1"), bare("%1 = [1, 2]")[0].strip()
    (('1,2,', 1), '1, 2')
    """
    text = re.sub(r"^[ \t]*+#.*$|\\\r?\n", "", text.removeprefix("\ufeff"), flags=re.MULTILINE)
    lines, first = _OEIS.findall(text), None
    if len({number for _, number, _ in lines}) == 1:
        signed = any(tag in "VWX" and tag for tag, *_ in lines)  # beside %S, %T and %U, which then have no signs
        text = "\n".join(rest for tag, _, rest in lines if not tag or tag in ("VWX" if signed else "STU"))
        first = next((int(rest.split(",")[0]) for tag, _, rest in lines if tag == "O"), None)
    else:
        text = _PRINTED.sub(" ", text).strip()
    end = text.rstrip()
    return (end.rstrip(".\u2026") if end.endswith(("...", "\u2026")) else text), first


def parse_terms(text: str, name: str = "numbers", most: int | None = None) -> TermList:
    r"""Return the integers and fractions p/q of a text, separated by commas or space.

    Args:
        text: as for `bare`.
        name: what they are.
        most: how many of them are read at most; None for all.

    Raises:
        UsageError: something else is among them, such as the dots of an array that NumPy abbreviates.

    >>> parse_terms("1, 4, 4, 12,\n4 -1/2 12 36").values
    (2, 8, 8, 24, 8, -1, 24, 72)
    >>> parse_terms("array([ 1, 10,\n 100], dtype=object)").values, parse_terms("Out[1]= {1, 2}").values
    ((1, 10, 100), (1, 2))
    """
    stripped, first = bare(text)
    words = re.split(r"[\s,;]+", stripped) if (stripped := stripped.strip(" \t\r\n,")) else []
    for word in words:
        if not _NUMBER.fullmatch(word):
            wanted = "terms must be integers or fractions p/q separated by commas or space"
            raise UsageError(f"{wanted}, got {printable(word, 40)!r}")
    try:
        numbers = [Fraction(word) if "/" in word else int(word) for word in words[:most]]
    except ValueError as error:
        raise UsageError(f"terms must have fewer digits than Python reads: {error}") from error
    return TermList.of(name, numbers, first)
