"""An entry of the OEIS, or one that it lacks, as the catalogue holds it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gpu_nim.counting.family import Family
from gpu_nim.model.arguments import argument, integer, short_repr
from gpu_nim.model.errors import UsageError
from gpu_nim.model.work import OnStep, no_progress

#: Yields a(start), a(start + 1), ..., a(stop - 1), without end where stop is None; the last argument is called for progress.
Terms = Callable[[int, int | None, OnStep], Iterator[int]]


@dataclass(frozen=True, repr=False)
class OeisEntry:
    """One entry.

    Attributes:
        name: its A-number; the name of its draft where the OEIS has no entry; of a family, name and piles, as D_4.
        summary: what it counts.
        offset: the index of its first term.
        compute: yields its terms.
        family: the sequence of a family that it equals, if there is one: a(n + shift) = family.value(n).
        shift: the index of the family's first value.
        quick: how many first terms are found at once, where the others take long; None for a sequence without long work.
    """

    name: str
    summary: str
    offset: int
    compute: Terms
    family: Family | None = None
    shift: int = 0
    quick: int | None = None

    def __repr__(self) -> str:
        return f"<OeisEntry {self.name}: {self.summary}>"

    def terms(self, start: int, stop: int | None = None, on_step: OnStep = no_progress) -> Iterator[int]:
        """Yield a(start), ..., a(stop - 1), lazily.

        Args:
            start: the first index.
            stop: the index after the last; None for no end.
            on_step: called for progress where one term takes long.

        Raises:
            UsageError: start is below the offset.

        >>> list(OeisEntry("A000027", "n", 1, lambda start, stop, _: iter(range(start, stop))).terms(3, 6))
        [3, 4, 5]
        """
        self.check_index(integer("start", start), "start")
        return self.compute(start, stop, on_step)

    def check_index(self, n: int, name: str) -> None:
        """Check an index against the offset.

        Args:
            n: the index.
            name: its name in the message.

        Raises:
            UsageError: it is below the offset.
        """
        if n < self.offset:
            raise UsageError(f"{argument(name)} must be at least {self.offset}, where {self.name} begins, got {short_repr(n)}")

    def term(self, n: int, on_step: OnStep = no_progress) -> int:
        """Return a(n), exact.

        Args:
            n: the index.
            on_step: called for progress.
        """
        return next(self.terms(n, n + 1, on_step))
