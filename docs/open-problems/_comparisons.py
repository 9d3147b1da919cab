"""What the programs of the open problems share: they compare what is computed with what their pages state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

#: What is compared, in words, what is computed, and what the page states.
Case = tuple[str, object, object]


def compare(statements: Mapping[str, Iterable[Case]]) -> int:
    """Print a line for each statement, and one for each case that differs; return 1 if a statement has one or has no cases."""
    failed = False
    for statement, cases in statements.items():
        compared = wrong = 0
        for what, found, stated in cases:
            compared += 1
            if found != stated:
                wrong += 1
                print(f"WRONG: {what} is {found}, not {stated}")
        fails = wrong > 0 or compared == 0
        failed |= fails
        print(f"{'FAILS' if fails else 'holds'}  {statement}: {compared:,} comparisons", flush=True)
    return int(failed)
