"""The result of an exhaustive check."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckResult:
    """The result of an exhaustive check.

    Attributes:
        scope: the cases that were checked, in words.
        counterexample: the first one found, or None.

    >>> CheckResult("all n <= 40").holds, CheckResult("n^2 + n + 41 is prime for n <= 40", counterexample=40).holds
    (True, False)
    """

    scope: str
    counterexample: object | None = None

    @property
    def holds(self) -> bool:
        """Whether no counterexample was found."""
        return self.counterexample is None
