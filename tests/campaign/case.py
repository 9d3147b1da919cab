"""A case of a campaign, and what is told of one that went wrong."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from tests.campaign.runner import Outcome


@dataclass(frozen=True)
class Fault:
    """A run that broke rules, with what it broke."""

    outcome: Outcome
    broken: list[str]
    situation: str = ""
    """What had been done before: a damage, a signal."""


@dataclass(frozen=True)
class Case:
    """Something to try: `run` returns what was wrong, or None."""

    name: str
    run: Callable[[], Fault | None]


class Campaign(Protocol):
    """Deals the case of each index; the same for the same seed."""

    name: str

    def case(self, seed: int, index: int) -> Case:
        """Return the case of an index."""
