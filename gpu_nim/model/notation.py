"""Notation of numbers: 1000000, 1_000_000, 1e6, 2^20, sums of these as 10^18+12345, and rationals 5/2 or 2.5.

Only 0 to 9 are digits: Python also accepts others, such as ² and ٣.
"""

import re
from fractions import Fraction

LONGEST_DIGITS = 1_000_000
"""The most decimal digits of an integer that is read or printed."""

_LONGEST_BITS = 3_321_925  # those of 10^999999

_DIGITS = r"([0-9]+(?:_[0-9]+)*)"
_TERM = re.compile(rf"\s*([+-]?)\s*(?:{_DIGITS}\^{_DIGITS}|{_DIGITS}[eE]([0-9]+)|{_DIGITS})(?![\w^])\s*")
_DECIMAL = re.compile(r"\s*[+-]?[0-9]+\.[0-9]+\s*")
_UNITS = {"": 1, "b": 1} | {
    f"{letter}{mark}b": base**power for power, letter in enumerate("kmgt", 1) for mark, base in (("", 1000), ("i", 1024))
}
_SIZE = re.compile(rf"\s*(.*?[0-9])\s*({'|'.join(_UNITS)})\s*", re.IGNORECASE)
_SIZES = 1 << 60  # bytes: an upper limit, larger than any memory
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
        raise ValueError(f"expected an integer such as {_WAYS}, got {text!r}")
    if total.bit_length() > _LONGEST_BITS:
        raise ValueError(f"{text.strip()} is beyond {_LONGEST}")
    return total


def parse_size(text: str) -> int:
    """Return the bytes that `text` names, with a unit of 1000s or of 1024s or none; ValueError if it names none.

    >>> [parse_size(t) for t in ("8GiB", "1.5 GB", "500mb", "2^30", "4096")]
    [8589934592, 1500000000, 500000000, 1073741824, 4096]
    """
    match = _SIZE.fullmatch(text)
    try:
        amount = parse_rational(match[1]) if match else Fraction(0)
    except ValueError:
        amount = Fraction(0)
    size = 0 if match is None else int(amount * _UNITS[match[2].lower()])
    if not 0 < size < _SIZES:
        raise ValueError(f"expected a size of memory such as 8GiB, 500MB or a number of bytes, got {text!r}")
    return size


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
