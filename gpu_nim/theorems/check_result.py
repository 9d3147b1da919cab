"""The result of an exhaustive check."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckResult:
    """`scope` says what was tried, and on how much; `counterexample` is the first found against the statement, or None.

    >>> CheckResult("all n <= 40").holds, CheckResult("n^2 + n + 41 is prime for n <= 40", counterexample=40).holds
    (True, False)
    """

    scope: str
    counterexample: object | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against the statement."""
        return self.counterexample is None
