"""The evolution tree of an exactly-one growth: each newborn has one parent, born in the generation before.

A cell that is born on exactly one touch has been touched by one alive cell.  Had that cell been alive earlier, its touch would have
decided the newborn earlier; so the parent is a newborn of the generation before, at x - o for one of the rule's offsets o.  For
`nim` this is the tree of [NF] section 3, where a P-position of three piles has one parent.
"""

from collections.abc import Iterator
from math import prod

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.cell_sources import Newborns
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Cells, Rule


def parents(rule: Rule, before: Cells, newborns: Cells) -> NDArray[np.int64]:
    """Return each newborn's parent as its index in `before`, int64 of shape (N,).

    Args:
        rule: the rule of the growth.
        before: the newborns of the generation before, (M, d), in lexicographic order.
        newborns: cells (N, d) born from them.

    Raises:
        UsageError: the rule has other births than on exactly one touch, a cell has no parent, or cells lie too far apart.

    >>> from gpu_nim import grow
    >>> from gpu_nim.automata.catalogue import find
    >>> growth = grow("nim", 3)
    >>> growth.newborns(2).tolist()
    [[0, 2, 2], [2, 0, 2], [2, 2, 0]]
    >>> parents(find("nim").rule, growth.newborns(2), growth.newborns(3)).tolist()
    [0, 0, 0, 1, 2, 1, 1, 2, 2]
    """
    require_one_parent(rule)
    found = np.full(len(newborns), -1, np.int64)
    missing = np.arange(len(newborns))
    if len(before) and len(newborns):
        old, new = before.astype(np.int64), newborns.astype(np.int64)
        lower, upper = old.min(axis=0), old.max(axis=0)
        shape = tuple((upper - lower + 1).tolist())
        if prod(shape) >= 1 << 63:
            raise UsageError("parents need cells within 63-bit keys, and these lie farther apart")
        keys = np.ravel_multi_index(tuple((old - lower).T), shape)
        for offset in rule.offsets:
            candidates = new[missing] - np.array(offset, np.int64)
            inside = np.flatnonzero(((candidates >= lower) & (candidates <= upper)).all(axis=1))
            wanted = np.ravel_multi_index(tuple((candidates[inside] - lower).T), shape)
            indices = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            hits = keys[indices] == wanted
            if rule.touches is not None:
                hits &= rule.touches(old[indices], offset)
            found[missing[inside[hits]]] = indices[hits]
            missing = np.delete(missing, inside[hits])
    if len(missing):
        cell = tuple(newborns[missing[0]].tolist())
        raise UsageError(f"cell {cell} has no parent in the previous generation")
    return found


def require_one_parent(rule: Rule) -> None:
    """Raise UsageError for a rule whose cells may have several parents, or older ones."""
    if not rule.exactly_one:
        raise UsageError(f"parents need births on exactly one touch, got births {sorted(rule.births)}")


def ancestry(rule: Rule, growth: Iterator[Newborns]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield (n, parents) for n = 0, 1, ...: each newborn's parent as its index among all cells in order of birth, -1 for seeds.

    Args:
        rule: the rule of the growth.
        growth: (n, newborns) for n = 0, 1, ..., as `enumerate` of a `Growth` yields them.

    >>> from gpu_nim import grow
    >>> from gpu_nim.automata.catalogue import find
    >>> [generation.tolist() for _, generation in ancestry(find("nim").rule, enumerate(grow("nim", 3)))]
    [[-1], [0, 0, 0], [1, 2, 3], [4, 4, 4, 5, 6, 5, 5, 6, 6]]
    """
    require_one_parent(rule)
    before: Cells | None = None
    born_earlier = 0
    for generation, newborns in growth:
        if before is None:
            yield generation, np.full(len(newborns), -1, np.int64)
        else:
            yield generation, parents(rule, before, newborns) + born_earlier
            born_earlier += len(before)
        before = newborns
