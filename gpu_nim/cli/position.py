"""`gpunim position`: one position of any game explained."""

from pathlib import Path

import click

from gpu_nim.cli.command import SIZE, Command, File, json_option
from gpu_nim.cli.games import game_argument, parameter_options, taken
from gpu_nim.cli.output import emit_json, point, print_table, say
from gpu_nim.games.evolution import MAX_OPTIONS, Explanation, explain
from gpu_nim.model.arguments import counted
from gpu_nim.model.registry import wrong_ending
from gpu_nim.storage.atomic import check_writable

_SHOWN = 40  # moves that are printed; --json has all of them


def _arguments() -> list[click.Parameter]:
    return [
        game_argument(),
        click.Argument(["numbers"], nargs=-1, required=True, type=SIZE, metavar="COORDINATES..."),
        *parameter_options(),
    ]


_EXAMPLES = {
    "gpunim position chocolate 7 3 4 --a 3": "Explain a position of 3y <= x + z.",
    "gpunim position '2v <= u + w' 3 2 2": "Explain a position of a user-defined game.",
    "gpunim position kayles 4 4": "Explain two heaps of Kayles.",
    "gpunim position octal 9 10 --code 0.3F": "Explain two heaps of Kenyon's game, by its code.",
    "gpunim position chocolate 7 3 5 --a 3 -o bar.svg": "Draw it as a bar of chocolate, with the lines that win.",
    "gpunim position nim 3 4 5 --misere": "Explain a position where whoever makes the last move loses.",
}


@click.command(cls=Command, examples=_EXAMPLES, options=_arguments)
@click.option("--misere", is_flag=True, help="Whoever makes the last move loses.")
@click.option("-o", "--out", type=File(".svg"), help="Draw it as a bar of chocolate, too: .svg, .pdf or a picture such as .png.")
@json_option
def position(game: str, numbers: tuple[int, ...], misere: bool, out: Path | None, as_json: bool, **options: str | None) -> None:
    """Explain a position of GAME: who wins and how, its Grundy value, generation, parents and longest optimal play.

    GAME is a name, which `gpunim games` lists, or inequalities, whose coordinates are in alphabetical order. COORDINATES are the
    game's, as in `gpunim position chocolate 7 3 4 --a 3`, or the sizes of heaps, as in `gpunim position kayles 4 4`.
    """
    parameters = taken(options)
    if out is not None:
        from gpu_nim.render.drawing import SUFFIXES  # here, for its start-up time
        from gpu_nim.render.metadata import IMAGE_SUFFIXES

        if out.suffix.lower() not in (*SUFFIXES, *IMAGE_SUFFIXES):
            raise wrong_ending("--out must end in", out, (*SUFFIXES, *IMAGE_SUFFIXES))
        check_writable(out)
    explained = explain(game, numbers, misere=misere, **parameters)
    if out is not None:
        from gpu_nim.render.bars import draw_bar  # here, for its start-up time

        draw_bar(game, numbers, winning=[each.leaves for each in explained.winning], **parameters).save(out)
    if as_json:
        emit_json(explained.summary())
        return
    print_table(_rows(explained))
    _print_moves(explained)
    if out is not None:
        say(f"saved {out}")


def _rows(explained: Explanation) -> list[tuple[str, str]]:
    whose = "who moved last" if explained.is_p else "who moves next"
    parameters = ", ".join(f"{name} = {value}" for name, value in explained.parameters.items())
    game = " ".join(filter(None, [explained.game, f"({parameters})" * bool(parameters), "in misere play" * explained.misere]))
    check = f", gpunim verify {explained.statement}" if explained.statement else ""
    longest, below, parents = explained.longest_optimal_play, explained.positions_below, explained.parents
    rows = [
        ("game", game),
        ("position", point(explained.position)),
        ("outcome", f"{explained.outcome}: the player {whose} wins"),
        ("Grundy value", explained.grundy),
        ("generation", explained.generation),
        ("longest optimal play", None if longest is None else _moves(longest)),
        ("longest play", None if longest is None else _moves(explained.longest_play or 0)),
        ("step of the standard algorithm", explained.step),
        ("parents", None if parents is None else " ".join(map(point, parents)) or "none"),
        ("by", f"{explained.theorem}{check}" if explained.theorem else None),
        ("positions below it, all solved", None if below is None else f"{below:,}"),
    ]
    return [(name, str(value)) for name, value in rows if value is not None]


def _print_moves(explained: Explanation) -> None:
    click.echo()
    winning, of = explained.winning, f"{len(explained.moves):,}" if explained.every else f"more than {MAX_OPTIONS:,}"
    listed = winning or explained.moves
    if not listed:
        click.echo("There is no move." if explained.every else f"No move wins, of {of}.")
        return
    head = counted(len(listed), f"{'winning ' * bool(winning)}move")
    click.echo(f"{head}, of {of}:" if winning else f"{head}, none of which wins:")
    rows = [(option.move, point(option.leaves), option.outcome, option.grundy) for option in listed[:_SHOWN]]
    header = ("move", "leaves", "outcome", "Grundy value")
    without = all(option.grundy is None for option in listed)  # misere play has no Grundy values
    print_table([row[:3] for row in rows] if without else rows, header[:3] if without else header)
    if len(listed) > _SHOWN:
        click.echo(f"and {len(listed) - _SHOWN:,} more, which --json prints")


def _moves(count: int) -> str:
    return counted(count, "move")
