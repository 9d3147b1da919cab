"""What long work is planned to take: values, time, memory, and bytes that ranks send to each other."""

from dataclasses import dataclass
from typing import Any

from gpu_nim.model.presentation import Summarised


@dataclass(frozen=True)
class Plan(Summarised):
    """What long work is planned to take; as a text, in words.

    Attributes:
        facts: what the work is.
        costs: amounts by name, in bytes, seconds, values or tuples; None where an amount is not known before.
        words: the same as a sentence.
    """

    facts: dict[str, Any]
    costs: dict[str, Any]
    words: str

    def __str__(self) -> str:
        return self.words

    def summary(self) -> dict[str, Any]:
        """Return the plan as plain values, for JSON.

        >>> Plan({"sequence": "D"}, {"tuples": 64}, "64 tuples to check").summary()
        {'sequence': 'D', 'plan': {'tuples': 64}}
        """
        return {**self.facts, "plan": self.costs}
