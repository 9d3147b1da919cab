"""Which options of a look each kind of picture takes: the one place that says so.

An option that would change nothing is refused, not passed over.
"""

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from gpu_nim.model.errors import UsageError

if TYPE_CHECKING:
    from gpu_nim.render.still import Look

_ALL = frozenset(("size", "view", "theme", "color", "style", "quality", "engine", "cut", "generations", "transparent", "title"))
_STYLES = {"slices": _ALL - {"view", "cut", "quality"}}  # all others take all
_MESH = frozenset(("theme", "color", "generations", "cut"))
_DRAWING = frozenset(("theme",))


@dataclass(frozen=True)
class Scene:
    """What is drawn, in words, and the options that it takes: names of `gpu_nim.render.still.Look`'s fields."""

    what: str
    takes: frozenset[str]


def still(style: str, *, flat: bool = False) -> Scene:
    """Return the scene of one picture in a style."""
    takes = _STYLES.get(style, _ALL)
    return Scene("a flat body", takes - {"cut"}) if flat else Scene(f"style {style}", takes)


def movie(kind: str, *, flat: bool = False) -> Scene:
    """Return the scene of a movie."""
    takes = _ALL - {"transparent"}
    return Scene(f"a {kind} of a flat body", takes - {"cut"}) if flat else Scene(f"a {kind} movie", takes)


def figure(name: str, suffix: str) -> Scene:
    """Return the scene of a figure in a file of that ending."""
    if name == "views":
        return Scene("figure:views", _DRAWING | {"size", "title", "quality", "engine"})
    return Scene(f"figure:{name} as {suffix}", _DRAWING if suffix in (".svg", ".pdf") else _DRAWING | {"size"})


def window() -> Scene:
    """Return the scene of a window to look around in."""
    return Scene("a window", _MESH | {"size", "view", "title"})


def exported(suffix: str, *, printable: bool = False) -> Scene:
    """Return the scene of an export in a file of that ending."""
    if suffix == ".html":
        return Scene("a page", _MESH | {"title", "view"})
    if printable or suffix == ".stl":
        return Scene("a printable body" if printable else "an .stl file", _MESH - {"theme", "color"})
    return Scene(f"a {suffix} file", _MESH)


def require_heard(scene: Scene, look: "Look", given: Collection[str] = ()) -> None:
    """Raise UsageError where the look asks for what the scene does not take.

    given: options that were given in so many words, though they may say what holds without them.

    >>> from gpu_nim.render.still import Look
    >>> require_heard(figure("NF1", ".svg"), Look(theme="paper", view="axis", title="Nim"))
    Traceback (most recent call last):
        ...
    gpu_nim.model.errors.UsageError: title, view would go unheard: figure:NF1 as .svg takes theme alone
    """
    asked = {field.name for field in fields(look) if getattr(look, field.name) != field.default} | set(given)
    if unheard := sorted(asked - scene.takes):
        *others, last = sorted(scene.takes)
        takes = f"{', '.join(others)} and {last}" if others else f"{last} alone"
        raise UsageError(f"{', '.join(unheard)} would go unheard: {scene.what} takes {takes}")
