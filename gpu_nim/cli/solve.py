"""`gpunim solve`: P-positions and Grundy values of games, and how they compare with Nim."""

from pathlib import Path
from typing import Any

import click

from gpu_nim.backends.selection import NAMES
from gpu_nim.cli.command import SIZE, Choice, Command, File, json_option
from gpu_nim.cli.games import game_argument, parameter_options, taken
from gpu_nim.cli.output import digits, emit_json, point, print_table, step_progress
from gpu_nim.games.named_games import CATALOGUE, GameEntry, size_of
from gpu_nim.games.rulesets import Ruleset
from gpu_nim.games.solve import read_scan, scan
from gpu_nim.games.solve import solve as solve_up_to
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import one_of
from gpu_nim.storage.tables import endings

_TABLES = one_of(endings(columns=True))
_AUTOMATA = {".txt": "walnut", ".sage": "sage"}  # the forms in which --prove saves one


def _catalogue_options() -> list[click.Parameter]:
    games = CATALOGUE.values()
    usual = max((game.default_size for game in games), key=[game.default_size for game in games].count)
    sizes = [str(usual), *(f"{game.default_size} for {game.name}" for game in games if game.default_size != usual)]
    size = f"The largest value of the coordinates that have no bound of their own.  [default: {'; '.join(sizes)}]"
    return [
        game_argument(),
        click.Option(["--size"], type=SIZE, help=size),
        *parameter_options("; or START:STOP[:STEP] to scan"),
    ]


_EXAMPLES = {
    "gpunim solve chocolate --a 3 --size 255": "Find the P-positions of 3y <= x + z.",
    "gpunim solve chocolate --a 1:9 --size 31": "Compare a = 1 to 8 with Nim.",
    "gpunim solve chocolate --a 1:9 --size 127 --until-difference": "Find the first differences, each at the size that shows it.",
    "gpunim solve chocolate --a 1:9 --out chocolates.csv": "Write the table of a scan to a file.",
    "gpunim solve '7y <= x + z + 3' --prove --size 10^18": "Prove P-positions of every size, and count them.",
    "gpunim solve chocolate --a 1:16:2 --prove": "Prove those of several games.",
    "gpunim solve chocolate --a 3 --prove --misere": "Prove those where whoever makes the last move loses.",
    "gpunim solve octal --code 0.07 --size 100": "Find the Grundy values of Dawson's Kayles.",
    "gpunim solve wythoff --size 63 --out wythoff.csv": "Write positions to a file.",
    "gpunim solve '2y <= x + z' --size 20": "Solve a user-defined game.",
}


@click.command(cls=Command, examples=_EXAMPLES, options=_catalogue_options)
@click.option("--until-difference", is_flag=True, help="Solve up to 15, 31, 63, ... to --size, until the first difference.")
@click.option("--grundy", is_flag=True, help="Find Grundy values, too; games without inequalities always have them.")
@click.option("--prove", is_flag=True, help="Prove the P-positions of every size, or with --grundy the Grundy values.")
@click.option("--misere", is_flag=True, help="With --prove: whoever makes the last move loses.")
@click.option("--backend", type=Choice(NAMES), default="auto", help="Where to solve; auto uses a GPU if there is one.")
@click.option(
    "-o",
    "--out",
    type=File(".csv"),
    help=f"Save to .zarr or .npz, or to {_TABLES}, a position a row; the table of a scan to {_TABLES}; with --prove the automaton "
    "to .txt, for Walnut, or the matrices of the numbers of P-positions to .sage.",
)
@json_option
def solve(game: str, prove: bool, misere: bool, out: Path | None, as_json: bool, **options: Any) -> int | None:
    """Solve GAME up to a size: its P-positions or Grundy values, and whether and where they first differ from Nim's.

    `gpunim games` lists the games. A range for a rational solves one game for each value: `gpunim solve chocolate --a 1:8:1/2`.

    A user-defined game is written as inequalities: `gpunim solve "2y <= x + z; w <= y/3 + 1" --size 20`, each with one coordinate
    on the left. Lowering a coordinate lowers the others where the inequalities force it. A name alone is a free pile.

    --prove is for games of inequalities: it finds a finite automaton that reads the binary digits of a position and accepts the
    P-positions of a table, and decides by the moves of the game whether that is right at every size. --size is
    that up to which the P-positions are counted. The exit status is 1 where a game is not proved.
    """
    entry, values, scanned = read_scan(game, taken(options))
    if misere and not prove:
        raise UsageError("--misere needs --prove; position, play and evolution have it for any game")
    if prove:
        games = [entry.game({**values, scanned: value}) for value in values[scanned]] if scanned else [entry.game(values)]
        return _prove(games, options, out, as_json, misere=misere)
    options["size"] = size_of(game, options["size"], entry.default_size)
    if scanned:
        _scan(entry, scanned, values, options, out, as_json)
    else:
        _solve(entry.game(values), options, out, as_json)
    return None


