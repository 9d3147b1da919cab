"""Results that show themselves in notebooks, or are datasets of xarray."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, overload

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pyvista import Plotter, UnstructuredGrid

    from gpu_nim.render.image import Picture

A = TypeVar("A", bound="Axes")

_ROWS = 60  # of a list, in a notebook


class NotebookRepr:
    """A result that a notebook shows as a table of its `summary`, in which a list of dicts has a row for each of the first."""

    def _repr_html_(self) -> str:
        rows: list[Sequence[object]] = []
        facts: dict[str, Any] = self.summary()  # type: ignore[attr-defined]  # of each result, with a docstring of its own
        for key, value in facts.items():
            if isinstance(value, dict):
                rows += value.items()
                continue
            name = key.replace("_", " ")
            if isinstance(value, list) and value and isinstance(value[0], dict):
                rows += [
                    (name, *value[0]),
                    *(("", *each.values()) for each in value[:_ROWS]),
                    *[("", "...")] * (len(value) > _ROWS),
                ]
            elif value is not None:
                rows.append((name, value))
        return html_table(rows)


class Plottable(NotebookRepr):
    """A result that can be drawn, and that a notebook shows as a table with a picture.

    It knows nothing of pictures: `gpu_nim` names the module that draws, which is imported when the first result is shown. This is
    the `presenter`, which has functions of these names: `gpu_nim.render.notebook`.
    """

    presenter: ClassVar[str]

    def _repr_html_(self) -> str:
        html: str = import_module(self.presenter).html(self)
        return html

    @overload
    def plot(self, *, ax: A, **options: object) -> A: ...
    @overload
    def plot(self, *, ax: None = None, engine: Literal["pyvista"], **options: object) -> "Plotter": ...
    @overload
    def plot(self, *, ax: None = None, engine: str = "auto", **options: object) -> "Picture": ...
    def plot(self, *, ax: Any = None, **options: object) -> Any:
        """Return a `gpu_nim.render.Picture`, which a notebook shows and `save` writes to a file; draw in `ax`, or in PyVista.

        Args:
            ax: axes of matplotlib that take the cells of a result in the plane, in its coordinates.
            options: arguments of `gpu_nim.render.Look`: resolution, (960, 600) by default, or a name such
                as "4k", view, theme, colour, cmap, style, quality, title, legend, axes, generations and others. Axes of
                matplotlib take theme, colour, cmap and generations. engine="pyvista" returns a `pyvista.Plotter` in the
                theme, with its light and a scalar bar, and takes these, cut, resolution and view.

        Returns:
            The picture, the axes or the plotter.

        Raises:
            UsageError: an option is unknown, wrong or without effect, or the result cannot be drawn.

        >>> from gpu_nim import grow
        >>> grow("nim", 7).plot(resolution=(64, 48), engine="numpy")
        Picture(64x48, 64 cells, numpy)
        """
        return import_module(self.presenter).plot(self, ax, options)

    def to_pyvista(self) -> "UnstructuredGrid":
        """Return a `pyvista.UnstructuredGrid` with a cube or a tile for each cell, their generations and other values as cell data.

        Raises:
            UsageError: the result cannot be drawn.
            MissingDependency: PyVista is not installed.
        """
        grid: UnstructuredGrid = import_module(self.presenter).to_pyvista(self)
        return grid


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
    from gpu_nim.model.errors import import_optional  # here, since `gpu_nim` imports this module

    xarray = import_optional("a dataset needs xarray", "xarray")
    return xarray.Dataset(dict(variables), dict(coordinates), dict(attributes))


@dataclass(frozen=True)
class Plan(NotebookRepr):
    """What long work is planned to take; as a text, in words.

    Attributes:
        facts: what the work is.
        costs: amounts by name, in bytes, seconds, values or tuples; None where an amount is not known before.
        words: the same as a sentence.
    """

    facts: dict[str, Any]
    costs: dict[str, Any]
    words: str

    def __str__(self) -> str:
        return self.words

    def summary(self) -> dict[str, Any]:
        """Return the plan as plain values, for JSON.

        >>> Plan({"sequence": "D"}, {"tuples": 64}, "64 tuples to check").summary()
        {'sequence': 'D', 'plan': {'tuples': 64}}
        """
        return {**self.facts, "plan": self.costs}
