"""Reading of arguments: integers of Python or of NumPy, lists, tuples and arrays."""

import operator
from collections.abc import Iterable
from typing import SupportsIndex, TypeAlias

from gpu_nim.model.errors import UsageError

Whole: TypeAlias = int | SupportsIndex
"""An integer of Python or of NumPy."""

_SHOWN = 80  # characters of an argument that a message quotes


def shown(value: object) -> str:
    """Any argument as a text that is short enough for a message.

    >>> shown("nim"), shown(10**5000), shown([0] * 1000)[:9]
    ("'nim'", 'an integer of 16610 bits', '[0, 0, 0,')
    """
    if isinstance(value, int) and value.bit_length() > 4 * _SHOWN:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a foreign object may raise anything; a long integer inside a list raises ValueError
        return f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN].rstrip()}..."


def whole(value: object) -> int:
    """The value as a Python integer; TypeError for anything else, including truth values."""
    if isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", None) == "b":
        raise TypeError("a truth value is no number")
    return operator.index(value)  # type: ignore[arg-type]


def integer(name: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """Return the argument as a Python integer; UsageError, which names it, if it is not one or not within `least` to `most`.

    >>> import numpy as np
    >>> integer("size", np.int64(5), 0), integer("size", 2**70, 0)
    (5, 1180591620717411303424)
    >>> integer("size", 2.5, 0)
    Traceback (most recent call last):
    gpu_nim.model.errors.UsageError: size must be an integer of at least 0, got 2.5
    """
    try:
        number = whole(value)
    except TypeError:
        number = None
    if number is None or (least is not None and number < least) or (most is not None and number > most):
        bounds = "" if least is None else f" of at least {least}" if most is None else f" from {least} to {most}"
        raise UsageError(f"{name} must be an integer{bounds}, got {shown(value)}")
    return number


def integers(name: str, values: object) -> tuple[int, ...]:
    """The argument, any collection of integers, as a tuple of Python integers.

    >>> import numpy as np
    >>> integers("births", np.array([1, 3], np.int8)), integers("take", [1, np.uint64(2)])
    ((1, 3), (1, 2))
    """
    return tuple(integer(name, value) for value in items(name, values, "integers"))


def vectors(name: str, values: object) -> tuple[tuple[int, ...], ...]:
    """The argument, any collection of collections of integers, as a tuple of tuples.

    >>> import numpy as np
    >>> vectors("offsets", np.eye(2, dtype=np.int8)), vectors("seeds", [[0, 0]])
    (((1, 0), (0, 1)), ((0, 0),))
    """
    return tuple(integers(name, value) for value in items(name, values, "tuples of integers"))


def items(name: str, values: object, what: str) -> list[object]:
    """The items of a collection; UsageError, naming the argument, for a text and for anything else that is no collection."""
    if isinstance(values, Iterable) and not isinstance(values, str | bytes | dict):
        try:
            return list(values)
        except (TypeError, OverflowError):  # an array of no dimension, a range without end
            pass
    raise UsageError(f"{name} must hold {what}, got {shown(values)}")
