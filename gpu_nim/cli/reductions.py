"""The output of `gpunim count --reduce`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpu_nim.counting.reductions import Result


def json_value(result: "Result", shift: int) -> Any:
    """Return a result as a value for JSON; an index of the entry is the family's plus `shift`."""
    match result.reduction.entry.gives:
        case "index":
            return result.value + shift
        case "records":
            pairs = [{"n": n + shift, "value": str(value)} for n, value in result.value]
            return {"records": pairs, "complete": result.complete}
        case "counts":
            return {str(key): number for key, number in result.value.items()}
    return str(result.value)


def table_rows(result: "Result", shift: int) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of a table for a result: name, index or class, value."""
    name, entry = str(result.reduction), result.reduction.entry
    match entry.gives:
        case "counts":
            for key, number in result.value.items():
                yield name, entry.describe(key), f"{number:,}"
        case "records":
            for n, value in result.value:
                yield name, str(n + shift), f"{value:,}"
            if not result.complete:
                yield name, "and more", ""
        case "index":
            yield name, "", str(result.value + shift)
        case _:
            yield name, "", f"{result.value:,}"
