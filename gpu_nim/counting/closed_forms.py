"""P-positions of Nim indexed by maximum, in closed form.

With b = floor(log2 n) and n = 2^b - 1 + c, 1 <= c <= 2^b [NF, section 3.2] (b is one less than the number of binary digits
of n, although the paper calls it that number), a P-position of k piles whose largest pile is at most n has an even number
2i of piles that are at least 2^b. Choose them, let each take any of c values and all but one of the others any of 2^b:

    g(b, c) = sum_(2i < k) C(k, 2i) 2^(b(k - 2i - 1)) c^(2i) = ((2^b + c)^k + (2^b - c)^k - [k even] 2 c^k) / 2^(b+1).

For odd k this is a_k(n) [NF, Theorem 15]. For even k all k piles may be at least 2^b, and taking 2^b from each leaves one of the
a_k(c - 1) positions with piles at most c - 1 [NF, Theorem 17]. Unrolled, with N = n + 1 and r_j the distance of N from the
nearest multiple of 2^(j+1), the powers of c cancel and one power per digit remains:

    a_k(n) = sum_(j >= 0) r_j^k / 2^(j+1),    r_j = N for all j with 2^j >= N.

(The terms of two neighbouring 1s of n have c = r of the lower one, and 2^b + c, 2^b - c are N mod 2^(b+1) and its complement. It
also follows from the characters of (Z/2)^m: the nim-sum is 0 where their mean is 1, and a character whose lowest digit is j sums
to r_j, up to its sign, over 0, ..., n.) Digits equal to the one below them have the same r.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from math import comb

from gpu_nim.counting.digit_matrices import IndexBlocks, Matrix
from gpu_nim.counting.long_integers import Long, long
from gpu_nim.model.work import OnStep, no_progress

_FEW_DIGITS = 512  # of n, up to which a power for each run of equal digits is quickest
_choose = cache(comb)
_BLOCK = 128  # digits whose powers are added up one by one as polynomials in what stands below


def a(piles: int, n: int, progress: OnStep = no_progress) -> int:
    """a_k(n), the number of P-positions of k piles in which no pile is larger than n [NF, Theorems 12, 13, 15 and 17].

    >>> [a(4, n) for n in range(8)]
    [1, 8, 21, 64, 89, 168, 301, 512]
    """
    if n <= 0:
        return int(n == 0)
    if piles % 2:
        b = n.bit_length() - 1
        return term(piles, b, n + 1 - (1 << b))
    return _by_runs(piles, n, progress=progress)[0]


def d(piles: int, n: int, progress: OnStep = no_progress) -> int:
    """d_k(n), the number of P-positions of k piles whose largest pile is n [NF, Theorems 11, 16 and 18, Corollary 14].

    >>> [d(5, n) for n in range(8)]
    [1, 15, 45, 195, 165, 555, 1125, 1995]
    """
    if piles % 2 or n < 1:
        return a(piles, n) - a(piles, n - 1)
    most, less = _by_runs(piles, n, n - 1, progress=progress)
    return most - less


def _by_runs(piles: int, *indices: int, progress: OnStep) -> list[int]:
    """a_k of each of these indices, k even: computations on common digits are done once."""
    numbers = [n + 1 for n in indices]
    width = max(numbers).bit_length()
    # In units of 2^-width; the digits from there on are all 0, and their r is the number itself.
    totals = [long(number, piles) ** piles for number in numbers]
    size = width if width <= _FEW_DIGITS else max(_BLOCK, 4 * width // piles)
    for first in range(0, width, size):
        progress("binary digit", first, width)
        length = min(size, width - first)
        known: tuple[int, list[Long]] | None = None
        for i, number in enumerate(numbers):
            digits, below = number >> first & ((1 << length) - 1), number & ((1 << first) - 1)
            if width <= _FEW_DIGITS:
                runs = _runs(digits, length)
                part = sum((long((high << first) + sign * below, piles) ** piles * weight for high, sign, weight in runs), long(0))
            else:
                if known is None or known[0] != digits:
                    known = digits, _summed_over_runs(piles, digits, length)
                part = _evaluate(known[1], first, long(below, piles))
            totals[i] += part << (width - first - length)
    return [int(total >> width) for total in totals]


def term(piles: int, b: int, c: int) -> int:
    """g(b, c) of the module's docstring, for an odd number of piles.

    >>> term(3, 2, 1)
    19
    """
    high = 1 << b
    return int((long(high + c, piles) ** piles + long(high - c, piles) ** piles) >> (b + 1))


def _runs(digits: int, length: int) -> Iterator[tuple[int, int, int]]:
    """Yield (A, s, weight) for each run of equal digits in a string of `length` of them, from the lowest up.

    If the string begins at digit q, and v is the number below it, r_j = A 2^q + s v for the digits of the run, and the weight is
    the sum of their 2^(length - 1 - i), i counted from the string's own lowest digit.

    >>> list(_runs(0b1100, 4))
    [(0, 1, 12), (4, -1, 3)]
    """
    at = 0
    while at < length:
        digit = digits >> at & 1
        rest = digits >> at
        changed = rest + 1 if digit else rest  # its lowest set bit ends the run
        end = min(length, at + (changed & -changed).bit_length() - 1) if changed else length
        low = digits & ((1 << at + 1) - 1)
        high, sign = ((1 << at + 1) - low, -1) if digit else (low, 1)
        yield high, sign, (1 << length - at) - (1 << length - end)
        at = end


def _summed_over_runs(piles: int, digits: int, length: int) -> list[Long]:
    """The sum of weight (A X + s v)^k over the runs of a string of digits, by the coefficients of X^(k-j) v^j, j = 0 to k.

    Halves of a long string are joined by a shift of v, so that only the few joins of long halves meet long integers.
    """
    if length <= _BLOCK:
        # The sign may be moved to A, since k is even.
        sums = power_sums([(sign * high, weight) for high, sign, weight in _runs(digits, length)], piles)
        return [comb(piles, j) * x for j, x in enumerate(reversed(sums))]
    half = length // 2
    low = long(digits & ((1 << half) - 1))
    joined = [x << half * (piles - j) for j, x in enumerate(_summed_over_runs(piles, digits >> half, length - half))]
    for i in range(piles):
        for j in range(piles - 1, i - 1, -1):
            joined[j] += low * joined[j + 1]
    lower = _summed_over_runs(piles, int(low), half)
    return [x + (y << length - half) for x, y in zip(joined, lower, strict=True)]


def power_sums(terms: Sequence[tuple[int, int]], top: int) -> list[Long]:
    """The sums of weight base^i over terms (base, weight), for i = 0 to `top`.

    >>> [int(x) for x in power_sums([(3, 1), (-2, 10)], 3)]
    [11, -17, 49, -53]
    """
    sums = [long(0)] * (top + 1)
    for base, weight in terms:
        power, step = long(weight), long(base)
        for i in range(top + 1):
            sums[i] += power
            power *= step
    return sums


def _evaluate(coefficients: list[Long], bits: int, v: Long) -> Long:
    """The sum of coefficients[j] X^(k-j) v^j for X = 2^bits, neighbours joined first, so that equal lengths are multiplied.

    >>> _evaluate([1, 2, 3], 4, 5)  # 256 + 2 16 5 + 3 25
    491
    """
    values, width, last = coefficients, 1, 1  # each value holds `width` coefficients, the last one `last`
    while len(values) > 1:
        sizes = [width] * (len(values) - 1) + [last]
        pairs = zip(values[0::2], values[1::2], sizes[1::2], strict=False)
        joined = [(left << bits * size) + v * right for left, right, size in pairs]
        if len(values) % 2:
            joined.append(values[-1])
        else:
            last += width
        values, width = joined, 2 * width
        if len(values) > 1:
            v = v * v
    return values[0]


def sum_of_a(piles: int, stop: int) -> int:
    """a_k(0) + ... + a_k(stop - 1), by power sums over each range between powers of two.

    >>> sum_of_a(3, 5)
    47
    """
    if stop <= 0:
        return 0
    even = piles % 2 == 0
    total = 1
    for b in range(stop.bit_length()):
        c = min(stop - (1 << b), 1 << b)
        if c <= 0:
            break
        # At even k the range also contributes a(0), ..., a(c-1): the sum so far if the range is complete.
        below = (total if c == 1 << b else sum_of_a(piles, c)) if even else 0
        total += _sum_of_terms(piles, b, c) + below
    return total


def _sum_of_terms(piles: int, b: int, count: int) -> int:
    """g(b, 1) + ... + g(b, count)."""
    high = 1 << b
    numerator = (
        power_sum(piles, high + count) - power_sum(piles, high)
        + power_sum(piles, high - 1) - power_sum(piles, high - count - 1)
    )  # fmt: skip
    if piles % 2 == 0:
        numerator -= 2 * power_sum(piles, count)
    return numerator >> (b + 1)


def power_sum(power: int, last: int) -> int:
    """1^power + ... + last^power for power >= 1; 0 for last < 1.

    x^p = sum_j S(p, j) x(x-1)...(x-j+1) with Stirling numbers S of the second kind, and falling factorials sum to falling
    factorials.

    >>> power_sum(3, 4)
    100
    """
    total, falling = 0, last + 1
    if last < 1:
        return 0
    for j, stirling in enumerate(_stirling(power)):
        total += stirling * falling // (j + 1)
        falling *= last - j
        if not falling:
            break
    return total


@cache
def _stirling(power: int) -> tuple[int, ...]:
    row = [1]
    for _ in range(power):
        row = [j * x + y for j, (x, y) in enumerate(zip([*row, 0], [0, *row], strict=True))]
    return tuple(row)


def closed_blocks(piles: int, *, differences: bool) -> IndexBlocks:
    """Return the blocks of a_k or, with `differences`, of d_k: a row has the coefficients of a polynomial in the low digits.

    Each 1 in binary digit b of n contributes g(b, c), with c - 1 the digits below it. For odd k
    only the leading 1 counts; for even k all do. So a row's last entry says whether the value at the low part is added, as it is in
    block 0, where it is 1 for no digit but 0, and at a digit 1 becomes the polynomial g(b, 1 + low).

    >>> closed_blocks(3, differences=True).rows(0, 3, 2, 1).tolist()  # d_3(4 h + low)
    [[0, 0, 1], [3, 6, 0], [3, 6, 0]]
    >>> closed_blocks(3, differences=True).columns(2, 1).tolist()
    [[1, 1, 1, 1], [0, 1, 2, 3], [1, 3, 3, 9]]
    """
    top = piles - 1 if piles % 2 else max(0, piles - 2)
    size = range((max(0, top - 1) if differences else top) + 1)

    def matrix(bit: int, digit: int) -> Matrix | None:
        if not digit:
            return None
        moved = [[_choose(power, i) << bit * (power - i) if i <= power else 0 for i in size] + [0] for power in size]
        term = [_choose(piles, ones) << bit * (piles - ones - 1) if ones % 2 == 0 else 0 for ones in range(top + 1)]
        # In powers of low = c - 1; g(b, c) - g(b, c - 1) lacks what has low alone.
        counted = [sum(_choose(j, i) * term[j] for j in range(i, top + 1)) - (term[i] if differences else 0) for i in size]
        return [*moved, [*counted, 1 - piles % 2]]

    zeros = [0] * (len(size) - 1)
    return IndexBlocks([0, *zeros, 1], [1, *zeros, 1], matrix)
