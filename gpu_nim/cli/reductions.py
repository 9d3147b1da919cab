"""The output of `gpunim count --reduce`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpu_nim.counting.reductions import Result


def json_value(result: "Result", shift: int) -> Any:
    """Return a result as a value for JSON; an index of the entry is the family's plus `shift`."""
    match result.reduction.name:
        case "argmax" | "argmin":
            return result.value + shift
        case "records":
            pairs = [{"n": n + shift, "value": str(value)} for n, value in result.value]
            return {"records": pairs, "complete": result.complete}
        case "histogram" | "residues":
            return {str(key): number for key, number in result.value.items()}
    return str(result.value)


def table_rows(result: "Result", shift: int) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of a table for a result: name, index or class, value."""
    name = result.reduction.name
    match name:
        case "histogram":
            for digits, number in result.value.items():
                yield name, "0" if digits == 0 else f"2^{digits - 1} to 2^{digits} - 1", f"{number:,}"
        case "residues":
            for residue, number in result.value.items():
                yield str(result.reduction), str(residue), f"{number:,}"
        case "records":
            for n, value in result.value:
                yield name, str(n + shift), f"{value:,}"
            if not result.complete:
                yield name, "and more", ""
        case "argmax" | "argmin":
            yield name, "", str(result.value + shift)
        case _:
            yield name, "", f"{result.value:,}"
