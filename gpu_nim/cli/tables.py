"""Tables as lines of text, as wide as their cells or fitted to a terminal."""

import textwrap
from collections.abc import Iterator, Sequence

_GAP = "  "
_READABLE = 16  # columns below which text is not wrapped for the sake of others


def table_lines(cells: Sequence[Sequence[str]], header: Sequence[str] = (), width: int | None = None) -> Iterator[str]:
    r"""Yield the lines of a table in aligned columns, numbers to the right and words to the left.

    Where it does not fit, the widest columns of words are wrapped, and if that is not enough, each row becomes a list of its cells.
    No word is cut: one that is longer than the terminal stands alone on its line.

    Args:
        cells: the rows.
        header: the names of the columns; empty for none.
        width: the columns of the terminal; None for any.

    >>> print(*table_lines([["nim", "1,024"], ["edge", "8"]], ["name", "births"]), sep="\n")
    name  births
    nim    1,024
    edge       8
    """
    if not cells:
        yield _GAP.join(header)
        return
    columns = list(zip(*([header] if header else []), *cells, strict=True))
    numeric = [all(map(_is_number, column)) for column in zip(*cells, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    if width is not None and not _fit(widths, columns, numeric, width):
        yield from _stacked(cells, header, width) if header else _facts(cells, width)
        return
    for row in ([header] if header else []) + list(cells):
        wrapped = [_wrap(text, size) for text, size in zip(row, widths, strict=True)]
        for i in range(max(map(len, wrapped))):
            line = (lines[i] if i < len(lines) else "" for lines in wrapped)
            yield _GAP.join(
                text.rjust(size) if right else text.ljust(size) for text, size, right in zip(line, widths, numeric, strict=True)
            ).rstrip()


def _is_number(text: str) -> bool:
    return text.lstrip("-").replace(",", "").replace(".", "").isdigit()


def _fit(widths: list[int], columns: Sequence[Sequence[str]], numeric: Sequence[bool], width: int) -> bool:
    """Narrow the widest columns of words until they fit, and return whether they do."""
    words = [max((len(word) for text in column for word in text.split()), default=0) for column in columns]
    least = [size if right else max(word, min(size, _READABLE)) for size, word, right in zip(widths, words, numeric, strict=True)]
    excess = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    while excess > 0:
        spare = [size - low for size, low in zip(widths, least, strict=True)]
        widest = max(range(len(widths)), key=lambda i: widths[i] if spare[i] else 0)
        if not spare[widest]:
            return False
        widths[widest] -= 1
        excess -= 1
    return True


def _stacked(cells: Sequence[Sequence[str]], header: Sequence[str], width: int) -> Iterator[str]:
    """The rows as paragraphs: the first cell, and the others below it, each after its name."""
    for row in cells:
        yield from _wrap(row[0], width)
        others = list(zip(header[1:], row[1:], strict=True))
        yield from (f"{_GAP}{line}" for line in _facts(others, width - len(_GAP)))


def _facts(cells: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Names and values, of which those with a word that is too long stand below their names."""
    label = max((len(name) for name, *_ in cells), default=0)
    for name, *values in cells:
        text = _GAP.join(values)
        below = max(map(len, text.split()), default=0) > width - label - len(_GAP)
        if below:
            yield name
        indent = 0 if below else label
        for k, line in enumerate(_wrap(text, width - len(_GAP) - indent)):
            start = "" if below or k else name
            yield f"{start:<{indent}}{_GAP}{line}".rstrip()


def _wrap(text: str, width: int) -> list[str]:
    if len(text) <= width:
        return [text]
    return textwrap.wrap(text, max(width, 1), break_long_words=False, break_on_hyphens=False) or [""]
