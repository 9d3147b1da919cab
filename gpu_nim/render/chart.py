"""A sequence as a figure for a paper: dots over the index, or, for d_3, the rows between powers of two laid over each
other.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_nim.model.errors import UsageError
from gpu_nim.model.files import call, made_by
from gpu_nim.model.registry import wrong_ending
from gpu_nim.render.drawing import style
from gpu_nim.render.metadata import savefig_metadata
from gpu_nim.storage.atomic import check_writable, replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".pdf", ".png", ".svg")
MAX_POINTS = 1 << 18
"""The most dots: more are indistinguishable, and a PDF of them does not open."""

_SETTINGS = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
_LARGEST_FLOAT_BITS = 1000


def draw(path: Path, title: str, first: int, values: Sequence[int], *, rows: bool = False) -> None:
    """Write a figure of values at first, first + 1, ... as PDF, PNG or SVG, by the path's ending.

    Both axes are logarithmic; zero values are left out. With `rows`, each range 2^b <= n < 2^(b+1) is a line over the
    place in its row, so that the rows of d_3 lie on A016945. Raises UsageError for another ending, too many points or
    values beyond the range of a plot, FileError where it cannot be written.
    """
    check(path, len(values))
    if max(values).bit_length() > _LARGEST_FLOAT_BITS:
        raise UsageError(f"plot needs values below 2^{_LARGEST_FLOAT_BITS}, {title} has longer ones")
    from matplotlib.figure import Figure

    made = made_by(call("chart.draw", str(path), title, first, ..., rows))
    with style(**_SETTINGS):
        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.add_subplot()
        if rows:
            _draw_rows(axes, first, values)
        else:
            axes.plot(range(first, first + len(values)), values, linestyle="none", marker=".", markersize=2, color="black")
            axes.set_xlabel("$n$")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", nonpositive="mask")
        axes.set_title(title)
        with replacing(path) as scratch:
            figure.savefig(scratch, dpi=300, metadata=savefig_metadata(path.suffix, made))


def check(path: Path, points: int) -> None:
    """Raise what `draw` would raise for this path and number of points, to be called before long work."""
    if path.suffix not in SUFFIXES:
        raise wrong_ending("plot must end in", path, SUFFIXES)
    if points > MAX_POINTS:
        raise UsageError(f"plot shows at most {MAX_POINTS} values, got {points}")
    check_writable(path)


def _draw_rows(axes: Axes, first: int, values: Sequence[int]) -> None:
    end = first + len(values)
    for b in range(end.bit_length()):
        start, stop = max(first, 1 << b), min(end, 2 << b)
        if start < stop:
            places = range(start - (1 << b) + 1, stop - (1 << b) + 1)
            axes.plot(
                places,
                values[start - first : stop - first],
                marker=".",
                markersize=3,
                linewidth=0.7,
                label=f"$2^{{{b}}}$",
            )
    axes.set_xlabel("place in the row of $n$, $n - 2^b + 1$")
    axes.legend(title="row from", fontsize=7, ncols=2, frameon=False)
