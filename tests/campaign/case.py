"""A case of a campaign, and the report of a fault."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from tests.campaign.runner import Outcome


@dataclass(frozen=True)
class Fault:
    """A run that broke rules, with these rules."""

    outcome: Outcome
    broken: list[str]
    situation: str = ""
    """What had been done before: a damage, a signal."""


@dataclass(frozen=True)
class Case:
    """A case: `run` returns what was wrong, or None."""

    name: str
    run: Callable[[], Fault | None]


class Campaign(Protocol):
    """Generates the case of each index; the same for the same seed."""

    name: str

    def case(self, seed: int, index: int) -> Case:
        """Return the case of an index."""
