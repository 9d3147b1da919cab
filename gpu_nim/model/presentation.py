"""Results that show themselves in notebooks, and as datasets of xarray."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar


class Presentable:
    """A result that can be drawn, and that shows itself in a notebook.

    It knows nothing of pictures: `gpu_nim` names the module that draws, which is imported when the first result is shown. This is
    the `presenter`, which has functions of these names: `gpu_nim.render.notebook`.
    """

    presenter: ClassVar[str]

    def _repr_html_(self) -> str:
        html: str = import_module(self.presenter).html(self)
        return html

    def plot(self, **options: object) -> Any:
        """Return a picture, which a notebook shows.

        Args:
            options: arguments of `gpu_nim.render.Look`, such as size, theme and view; the size is (960, 600) by default.

        Raises:
            UsageError: an option is wrong or without effect, or the result cannot be drawn.

        >>> from gpu_nim import grow
        >>> grow("nim", 7).plot(resolution=(64, 48), engine="numpy")
        Picture(64x48, 64 cells, numpy)
        """
        return import_module(self.presenter).plot(self, **options)

    def to_pyvista(self) -> Any:
        """Return the cells as a `pyvista.UnstructuredGrid`, with their generations and other values as cell data.

        See `gpu_nim.render.to_pyvista`.
        """
        return import_module(self.presenter).to_pyvista(self)


def html_table(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as a table in HTML, each with a heading and what belongs to it.

    >>> html_table([("births", "<3>")])
    '<table><tr><th style="text-align:left">births</th><td style="text-align:left">&lt;3&gt;</td></tr></table>'
    """
    from html import escape  # which a notebook alone needs

    def row(values: Sequence[object]) -> str:
        tags = ("th", *["td"] * (len(values) - 1))
        cells = (f'<{tag} style="text-align:left">{escape(str(value))}</{tag}>' for tag, value in zip(tags, values, strict=True))
        return f"<tr>{''.join(cells)}</tr>"

    return f"<table>{''.join(map(row, rows))}</table>"


def axis_names(dimension: int) -> tuple[str, ...]:
    """Return the names of the coordinates of a cell: x, y and z, or x0, x1, ... where there are more than three.

    >>> axis_names(2), axis_names(4)
    (('x', 'y'), ('x0', 'x1', 'x2', 'x3'))
    """
    return tuple("xyz"[:dimension]) if dimension < 4 else tuple(f"x{axis}" for axis in range(dimension))


def dataset(
    variables: Mapping[str, tuple[Sequence[str], Any]],
    coordinates: Mapping[str, tuple[Sequence[str], Any]],
    attributes: Mapping[str, Any],
) -> Any:
    """Return an `xarray.Dataset`.

    Args:
        variables: (dimensions, array) by name.
        coordinates: likewise, of the labels.
        attributes: what the dataset says of itself.

    Raises:
        MissingDependency: xarray is not installed.
    """
    try:
        import xarray
    except ImportError as error:
        from gpu_nim.model.errors import missing  # here, since `gpu_nim` imports this module

        raise missing("a dataset needs xarray", "xarray") from error
    return xarray.Dataset(dict(variables), dict(coordinates), dict(attributes))
