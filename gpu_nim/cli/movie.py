"""`gpunim movie`: a turntable, a growth, a flight into the body, or a sweep over the chocolates."""

import os
from fractions import Fraction
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any

import click

from gpu_nim.cli.output import emit_json, say, wants_progress
from gpu_nim.cli.params import FILE
from gpu_nim.cli.pictures import ListingCommand, given, look_options, named_option, one_of
from gpu_nim.cli.progress import step_progress
from gpu_nim.model.errors import UsageError
from gpu_nim.model.notation import parse_rational
from gpu_nim.render.look import Look
from gpu_nim.render.motions import KINDS
from gpu_nim.render.movie import SUFFIXES, Movie, make_movie

_LONGEST = 3600  # seconds: at 30 frames a second, some days of drawing


@click.command(cls=ListingCommand, listings=lambda: {"Kinds": [(name, kind.about) for name, kind in KINDS.items()]})
@click.argument("source")
@click.option("-o", "--out", type=FILE, required=True, help=f"The file: {one_of(SUFFIXES)}.")
@named_option("--kind", lambda: KINDS, default=Movie.kind)
@click.option("--seconds", type=click.FloatRange(0, _LONGEST, min_open=True), default=8.0, help="The length of the movie.")
@click.option("--fps", type=click.IntRange(1, 120), default=30, help="Frames a second.")
@click.option("--sweep", "ends", default="1:8", help="FIRST:LAST values of a in a sweep.")
@click.option("--jobs", type=click.IntRange(1), help="The number of processes that draw.  [default: 2, or 1 on one core]")
@look_options()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", is_flag=True, help="Print no progress.")
def movie(
    source: str,
    out: Path,
    kind: str,
    seconds: float,
    fps: int,
    ends: str,
    jobs: int | None,
    as_json: bool,
    quiet: bool,
    **look: Any,
) -> None:
    """Make a movie of SOURCE (see `gpunim render`); the same command resumes a movie that was interrupted."""
    if given(["ends"]) and not KINDS.find(kind).takes_sweep:
        swept = one_of(name for name, known in KINDS.items() if known.takes_sweep)
        raise click.BadParameter(f"only --kind {swept} takes it, got {kind}.", param_hint="'--sweep'")
    if isnan(seconds):
        raise UsageError("seconds must be a number, got nan")
    wanted = Movie(source, kind, max(1, round(seconds * fps)), fps, _ends(ends), Look(**look))
    with step_progress(wants_progress(quiet)) as step:
        report = make_movie(wanted, out, jobs=jobs or min(2, os.cpu_count() or 1), on_frame=partial(step, "frame"))
    if as_json:
        emit_json(report)
        return
    width, height = wanted.look.size
    resumed = f", {report['resumed']:,} of them drawn before" if report["resumed"] else ""
    say(f"{out}: {width}x{height}, {wanted.frames:,} frames at {fps} a second{resumed}")


def _ends(text: str) -> tuple[Fraction, Fraction]:
    try:
        first, last = map(parse_rational, text.split(":"))
    except ValueError:
        raise click.BadParameter(f"expected FIRST:LAST such as 1:8, got {text!r}.", param_hint="'--sweep'") from None
    return first, last
