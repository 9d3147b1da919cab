"""Materials of path traced bodies: how much of the light their cells mirror, and how sharply."""

from dataclasses import dataclass

from gpu_nim.model.registry import Registry


@dataclass(frozen=True)
class Material:
    """A material.

    Args:
        name: its name.
        summary: how it looks, in a line.
        mirrors: the part of light that it mirrors straight back, 0 to 1; more at grazing angles (Schlick 1994).
        roughness: how far mirrored light is scattered, 0 to 1.
        metal: whether it mirrors in its own colour, and does nothing else, instead of under a clear coat.
    """

    name: str
    summary: str
    mirrors: float = 0.0
    roughness: float = 0.0
    metal: bool = False


#: The materials by name; the first is that where none is named.
MATERIALS = Registry[Material]("material")
MATERIALS.add(Material("matt", "dull, as paper and chalk"))
MATERIALS.add(Material("lacquer", "matt under a clear coat that shines", mirrors=0.05, roughness=0.15))
MATERIALS.add(Material("metal", "brushed metal in the colours of the cells", mirrors=1.0, roughness=0.3, metal=True))
