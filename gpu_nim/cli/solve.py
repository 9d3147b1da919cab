"""`gpunim solve`: P-positions and Grundy values of games, and how they compare with Nim."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpu_nim.backends.selection import NAMES
from gpu_nim.cli.output import emit_json, print_table, reserve, wants_progress
from gpu_nim.cli.params import AMOUNT, COUNTS, FILE, SIZE
from gpu_nim.cli.progress import step_progress, work_progress
from gpu_nim.games.catalogue import CATALOGUE, OPTIONS, check_options, solve_named
from gpu_nim.model.errors import UsageError
from gpu_nim.model.notation import parse_rational

if TYPE_CHECKING:
    from gpu_nim.games.solution import Solution

_MAX_SCANNED = 100_000


class Rationals(click.ParamType):  # type: ignore[type-arg]  # generic only in new releases of click
    """One positive rational, 3 or 5/2, or START:STOP or START:STOP:STEP, STOP excluded; converts to a list of fractions."""

    name = "rational"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[Fraction]:
        """Return the fractions; a usage error names what is wrong with them."""
        if isinstance(value, list):
            return value
        try:
            numbers = [parse_rational(part) for part in value.split(":")]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 3 or min(numbers) <= 0:
            self.fail(f"expected a positive rational such as 5/2, or START:STOP[:STEP], got {value!r}.", param, ctx)
        if len(numbers) == 1:
            return numbers
        start, stop, step = (*numbers, Fraction(1))[:3]
        count = -((start - stop) // step)
        if not 1 <= count <= _MAX_SCANNED:
            self.fail(f"expected STOP beyond START, and at most {_MAX_SCANNED:,} values, got {value!r}.", param, ctx)
        return [start + step * i for i in range(count)]


@click.command()
@click.argument("game", type=click.Choice(list(CATALOGUE)))
@click.option("--size", type=SIZE, default=63, help="The largest value of the coordinates that have no bound of their own.")
@click.option("--a", type=Rationals(), default="3", help="chocolate: a y <= x + z; 3, 5/2, or START:STOP[:STEP] to scan.")
@click.option("--k", type=Rationals(), default="2", help="bar: y <= floor(z / k) beside a pile x; as --a.")
@click.option("--where", help="inequalities: such as 'y <= x + z/2; w <= 3y + 1'.")
@click.option("--piles", type=AMOUNT, default=3, help="nim, nim-pass: the number of piles.")
@click.option("--code", default="0.77", help="octal: the code.")
@click.option("--take", type=COUNTS, default="1,2,3", help="subtraction: what may be taken, with commas.")
@click.option("--grundy", is_flag=True, help="Grundy values too; all games from nim-pass on give them anyway.")
@click.option("--backend", type=click.Choice(NAMES), default="auto", help="Where to solve; auto takes a GPU where there is one.")
@click.option("--out", type=FILE, help="Save the sets: .zarr or .npz, or .csv with a position a line.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def solve(ctx: click.Context, /, game: str, size: int, backend: str, out: Path | None, as_json: bool, **options: Any) -> None:
    """Solve GAME up to a size: its P-positions or Grundy values, and whether and where they first differ from Nim's.

    A range for --a or --k scans that many games, a line each: `gpunim solve chocolate --a 1:8:1/2 --size 63`.

    A game of your own is written as inequalities: `gpunim solve inequalities --where "2y <= x + z; w <= y/3 + 1" --size 20`. One
    coordinate is at the left; lowering a coordinate lowers the others as far as they force it. A name alone is a free pile.
    """
    from gpu_nim.storage.solutions import check_solution, save_solution

    source = ctx.get_parameter_source
    check_options(game, [name for name in OPTIONS if source(name) is click.core.ParameterSource.COMMANDLINE], "--")
    scanned: list[Fraction] = options[str(CATALOGUE[game].option)] if game in ("chocolate", "bar") else []
    if game == "inequalities" and options["where"] is None:
        raise UsageError("--where: expected inequalities such as 'y <= x + z/2', got none")
    if out is not None:
        if len(scanned) > 1:
            raise UsageError(f"--out: expected one game, got {len(scanned)} to scan")
        check_solution(out)
        reserve(out)
    if len(scanned) > 1:
        _scan(game, scanned, size, options["grundy"], backend, as_json)
        return
    if scanned:
        options[str(CATALOGUE[game].option)] = scanned[0]
    solution, extra = _solve(game, size, backend, options, wants_progress(quiet=False))
    if out is not None:
        save_solution(solution, out)
    if as_json:
        emit_json(solution.summary() | extra)
    else:
        _print(solution, extra, out)


def _solve(game: str, size: int, backend: str, options: dict[str, Any], shown: bool) -> "tuple[Solution, dict[str, Any]]":
    """The solution, and for heap games the period of their Grundy values."""
    option = CATALOGUE[game].option
    chosen = {} if option is None else {option: options[option]}
    with step_progress(shown) as step:
        solution, period = solve_named(game, size, grundy=options["grundy"], backend=backend, on_step=step, **chosen)
    if solution.coordinates != ("n",):
        return solution, {}
    return solution, {"period": period and period.length, "preperiod": period and period.preperiod}


def _scan(game: str, values: list[Fraction], size: int, grundy: bool, backend: str, as_json: bool) -> None:
    option = str(CATALOGUE[game].option)
    rows = []  # not the solutions, which would not fit into memory together
    with work_progress(len(values), "games", wants_progress(quiet=False)) as advance:
        for value in values:
            solution, _ = _solve(game, size, backend, {option: value, "grundy": grundy}, shown=False)
            rows.append({option: str(value)} | solution.summary())
            advance(1)
    if as_json:
        emit_json({"game": game, "size": size, "solutions": rows})
        return
    header = [option, "positions", "P-positions", "first difference from Nim"]
    table = [[row[option], row["positions"], row["p_positions"], _point(row["first_difference"]) or "none"] for row in rows]
    if grundy:
        header += ["largest Grundy value", "first that is no nim-sum"]
        for line, row in zip(table, rows, strict=True):
            line += [row["largest_grundy"], _point(row["grundy_first_difference"]) or "none"]
    print_table(table, header)


def _print(solution: "Solution", extra: dict[str, Any], out: Path | None) -> None:
    limits = zip(solution.coordinates, solution.limits, strict=True)
    difference = _point(solution.first_difference)
    labels = ("P just where the nim-sum is 0", "Grundy value = nim-sum")
    if len(solution.coordinates) == 1:  # a position is one heap, and its nim-sum is its size
        labels = ("P just the empty heap", "Grundy value = size of the heap")
    rows: list[tuple[str, str]] = [
        ("game", solution.game),
        ("up to", ", ".join(f"{name} = {limit}" for name, limit in limits)),
        ("positions", f"{solution.positions:,}"),
        ("P-positions", f"{len(solution.p_positions):,}"),
        (labels[0], f"no, first at {difference}" if difference else "yes"),
    ]
    if solution.grundy is not None:
        first = _point(solution.first_grundy_difference)
        rows.append(("largest Grundy value", str(solution.largest_grundy)))
        rows.append((labels[1], f"no, first at {first}" if first else "yes"))
    if extra:
        known = f"{extra['period']}, from {extra['preperiod']} on, for ever"
        rows.append(("period of the Grundy values", "none proved, try a larger size" if extra["period"] is None else known))
    rows += [("device", f"{solution.device} ({solution.backend})"), ("seconds", f"{solution.seconds:.3f}")]
    print_table(rows + ([("saved", str(out))] if out is not None else []))


def _point(position: tuple[int, ...] | None) -> str:
    return "" if position is None else f"({','.join(map(str, position))})"
