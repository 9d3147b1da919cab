"""Scans of `gpunim solve`: one game for each value of a rational parameter, in a table with the theorems on them."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from gpu_nim.cli.output import point, print_table, wants_progress, work_progress
from gpu_nim.games.entries import GameEntry, Rational
from gpu_nim.games.solution import Solution
from gpu_nim.model.arguments import parse_rational
from gpu_nim.model.errors import UsageError

_MAX_SCANNED = 100_000
_OF_THEOREM = ("theorem", "theorem_equals_nim", "theorem_first_difference")


def scanned_values(entry: GameEntry, texts: dict[str, str]) -> tuple[str, list[Fraction]] | None:
    """The rational parameter that has several values, with these; None where each has one."""
    found = None
    for parameter in entry.parameters:
        if isinstance(parameter.type, Rational) and parameter.name in texts:
            values = _rationals(f"--{parameter.name}", texts[parameter.name])
            if len(values) > 1 and found is not None:
                raise UsageError(f"--{parameter.name} must be one value where --{found[0]} is scanned, got {len(values)}")
            if len(values) > 1:
                found = parameter.name, values
    return found


def _rationals(name: str, text: str) -> list[Fraction]:
    """The positive rationals of 3 or 5/2, START:STOP or START:STOP:STEP, STOP excluded."""
    try:
        numbers = [parse_rational(part) for part in text.split(":")]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 3 or min(numbers) <= 0:
        raise UsageError(f"{name} must be a positive rational such as 5/2, or START:STOP[:STEP], got {text!r}")
    if len(numbers) == 1:
        return numbers
    start, stop, step = (*numbers, Fraction(1))[:3]
    count = -((start - stop) // step)
    if not 1 <= count <= _MAX_SCANNED:
        raise UsageError(f"{name} must have STOP beyond START, and at most {_MAX_SCANNED:,} values, got {text!r}")
    return [start + step * i for i in range(count)]


def scan(
    entry: GameEntry, solver: Callable[..., Solution], name: str, scanned: list[Fraction], values: dict[str, Any]
) -> list[dict[str, Any]]:
    """The facts on the game of each value, as `gpunim solve --json` prints them."""
    rows = []  # not the solutions, which may not fit into memory together
    with work_progress(len(scanned), "games", wants_progress(quiet=False)) as advance:
        for value in scanned:
            here = {**values, name: value}
            row = {name: str(value)} | solver(**here).summary()
            if entry.beside_nim is not None:
                known = entry.beside_nim(**here)
                row |= dict(zip(_OF_THEOREM, (known.statement, known.equals_nim, known.first_difference), strict=True))
            rows.append(row)
            advance(1)
    return rows


def print_scan(rows: list[dict[str, Any]]) -> None:
    """Print the facts of a scan as a table."""
    (name, *_), header = rows[0], ["size", "positions", "P-positions", "first difference from Nim"]
    columns: list[Iterable[object]] = [[row[key] for row in rows] for key in (name, "size", "positions", "p_positions")]
    columns.append(_points(rows, "first_difference"))
    if "grundy_first_difference" in rows[0]:
        header += ["largest Grundy value", "first that is no nim-sum"]
        columns += [[row["largest_grundy"] for row in rows], _points(rows, "grundy_first_difference")]
    if "theorem" in rows[0]:
        header += ["proved", "theorem"]
        columns += [_points(rows, "theorem_first_difference"), [row["theorem"] for row in rows]]
    print_table(list(zip(*columns, strict=True)), [name, *header])


def scan_columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The facts of a scan as the columns of a file; positions as in (1,2,3), None where there is none."""
    return {name: [point(row[name]) if isinstance(row[name], tuple) else row[name] for row in rows] for name in rows[0]}


def _points(rows: list[dict[str, Any]], key: str) -> list[str]:
    return [point(row[key]) or "none" for row in rows]
