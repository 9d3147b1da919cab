"""A picture in a file: of a source, or a figure of the papers."""

from collections.abc import Collection
from pathlib import Path

from gpu_nim.model.work import OnStep, unreported
from gpu_nim.render.drawing import SUFFIXES as VECTOR_SUFFIXES
from gpu_nim.render.figures import FIGURES, draw_figure, figure_options, figure_picture
from gpu_nim.render.image import check_ending, render
from gpu_nim.render.look import Look, require_effect
from gpu_nim.render.source import Source, name_of
from gpu_nim.render.styles import style_options
from gpu_nim.storage.atomic import check_writable


def draw(
    source: Source, path: str | Path, look: Look | None = None, *, given: Collection[str] = (), on_step: OnStep = unreported
) -> dict[str, object]:
    """Draw a source or a figure into a file, and return a report of it as plain values.

    Args:
        source: as for `gpu_nim.render.render`, or figure:NAME with a name of `gpu_nim.render.figures.FIGURES`.
        path: the file, whose ending names the format, and whose name is reserved before the source is grown. A figure is drawn in
            vectors for .pdf and .svg.
        look: its appearance; a figure takes few options of it.
        given: as for `gpu_nim.render.look.require_effect`.
        on_step: as for `gpu_nim.render.render`.

    Raises:
        UsageError: as for `render` and `Picture.save`, before the source is grown where that can be told; there is no such figure.
        FileError: the file cannot be written.
        InsufficientMemoryError: as for `render`.
        MissingDependency: as for `render`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = draw("nim:7", f"{folder}/nim.png", Look(resolution=(64, 48), engine="numpy"))
    >>> [report[name] for name in ("source", "width", "height", "engine", "population", "drawn")]
    ['nim:7', 64, 48, 'numpy', 64, 64]
    """
    path, look = Path(path), look or Look()
    name, suffix = name_of(source), path.suffix.lower()
    figure = FIGURES.find(name.removeprefix("figure:")) if name.startswith("figure:") else None
    in_vectors = figure is not None and suffix in VECTOR_SUFFIXES
    if not in_vectors:
        check_ending(path, look.resolution, transparent=look.transparent)
    require_effect(*(figure_options(figure.name, suffix) if figure else style_options(look)), look, given)
    check_writable(path)
    if figure and in_vectors:
        drawing = draw_figure(figure.name, look.theme)
        drawing.save(path)
        size, note = (round(drawing.width), round(drawing.height)), ""
    else:
        picture = figure_picture(figure.name, look) if figure else render(source, look, on_step=on_step)
        picture.save(path)
        size, note = picture.image.size, picture.note
    report = {"source": name, "out": str(path), "width": size[0], "height": size[1], "note": note}
    return report if figure else {**report, "engine": picture.engine, "population": picture.population, "drawn": picture.drawn}