def _prove(games: list[Ruleset], options: dict[str, Any], out: Path | None, as_json: bool, *, misere: bool) -> int:
    from gpu_nim.games.proofs import prove
    from gpu_nim.storage.atomic import atomic_write, check_writable

    size, grundy = options["size"], options["grundy"]
    if options["until_difference"]:
        raise UsageError("--prove has no --until-difference: it is for every size")
    if out is not None:
        if out.suffix not in _AUTOMATA or len(games) > 1:
            raise UsageError(f"--out with --prove must be a .txt or .sage file of one game, got {out}")
        check_writable(out)
    proofs = []
    for game in games:
        with step_progress() as step:
            proofs.append(prove(game, grundy=grundy, misere=misere, progress=step))
    if out is not None and all(proofs):
        text = proofs[0].export(_AUTOMATA[out.suffix])
        with atomic_write(out) as scratch:
            scratch.write_text(f"{text}\n", encoding="utf-8")
    counts = [proof.count(size) if proof and size is not None else None for proof in proofs]
    if as_json:
        rows = [{**proof.summary(), "size": size, "p_positions": count} for proof, count in zip(proofs, counts, strict=True)]
        emit_json(rows[0] if len(rows) == 1 else {"proofs": rows})
    found = "Grundy values" if grundy else "P-positions" + " in misere play" * misere
    for proof, count in () if as_json else zip(proofs, counts, strict=True):
        counted = [] if count is None else [(f"P-positions to {size:,}", digits(count))]
        print_table([("game", proof.game.describe()), (found, str(proof)), *counted])
    return 0 if all(proofs) else 1


def _scan(entry: GameEntry, scanned: str, values: dict[str, Any], options: dict[str, Any], out: Path | None, as_json: bool) -> None:
    from gpu_nim.storage.tables import check_table, save_table

    if out is not None:
        check_table(out, columns=True)
    with step_progress() as step:
        rows = scan(entry, scanned=scanned, values=values, progress=step, **options)
    if out is not None:
        columns = {name: [point(row[name]) if isinstance(row[name], tuple) else row[name] for row in rows] for name in rows[0]}
        save_table(columns, out)
    if as_json:
        emit_json({"game": entry.name, "size": options["size"], "solutions": rows})
    else:
        _print_scan(rows)


def _solve(game: Ruleset, options: dict[str, Any], out: Path | None, as_json: bool) -> None:
    from gpu_nim.storage.solutions import check_solution, save_solution

    if out is not None:
        check_solution(out)
    with step_progress() as step:
        solution = solve_up_to(game, progress=step, **options)
    if out is not None:
        save_solution(solution, out)
    if as_json:
        emit_json(solution.summary())
    else:
        saved = [] if out is None else [("saved", str(out))]
        print_table([*solution.rows(), ("seconds", f"{solution.seconds:.3f}"), *saved])


_SCANNED = {
    "size": "size",
    "positions": "positions",
    "p_positions": "P-positions",
    "first_difference": "first difference from Nim",
    "largest_grundy": "largest Grundy value",
    "grundy_first_difference": "first that is no nim-sum",
    "theorem_first_difference": "proved",
    "theorem": "theorem",
}


def _print_scan(rows: list[dict[str, Any]]) -> None:
    """Print the facts of a scan as a table, with the parameter as the first column."""
    parameter = next(iter(rows[0]))
    known = {key for key in rows[0] if key != "largest_grundy" or rows[0][key] is not None}
    header = {parameter: parameter} | {key: name for key, name in _SCANNED.items() if key in known}
    cells = [["none" if row[key] is None and key.endswith("difference") else row[key] for key in header] for row in rows]
    print_table(cells, [*header.values()])
