"""Results as datasets of xarray."""

from collections.abc import Mapping, Sequence
from typing import Any


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
