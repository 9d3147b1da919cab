"""Reading of arguments: integers of Python or of NumPy, lists, tuples and arrays, and numbers that are written as texts.

A text is 1000000, 1_000_000, 1e6, 2^20, a sum of these as 10^18+12345, or a rational 5/2 or 2.5. Only 0 to 9 are digits: Python
also accepts others, such as ² and ٣.
"""

import operator
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields
from fractions import Fraction
from reprlib import Repr
from typing import Any, SupportsIndex, TypeAlias

from gpu_nim.model.errors import WRITTEN, UsageError

#: An integer of Python or of NumPy.
IntLike: TypeAlias = int | SupportsIndex

Exclusions: TypeAlias = Mapping[str, Collection[str]]
#: What goes with what; see `check_options`.
Requirements: TypeAlias = Mapping[str, tuple[Collection[str], str]]

_SHOWN = 80  # characters of an argument that a message quotes
_BRIEF = Repr()  # of which the first 80 characters are what `repr` would give, without reading all of a long list
_BRIEF.maxlist = _BRIEF.maxtuple = _BRIEF.maxdict = _BRIEF.maxset = _BRIEF.maxstring = _BRIEF.maxlong = _BRIEF.maxother = 256


def argument(name: str) -> str:
    """An argument as its caller writes it, for messages: by its name, or as the option of a command.

    >>> with arguments_written({"workers": "--workers"}):
    ...     argument("workers"), argument("device")
    ('--workers', 'device')
    """
    return WRITTEN.get().get(name, name)


@contextmanager
def arguments_written(names: Mapping[str, str]) -> Iterator[None]:
    """For the duration of the block, messages name these arguments as given here, by their names in Python."""
    token = WRITTEN.set({**WRITTEN.get(), **names})
    try:
        yield
    finally:
        WRITTEN.reset(token)


def given_fields(options: Any) -> dict[str, Any]:
    """Return those fields of a dataclass that are not their defaults; an array is never equal to a default."""
    values = {field.name: (getattr(options, field.name), field.default) for field in fields(options)}
    return {name: value for name, (value, usual) in values.items() if type(value) is not type(usual) or bool(value != usual)}


def given_options(values: Mapping[str, Any]) -> set[str]:
    """Return which options have a value: neither None nor False, while 0 is one.

    >>> given_options({"threads": 0, "quiet": False, "out": None})
    {'threads'}
    """
    return {name for name, value in values.items() if value is not None and value is not False}


def check_options(given: Collection[str], apart: Exclusions, needs: Requirements) -> None:
    """Raise UsageError for options that exclude each other, and for one without another that it needs.

    Args:
        given: the options that are given.
        apart: for some options, those that must not be given with them.
        needs: for some options, those of which one must be given with them, and what that is.

    >>> check_options(["reduce"], {"reduce": ["out"]}, {})
    >>> check_options(["resume"], {}, {"resume": (["out"], "the file to resume")})
    Traceback (most recent call last):
    gpu_nim.model.errors.UsageError: resume needs out, the file to resume
    """
    for name, others in apart.items():
        for other in others:
            if name in given and other in given:
                raise UsageError(f"{name} must be given without {argument(other)}")
    for name, (others, what) in needs.items():
        if name in given and not any(other in given for other in others):
            raise UsageError(f"{name} needs {' or '.join(map(argument, others))}, {what}")


