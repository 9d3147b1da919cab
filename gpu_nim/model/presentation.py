"""Results that show themselves in notebooks.

Growths and solved games know nothing of pictures: `gpu_nim` names the module that draws them when it is imported, and the module is
imported when the first of them is shown.
"""

from importlib import import_module
from typing import Any, Protocol


class Presenter(Protocol):
    """What a module that shows results has; see `gpu_nim.render.notebook`."""

    def html(self, result: Any) -> str:
        """Return a table of a result and a small picture."""

    def plot(self, result: Any, **options: object) -> Any:
        """Return a picture of a result."""

    def to_pyvista(self, result: Any) -> Any:
        """Return a result as a grid."""


_module = ""


def present_by(module: str) -> None:
    """Let results be shown by the module of that name, a `Presenter`."""
    global _module
    _module = module


class Presentable:
    """A result that can be drawn, and that shows itself in a notebook."""

    def _repr_html_(self) -> str:
        return self._presenter().html(self)

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
        return self._presenter().plot(self, **options)

    def to_pyvista(self) -> Any:
        """Return the cells as a `pyvista.UnstructuredGrid`, with their generations and other values as cell data.

        See `gpu_nim.render.to_pyvista`.
        """
        return self._presenter().to_pyvista(self)

    def _presenter(self) -> Presenter:
        presenter: Any = import_module(_module)
        return presenter  # type: ignore[no-any-return]
