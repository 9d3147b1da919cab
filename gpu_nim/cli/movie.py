"""`gpunim movie`: a rotating, growing or changing object."""

from pathlib import Path
from typing import Any

import click

from gpu_nim.cli.command import AMOUNT, SOURCE, Command, File, given_values, json_option, named_option, number
from gpu_nim.cli.output import emit_json, say, step_progress
from gpu_nim.cli.render import look_options
from gpu_nim.model.arguments import counted
from gpu_nim.model.registry import one_of
from gpu_nim.render.metadata import MOVIE_SUFFIXES
from gpu_nim.render.motions import MOTIONS, Movie
from gpu_nim.render.movie import make_movie

_SECONDS = number(0, 3600)  # an hour at 30 frames a second takes some days to draw


_EXAMPLES = {
    "gpunim movie nim:63 -o turn.mp4": "Turn an object once.",
    "gpunim movie edge:31 --motion growth -o growth.gif": "Show a growth, generation by generation.",
}


@click.command(cls=Command, examples=_EXAMPLES, listings=lambda: {"Motions": MOTIONS.summaries()})
@click.argument("source", type=SOURCE)
@click.option("-o", "--out", type=File(".mp4"), required=True, help=f"The file: {one_of(MOVIE_SUFFIXES)}.")
@named_option("--motion", MOTIONS, "{}; growth+turntable and sweep+turntable turn, too.", default=Movie.motion)
@click.option("--seconds", type=_SECONDS, default=Movie.frames / Movie.rate, help="The length of the movie.")
@click.option("--fps", type=AMOUNT, default=Movie.rate, help="Frames a second.")
@click.option("--workers", type=AMOUNT, help="The number of processes that draw.  [default: 2; 1 on one core or for engine trace]")
@look_options()
@json_option
@click.option("--quiet", is_flag=True, help="Print no progress.")
def movie(source: str, out: Path, seconds: float, fps: int, as_json: bool, quiet: bool, **options: Any) -> None:
    """Make a movie of SOURCE (see `gpunim render`)."""
    frames = max(1, round(seconds * fps))
    with step_progress(quiet) as step:
        report = make_movie(source, out, frames=frames, rate=fps, progress=step, **given_values(options))
    if as_json:
        emit_json(report)
        return
    say(f"{out}: {report['width']}x{report['height']}, {counted(frames, 'frame')} at {fps} a second")