def escaped(text: str) -> str:
    r"""Return a text that is safe to print: names in files and arguments could hold escape sequences.

    >>> print(escaped("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def counted(count: int, noun: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "cell"), counted(4096, "cell")
    ('1 cell', '4,096 cells')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def short_repr(value: object) -> str:
    """Any argument as a text that is short enough for a message.

    >>> short_repr("nim"), short_repr(10**5000), short_repr([0] * 1000)[:9]
    ("'nim'", 'an integer of 16610 bits', '[0, 0, 0,')
    """
    if isinstance(value, int) and value.bit_length() > 4 * _SHOWN:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = " ".join(_BRIEF.repr(value).split())
    except Exception:  # a foreign object may raise anything; a long integer inside a list raises ValueError
        return f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN].rstrip()}..."


def integer(name: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """Return the argument as a Python integer; UsageError, which names it, if it is not one or not within `least` to `most`.

    >>> import numpy as np
    >>> integer("size", np.int64(5), 0), integer("size", 2**70, 0)
    (5, 1180591620717411303424)
    >>> integer("size", 2.5, 0)
    Traceback (most recent call last):
    gpu_nim.model.errors.UsageError: size must be an integer of at least 0, got 2.5
    """
    number: int | None = None
    if not isinstance(value, bool) and getattr(getattr(value, "dtype", None), "kind", None) != "b":  # a truth value is no number
        with suppress(TypeError):
            number = operator.index(value)  # type: ignore[arg-type]
    if number is None or (least is not None and number < least) or (most is not None and number > most):
        bounds = "" if least is None else f" of at least {least}" if most is None else f" from {least} to {most}"
        raise UsageError(f"{name} must be an integer{bounds}, got {short_repr(value)}")
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
        with suppress(TypeError, OverflowError):  # an array of no dimension, a range without end
            return list(values)
    raise UsageError(f"{name} must hold {what}, got {short_repr(values)}")


#: The most decimal digits of an integer that is read or printed.
LONGEST_DIGITS = 1_000_000

_LONGEST_BITS = 3_321_925  # those of 10^999999

_DIGITS = r"([0-9]+(?:_[0-9]+)*)"
_TERM = re.compile(rf"\s*+([+-]?)\s*+(?:{_DIGITS}\^{_DIGITS}|{_DIGITS}[eE]([0-9]+)|{_DIGITS})(?![\w^])\s*")
_SPAN, _MOST_IN_SPAN = re.compile(r"\s*([0-9]+)\s*(?:-|\.\.)\s*([0-9]+)\s*"), 1 << 16
_DECIMAL = re.compile(r"\s*[+-]?[0-9]+\.[0-9]+\s*")
_UNITS = {"": 1, "b": 1} | {
    f"{letter}{mark}": base**power
    for power, letter in enumerate("kmgt", 1)
    for mark, base in (("b", 1000), ("ib", 1024), ("i", 1024), ("", 1024))
}
_SIZE = re.compile(rf"\s*+(.*?[0-9])\s*+({'|'.join(_UNITS)})\s*", re.IGNORECASE)
_SMALLEST, _SIZES = 1000, 1 << 60  # bytes: a limit between a forgotten unit and any memory, and an upper limit
_LONGEST = "10^999999, the largest integer that is read"
_WAYS = "1000000, 1_000_000, 1e6, 2^20 or 10^18+12345"


def parse_integer(text: str) -> int:
    """Return the integer that `text` names; ValueError, with the reason, where it names none.

    >>> [parse_integer(t) for t in ("1_000", "1e6", "2^20", "10^3+5", "2^4-1", "-1")]
    [1000, 1000000, 1048576, 1005, 15, -1]
    """
    total, at = 0, 0
    while at < len(text):
        match = _TERM.match(text, at)
        if match is None or (at and not match[1]):
            break
        sign, base, exponent, mantissa, power, plain = match.groups()
        if base is not None:
            value = _power(int(base), int(exponent))
        elif mantissa is not None:
            value = int(mantissa) * _power(10, int(power))
        else:
            value = int(plain)
        total += -value if sign == "-" else value
        at = match.end()
    if not text or at < len(text):
        hint = "; separate numbers by blanks, not commas" if "," in text else ""
        raise ValueError(f"expected an integer such as {_WAYS}, got {text!r}{hint}")
    if total.bit_length() > _LONGEST_BITS:
        raise ValueError(f"{text.strip()} is beyond {_LONGEST}")
    return total


def parse_integers(text: str) -> tuple[int, ...]:
    """Return the integers that `text` lists, also in brackets; ValueError, with the reason, where it lists none.

    >>> parse_integers("1-3,7"), parse_integers("2^4-1"), parse_integers("{1, 2, 5..7}")
    ((1, 2, 3, 7), (15,), (1, 2, 5, 6, 7))
    """
    found: list[int] = []
    text = text.strip()
    if text[:1] + text[-1:] in ("{}", "[]", "()"):
        text = text[1:-1]
    for part in text.split(","):
        span = _SPAN.fullmatch(part)
        first, last = map(int, span.groups()) if span else [parse_integer(part)] * 2
        if not first <= last < first + _MOST_IN_SPAN:
            raise ValueError(f"expected the first of at most {_MOST_IN_SPAN:,} integers and then the last, got {part!r}")
        found += range(first, last + 1)
    return tuple(found)


def parse_size(text: str) -> int:
    """Return the bytes that `text` names, with a unit of 1000s or of 1024s or none; ValueError if it names none.

    A letter alone is a unit of 1024s, as for Slurm and Docker.

    >>> [parse_size(t) for t in ("8GiB", "8G", "1.5 GB", "500mb", "2^30", "4096")]
    [8589934592, 8589934592, 1500000000, 500000000, 1073741824, 4096]
    """
    match, size = _SIZE.fullmatch(text), 0
    if match is not None:
        with suppress(ValueError):
            size = int(parse_rational(match[1]) * _UNITS[match[2].lower()])
    if not _SMALLEST <= size < _SIZES:
        hint = ", without a unit" if 0 < size < _SMALLEST and match and not match[2] else ""
        raise ValueError(f"expected a size of memory such as 8GiB, 500MB or a number of bytes, got {text!r}{hint}")
    return size


def size_text(size: int, *, up: bool = False) -> str:
    """Return bytes as `parse_size` reads them, rounded down, or up.

    >>> size_text(8), size_text(2047), size_text(3 << 30), size_text((3 << 30) + 1, up=True)
    ('8 bytes', '1.9KiB', '3.0GiB', '3.1GiB')
    """
    size = int(size)  # also of NumPy
    power = min((size.bit_length() - 1) // 10, 4)
    if power <= 0:
        return f"{size} bytes"
    tenths = -(-10 * size >> 10 * power) if up else 10 * size >> 10 * power
    return f"{tenths // 10}.{tenths % 10}{'KMGT'[power - 1]}iB"


def parse_rational(text: str) -> Fraction:
    """Return the rational that `text` names, an integer as above, a quotient of two, or a decimal; ValueError where it names none.

    >>> [str(parse_rational(t)) for t in ("3", "5/2", "2.5", "1e3/3")]
    ['3', '5/2', '5/2', '1000/3']
    """
    if _DECIMAL.fullmatch(text):
        return Fraction(text)
    numerator, slash, denominator = text.partition("/")
    below = parse_integer(denominator) if slash else 1
    if below == 0:
        raise ValueError(f"{text!r} divides by 0")
    return Fraction(parse_integer(numerator), below)


def _power(base: int, exponent: int) -> int:
    if base > 1 and exponent * (base.bit_length() - 1) > _LONGEST_BITS:
        raise ValueError(f"{base}^{exponent} is beyond {_LONGEST}")
    return int(base**exponent)


def is_a_number(name: str) -> bool:
    """Return whether a name is that of an entry of the OEIS.

    Args:
        name: the name.

    >>> is_a_number("A237711"), is_a_number("edge-births")
    (True, False)
    """
    return re.fullmatch("A[0-9]{6,7}", name) is not None
