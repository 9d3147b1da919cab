"""`gpunim solve`: P-positions and Grundy values of games, and how they compare with Nim."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import click

from gpu_nim.backends.selection import NAMES
from gpu_nim.cli.command import Command
from gpu_nim.cli.game_options import game_argument, parameter_options
from gpu_nim.cli.output import emit_json, point, print_table, reserve, wants_progress
from gpu_nim.cli.params import FILE, SIZE, Choice, json_option
from gpu_nim.cli.progress import step_progress, work_progress
from gpu_nim.games.catalogue import CATALOGUE, chosen, parameter_owners, read_values
from gpu_nim.games.entries import GameEntry, Rational
from gpu_nim.games.solution import Solution
from gpu_nim.games.solve import solve as solve_up_to
from gpu_nim.model.errors import UsageError
from gpu_nim.model.notation import parse_rational

_MAX_SCANNED = 100_000


@lru_cache(maxsize=1)
def _catalogue_options(games: tuple[GameEntry, ...]) -> list[click.Parameter]:
    usual = max((game.default_size for game in games), key=[game.default_size for game in games].count)
    sizes = [str(usual), *(f"{game.default_size} for {game.name}" for game in games if game.default_size != usual)]
    size = f"The largest value of the coordinates that have no bound of their own.  [default: {'; '.join(sizes)}]"
    always = ", ".join(game.name for game in games if game.always_grundy)
    return [
        game_argument(),
        click.Option(["--size"], type=SIZE, help=size),
        *parameter_options("; or START:STOP[:STEP] to scan"),
        click.Option(
            ["--until-difference"], is_flag=True, help="Solve up to 15, 31, 63, ... to --size, until the first difference from Nim."
        ),
        click.Option(["--grundy"], is_flag=True, help=f"Find Grundy values, too; {always} always have them."),
    ]


_EXAMPLES = {
    "gpunim solve chocolate --a 3 --size 255": "Find the P-positions of 3y <= x + z.",
    "gpunim solve chocolate --a 1:9 --size 31": "Compare a = 1 to 8 with Nim.",
    "gpunim solve chocolate --a 1:9 --size 127 --until-difference": "Find the first differences, each at the size that shows it.",
    "gpunim solve octal --code 0.07 --size 100": "Find the Grundy values of Dawson's Kayles.",
    "gpunim solve wythoff --size 63 --out wythoff.csv": "Write positions to a file.",
    "gpunim solve '2y <= x + z' --size 20": "Solve a game of your own.",
}


@click.command(cls=Command, examples=_EXAMPLES, options=lambda: _catalogue_options(tuple(CATALOGUE.values())))
@click.option("--backend", type=Choice(NAMES), default="auto", help="Where to solve; auto uses a GPU if there is one.")
@click.option("--out", type=FILE, help="Save the solution: .zarr or .npz, or .csv with one position a line.")
@json_option
def solve(
    game: str,
    size: int | None,
    until_difference: bool,
    grundy: bool,
    backend: str,
    out: Path | None,
    as_json: bool,
    **options: str | None,
) -> None:
    """Solve GAME up to a size: its P-positions or Grundy values, and whether and where they first differ from Nim's.

    `gpunim games` lists the games. A range for a rational solves one game for each value: `gpunim solve chocolate --a 1:8:1/2`.

    A game of your own is written as inequalities: `gpunim solve "2y <= x + z; w <= y/3 + 1" --size 20`, each with one coordinate at
    the left. Lowering a coordinate lowers the others where the inequalities force it. A name alone is a free pile.
    """
    from gpu_nim.storage.solutions import check_solution, save_solution

    given = {name: options[name] for name in parameter_owners() if options[name] is not None}
    entry, texts = chosen(game, given, "--")
    size = entry.default_size if size is None else size
    solver = partial(solve_up_to, entry.name, size, grundy=grundy, backend=backend, until_difference=until_difference)
    scanned = _scanned(entry, texts)
    if out is not None:
        if scanned:
            raise UsageError(f"--out must be given with one game, got {len(scanned[1])} to scan")
        check_solution(out)
        reserve(out)
    if scanned:
        values = read_values(entry, {name: text for name, text in texts.items() if name != scanned[0]}, "--")
        rows = _scan(solver, *scanned, values)
        if as_json:
            emit_json({"game": entry.name, "size": size, "solutions": rows})
        else:
            _print_scan(rows, grundy)
        return
    with step_progress(wants_progress(quiet=False)) as step:
        solution = solver(on_step=step, **read_values(entry, texts, "--"))
    if out is not None:
        save_solution(solution, out)
    if as_json:
        emit_json(solution.summary() | entry.report(solution))
    else:
        _print(solution, entry.rows(solution), out)


def _scanned(entry: GameEntry, texts: dict[str, str]) -> tuple[str, list[Fraction]] | None:
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


def _scan(solver: Callable[..., Solution], name: str, scanned: list[Fraction], values: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []  # not the solutions, which may not fit into memory together
    with work_progress(len(scanned), "games", wants_progress(quiet=False)) as advance:
        for value in scanned:
            rows.append({name: str(value)} | solver(**{**values, name: value}).summary())
            advance(1)
    return rows


def _print_scan(rows: list[dict[str, Any]], grundy: bool) -> None:
    (name, *_) = rows[0]
    header = [name, "size", "positions", "P-positions", "first difference from Nim"]
    table = [[row[key] for key in (name, "size", "positions", "p_positions")] for row in rows]
    for line, row in zip(table, rows, strict=True):
        line.append(point(row["first_difference"]) or "none")
    if grundy:
        header += ["largest Grundy value", "first that is no nim-sum"]
        for line, row in zip(table, rows, strict=True):
            line += [row["largest_grundy"], point(row["grundy_first_difference"]) or "none"]
    print_table(table, header)


def _print(solution: Solution, extra: list[tuple[str, str]], out: Path | None) -> None:
    limits = zip(solution.coordinates, solution.limits, strict=True)
    difference = point(solution.first_difference)
    labels = ("P exactly if the nim-sum is 0", "Grundy value = nim-sum")
    if len(solution.coordinates) == 1:  # a position is one heap, and its nim-sum is its size
        labels = ("only the empty heap is P", "Grundy value = size of the heap")
    rows: list[tuple[str, str]] = [
        ("game", solution.game),
        ("up to", ", ".join(f"{name} = {limit}" for name, limit in limits)),
        ("positions", f"{solution.positions:,}"),
        ("P-positions", f"{len(solution.p_positions):,}"),
        (labels[0], f"no, first at {difference}" if difference else "yes"),
    ]
    if solution.grundy is not None:
        first = point(solution.first_grundy_difference)
        rows.append(("largest Grundy value", str(solution.largest_grundy)))
        rows.append((labels[1], f"no, first at {first}" if first else "yes"))
    rows += [*extra, ("device", f"{solution.device} ({solution.backend})"), ("seconds", f"{solution.seconds:.3f}")]
    print_table(rows + ([("saved", str(out))] if out is not None else []))
