"""Relations between natural numbers as finite automata that read their binary digits, the lowest first.

The relations that automata recognize are those that are stated in +, <=, the nim-sum, powers of two, "and", "not" and "some"
(Buchi 1960; Bruyere, Hansel, Michaux and Villemaire, Logic and p-recognizable sets of integers, 1994). So a statement in these
words is decided: it is true of all numbers, or has a least counterexample.

A state has one successor for each value of the digits read, one digit a number. Zeros after the last digit change no number, so a
state is accepted exactly if its successor by zeros is.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from math import ceil
from operator import mul

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpu_nim.model.arrays import Ints
from gpu_nim.model.errors import Undecided
from gpu_nim.model.shown import Shown

#: The most states of a relation of up to six numbers before it is minimized, and fewer of more numbers, whose states have as many
#: successors in all: a statement that needs more is not decided.
MOST_STATES = 1 << 16

_LARGEST = 1 << 60  # so that sums of eight fit 64 bits
_CELLS = 1 << 24  # of sets of states that are followed at a time


class Relation(Shown):
    """A relation between natural numbers, by their names: a minimized automaton, whose state 0 is the first.

    `&`, `|`, `~`, `implies` and `iff` combine relations, `some` and `every` quantify numbers, and a call replaces numbers by terms.
    Comparisons of terms make the first relations: see `numbers`.

    Args:
        names: the names of the numbers, ascending.
        steps: the successors of each state, int64 (states, 2, ..., 2), an axis a number.
        accepts: which states are accepted, bool (states,).

    Raises:
        Undecided: an operation needs more than `MOST_STATES` states.

    >>> x, y, z = numbers("x y z")
    >>> nim_sum_is_zero(x, y, z).implies(z <= x + y).holds
    True
    >>> (z <= x + y).implies(nim_sum_is_zero(x, y, z)).counterexample()
    {'x': 0, 'y': 1, 'z': 0}
    """

    def __init__(self, names: tuple[str, ...], steps: Ints, accepts: NDArray[np.bool_]) -> None:
        classes, count = accepts.astype(np.int64), 0
        while True:  # Moore's refinement: of one class are states that accept the same words
            finer, before = classes, count
            for after in steps.reshape(len(steps), -1).T:
                finer = np.unique(finer * len(steps) + classes[after], return_inverse=True)[1]
            classes, count = finer, int(finer.max()) + 1
            if count == before:
                break
        kept = np.unique(classes, return_index=True)[1]
        number = np.argsort(np.argsort(kept))  # of a class, in the order of their first states
        kept.sort()
        self.names, self.steps, self.accepts = names, number[classes[steps[kept]]], accepts[kept]

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.steps)

    def __bool__(self) -> bool:
        raise TypeError("a relation is true for some numbers: take its `holds`, and combine relations by & and |")

    def _line(self) -> str:
        return f"<Relation of {', '.join(self.names) or 'no numbers'}, {self.states} states>"

    def __and__(self, other: "Relation") -> "Relation":
        return together(np.logical_and, self, other)

    def __or__(self, other: "Relation") -> "Relation":
        return together(np.logical_or, self, other)

    def __invert__(self) -> "Relation":
        return Relation(self.names, self.steps, ~self.accepts)

    def implies(self, other: "Relation") -> "Relation":
        """Return where it is false, or another one is true."""
        return together(np.less_equal, self, other)

    def iff(self, other: "Relation") -> "Relation":
        """Return where it and another one are both true or both false."""
        return together(np.equal, self, other)

    def some(self, *names: str) -> "Relation":
        """Return for which of the other numbers there are ones of these names."""
        found = self
        for name in names:
            found = found._without(name)
        return found

    def every(self, *names: str) -> "Relation":
        """Return for which of the other numbers it is true of all ones of these names."""
        return ~(~self).some(*names)

    def _without(self, name: str) -> "Relation":
        names = tuple(each for each in self.names if each != name)
        axis, accepts = self.names.index(name) + 1, self.accepts
        ways = [self.steps.take(digit, axis).reshape(self.states, -1) for digit in (0, 1)]
        while not np.array_equal(more := accepts | accepts[ways[0][:, 0]] | accepts[ways[1][:, 0]], accepts):
            accepts = more  # the number may have more digits than the others
        # A state of the result is the set of those that the digits of the number may lead to.
        waiting = [np.eye(1, self.states, dtype=np.bool_)]
        index, rows, final = {np.packbits(waiting[0]).tobytes(): 0}, list[Ints](), list[NDArray[np.bool_]]()
        for sets in waiting:
            which, state = np.nonzero(sets)
            after = np.zeros((len(sets), ways[0].shape[1], self.states), np.bool_)
            for way in ways:
                for symbol, to in enumerate(way.T):
                    after[which, symbol, to[state]] = True
            flat, known = after.reshape(-1, self.states), len(index)
            reached = np.array([index.setdefault(key.tobytes(), len(index)) for key in np.packbits(flat, axis=1)])
            _require_few(len(index), ways[0].shape[1])
            rows.append(reached.reshape(len(sets), *(2,) * len(names)))
            final.append((sets & accepts).any(axis=1))
            numbers, at = np.unique(reached, return_index=True)
            if len(new := flat[at[numbers >= known]]):
                waiting += np.array_split(new, ceil(new.size * ways[0].shape[1] / _CELLS))
        return Relation(names, np.concatenate(rows), np.concatenate(final))

    def __call__(self, **terms: "Term | str | int") -> "Relation":
        """Return the relation between terms: P(x=y + 1) is true of y exactly if P is true of x = y + 1, a natural number.

        Args:
            terms: a term, a name or a number in place of a number.

        >>> x, y = numbers("x y")
        >>> (x <= y)(y=3).example(), (x <= y)(x="y", y="x").names, (x <= y)(x="y").holds
        ({'x': 0}, ('x', 'y'), True)
        """
        given = {name: as_term(terms.get(name, name)) for name in self.names}
        uses = Counter(name for term in given.values() for name in term.coefficients)
        plain = {name: term.name for name, term in given.items() if term.name and uses[term.name] == 1}
        names = [plain.get(name, f"{name}'") for name in self.names]
        axes = sorted(range(len(names)), key=names.__getitem__)
        steps = self.steps.transpose(0, *(axis + 1 for axis in axes))
        found = Relation(tuple(sorted(names)), steps, self.accepts)
        for name in given.keys() - plain.keys():
            found = (found & (numbers(f"{name}'")[0] == given[name])).some(f"{name}'")
        return found

    @property
    def holds(self) -> bool:
        """Whether it is true of all numbers."""
        return bool(self.accepts.all())

    def contains(self, vectors: ArrayLike) -> NDArray[np.bool_]:
        """Return of which numbers it is true.

        Args:
            vectors: natural numbers of any size in the order of the names, shape (..., k).

        Returns:
            bool, shape (...).

        >>> x, y, z = numbers("x y z")
        >>> nim_sum_is_zero(x, y, z).contains([[1, 2, 3], [1, 2, 4], [10**30, 10**30, 0]]).tolist()
        [True, False, True]
        """
        values = np.asarray(vectors)
        values = values if values.dtype.kind in "iu" else np.array(vectors, dtype=object)
        states = np.zeros(values.shape[:-1], np.int64)
        for place in range(int(values.max(initial=0)).bit_length()):
            states = self.steps[(states, *np.moveaxis(values >> place & 1, -1, 0).astype(np.int64))]
        return self.accepts[states]

    def table(self, places: int) -> NDArray[np.bool_]:
        """Return of which numbers below 2^places it is true, an axis a number in the order of the names.

        >>> nim_sum_is_zero(*numbers("x y")).table(1).tolist()
        [[True, False], [False, True]]
        """
        steps, states = self.steps.astype(np.int32), np.zeros((1,) * len(self.names), np.int32)
        for place in range(places):
            lower, states = states, np.empty((2 << place,) * len(self.names), np.int32)
            for bits, after in _by_symbol(steps):
                states[tuple(slice(bit << place, (bit + 1) << place) for bit in bits)] = after[lower]
        return self.accepts[states]

    def walnut(self) -> str:
        """Return the automaton in the text format of Walnut, a prover for automatic sequences.

        >>> x, y = numbers("x y")
        >>> print((x == y).walnut())
        lsd_2 lsd_2
        0 1
        0 0 -> 0
        0 1 -> 1
        1 0 -> 1
        1 1 -> 0
        1 0
        0 0 -> 1
        0 1 -> 1
        1 0 -> 1
        1 1 -> 1
        """
        lines = [" ".join(["lsd_2"] * len(self.names))]
        for state, (accepts, steps) in enumerate(zip(self.accepts, self.steps, strict=True)):
            lines.append(f"{state} {int(accepts)}")
            lines += [f"{' '.join(map(str, bits))} -> {after}" for bits, after in np.ndenumerate(steps)]
        return "\n".join(lines)

    def counterexample(self) -> dict[str, int] | None:
        """Return the numbers of which it is false, as `example` does, or None where it holds."""
        return (~self).example()

    def example(self, **known: int) -> dict[str, int] | None:
        """Return the numbers of which it is true, the first by their sum and then in the order of the names, or None.

        Args:
            known: values of some of them, of any size.

        >>> x, y, z = numbers("x y z")
        >>> nim_sum_is_zero(x, y, z).example(x=10**30, y=10**30 + 1)["z"]
        1
        """
        given = [(at, known[name]) for at, name in enumerate(self.names) if name in known]
        symbols = [(bits, steps.tolist()) for bits, steps in _by_symbol(self.steps)]
        best = {0: (0, (0,) * len(self.names))}  # the first numbers that lead to each state by so many digits
        found, place, places = None, 0, max((value for _, value in given), default=0).bit_length()
        while True:
            if place >= places:
                found = min((each for state, each in best.items() if self.accepts[state]), default=found)
            # A state is reached by fewer digits than there are states, and a vector with a further digit has a greater sum.
            if place >= places + self.states if found is None else found[0] < 1 << place:
                return found and dict(zip(self.names, found[1], strict=True))
            reached: dict[int, tuple[int, tuple[int, ...]]] = {}
            here = [(bits, steps) for bits, steps in symbols if all(bits[at] == value >> place & 1 for at, value in given)]
            for state, (total, vector) in best.items():
                for bits, steps in here:
                    further = total + (sum(bits) << place), tuple(x + (b << place) for x, b in zip(vector, bits, strict=True))
                    reached[steps[state]] = min(reached.get(steps[state], further), further)
            best, place = reached, place + 1


def together(join: Callable[..., NDArray[np.bool_]], *relations: Relation) -> Relation:
    """Return the relation that is true where a function of the truths of others is.

    Args:
        join: takes as many arrays of bool as there are relations.
        relations: the others.

    >>> x, y = numbers("x y")
    >>> together(lambda *truths: sum(truths) == 1, x <= 1, y >= 2, x == y).example()
    {'x': 0, 'y': 1}
    """
    names = tuple(sorted({name for each in relations for name in each.names}))
    steps = [each.steps.reshape(-1, *(1 + (name in each.names) for name in names)) for each in relations]
    *strides, count = accumulate((each.states for each in relations), mul, initial=1)
    if count >= _LARGEST:
        raise Undecided("not decided: more than 2^60 states")

    def after(codes: Ints) -> Ints:
        shares = (stride * step[codes // stride % len(step)] for stride, step in zip(strides, steps, strict=True))
        return reduce(np.add, shares)

    codes, found = explored(0, after)
    truths = (each.accepts[codes // stride % each.states] for stride, each in zip(strides, relations, strict=True))
    return Relation(names, found, join(*truths))


def _by_symbol(steps: NDArray[np.integer]) -> list[tuple[tuple[int, ...], NDArray[np.integer]]]:
    return [(bits, steps[:, *bits]) for bits in np.ndindex(steps.shape[1:])]


def explored(start: int, after: Callable[[Ints], Ints]) -> tuple[Ints, Ints]:
    """Return all states that are reached, as codes (states,), and the indices among them of their successors.

    Args:
        start: the code of the first state.
        after: returns the codes of the successors of some states, (n, 2, ..., 2).
    """
    found = frontier = np.array([start])
    rows = list[Ints]()
    while len(frontier):
        rows.append(after(frontier))
        frontier = np.setdiff1d(rows[-1], found)
        found = np.concatenate([found, frontier])
        _require_few(len(found), rows[-1][0].size)
    order = np.argsort(found)
    return found, order[np.searchsorted(found, np.concatenate(rows), sorter=order)]


def _require_few(states: int, successors: int) -> None:
    most = min(MOST_STATES, 64 * MOST_STATES // successors)
    if states > most:
        raise Undecided(f"not decided: more than {most:,} states")


@dataclass(frozen=True, eq=False, repr=False)
class Term(Shown):
    """A sum of natural numbers with integer factors, and a constant; comparisons make relations.

    >>> x, y = numbers("x y")
    >>> (2 * x + 1 == y).example(), (x < y).implies(x + 1 <= y).holds
    ({'x': 0, 'y': 1}, True)
    """

    coefficients: Mapping[str, int]
    constant: int = 0
    __array_ufunc__ = None  # numbers of NumPy leave operators to this class

    @property
    def name(self) -> str | None:
        """The name of the number that it is, or None."""
        return next(iter(self.coefficients)) if [*self.coefficients.values()] == [1] and not self.constant else None

    def __add__(self, other: "Term | int") -> "Term":
        other = as_term(other)
        both = {
            name: self.coefficients.get(name, 0) + other.coefficients.get(name, 0)
            for name in {**self.coefficients, **other.coefficients}
        }
        return Term({name: factor for name, factor in both.items() if factor}, self.constant + other.constant)

    def __mul__(self, factor: int) -> "Term":
        return Term({name: factor * each for name, each in self.coefficients.items() if factor}, factor * self.constant)

    def __sub__(self, other: "Term | int") -> "Term":
        return self + -1 * as_term(other)

    __radd__, __rmul__ = __add__, __mul__

    def __le__(self, other: "Term | int") -> Relation:
        difference = self - other
        names = tuple(sorted(difference.coefficients))
        if max(map(abs, (difference.constant, *difference.coefficients.values()))) >= _LARGEST:
            raise Undecided("not decided: a factor or a constant of 2^60 or more")
        digits = sum(
            (difference.coefficients[name] * grid for name, grid in zip(names, np.indices((2,) * len(names)), strict=True)),
            np.int64(0),
        )
        # The remaining digits must have a sum of at most the state.
        bounds, steps = explored(-difference.constant, lambda bounds: (bounds.reshape(-1, *(1,) * len(names)) - digits) // 2)
        return Relation(names, steps, bounds >= 0)

    def __lt__(self, other: "Term | int") -> Relation:
        return self + 1 <= other

    def __ge__(self, other: "Term | int") -> Relation:
        return as_term(other) <= self

    def __gt__(self, other: "Term | int") -> Relation:
        return as_term(other) < self

    def __eq__(self, other: "Term | int") -> Relation:  # type: ignore[override]
        return (self <= other) & (as_term(other) <= self)


def as_term(value: Term | str | int) -> Term:
    """Return a term, that of a name or of a number."""
    if isinstance(value, Term):
        return value
    return Term({value: 1}) if isinstance(value, str) else Term({}, int(value))


def numbers(names: str) -> tuple[Term, ...]:
    """Return natural numbers by their names, as terms.

    >>> x, y = numbers("x y")
    >>> (3 * x - 2 * y + 1).coefficients
    {'x': 3, 'y': -2}
    """
    return tuple(map(as_term, names.split()))


def nim_sum_is_zero(*terms: Term) -> Relation:
    """Return where the nim-sum of terms is 0."""
    names = tuple(f"x{number}" for number in range(len(terms)))
    odd = np.indices((2,) * len(terms)).sum(axis=0) % 2
    relation = Relation(names, np.stack([odd, np.ones_like(odd)]), np.array([True, False]))
    return relation(**dict(zip(names, terms, strict=True)))


def is_power_of_two(term: Term) -> Relation:
    """Return where a term is a power of two."""
    return Relation(("x",), np.array([[0, 1], [1, 2], [2, 2]]), np.array([False, True, False]))(x=term)
