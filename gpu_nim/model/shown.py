"""What every public object has: a line and a table that show it, its truth, and what it is as an array."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, is_dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, overload

from gpu_nim.model.arguments import given_fields, short_repr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from pyvista import Plotter, UnstructuredGrid

    from gpu_nim.render.image import Picture

A = TypeVar("A", bound="Axes")

_ROWS = 60  # of a list, in a notebook
_LINE = 200  # characters of an object


class Shown:
    """A public object: a line shows it, and a notebook a table; it is no array of NumPy unless it says which.

    The line has its name and what it is, if it is an entry of a catalogue, or else its public attributes that are not their
    defaults, cut short. The table has the same, or its `summary`, in which a list of dicts has a row for each of the first.

    >>> Plan({"piles": 4}, {"values": [*range(99)]}, "")
    Plan(facts={'piles': 4}, costs={'values': [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 1..., words='')
    """

    def __repr__(self) -> str:
        line = " ".join(self._line().split())
        return line if len(line) <= _LINE else f"{line[: _LINE - 3]}..."

    def _line(self) -> str:
        """What `repr` cuts to 200 characters."""
        kind, name, about = type(self).__name__, getattr(self, "name", ""), getattr(self, "summary", None)
        if name and isinstance(about, str):
            return f"<{kind} {name}: {about}>"
        return f"{kind}({', '.join(f'{key}={value}' for key, value in self._facts().items())})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> "NDArray[Any]":
        raise TypeError(f"a {type(self).__name__} is no array: take one of its attributes")

    def _repr_html_(self) -> str:
        rows: list[Sequence[object]] = []
        about = getattr(self, "summary", None)
        facts: dict[str, Any] = (callable(about) and about()) or self._facts()
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

    def _facts(self) -> dict[str, str]:
        """The public attributes, each in a few words."""
        given = given_fields(self) if is_dataclass(self) else vars(self)
        return {name: short_repr(value) for name, value in given.items() if name[0] != "_"}


class Checked(Shown):
    """The result of a check, or of what has one as its `result`, which is true if it `holds`."""

    @property
    def holds(self) -> bool:
        """Whether no counterexample was found."""
        holds: bool = self.result.holds  # type: ignore[attr-defined]
        return holds

    def __bool__(self) -> bool:
        return self.holds


class Plottable(Shown):
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
                theme, with its light and a scalar bar, and takes these, resolution, view, cut, or style="volume" and opacity.

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

        `pyvista.wrap`, `Plotter.add_mesh` and `Plotter.add_volume` take this grid, and refuse the result itself.

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


@dataclass(frozen=True, repr=False)
class Plan(Shown):
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
