"""The output of `gpunim count --reduce`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpu_nim.counting.reductions import Result


def json_value(result: "Result") -> Any:
    """Return a result as a value for JSON."""
    value: Any = result.value
    match result.reduction.entry.gives:
        case "index":
            return value
        case "records":
            return {"records": [{"n": n, "value": str(each)} for n, each in value], "complete": result.complete}
        case "counts":
            return {str(key): number for key, number in value.items()}
    return str(value)


def table_rows(result: "Result") -> Iterator[tuple[str, str, str]]:
    """Yield the rows of a table for a result: name, index or class, value."""
    name, entry = str(result.reduction), result.reduction.entry
    value: Any = result.value
    match entry.gives:
        case "counts":
            for key, number in value.items():
                yield name, entry.describe(key), f"{number:,}"
        case "records":
            for n, each in value:
                yield name, str(n), f"{each:,}"
            if not result.complete:
                yield name, "and more", ""
        case "index":
            yield name, "", str(value)
        case _:
            yield name, "", f"{value:,}"
