"""What comes of trying a statement on everything up to a size."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """`tried` says what was tried, and on how much; `counterexample` is the first found against the statement, or None.

    >>> Finding("all n <= 40").holds, Finding("n^2 + n + 41 is prime for n <= 40", counterexample=40).holds
    (True, False)
    """

    tried: str
    counterexample: object | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against the statement."""
        return self.counterexample is None
