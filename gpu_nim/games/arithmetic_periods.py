r"""Arithmetic periods of games that leave up to three heaps: G(n + p) = G(n) + s for all n >= n0, proved from finitely many values.

Conditions of this kind are Austin's (Siegel, *Combinatorial Game Theory*, chapter IV) and Howse and Nowakowski's, Periodicity and
arithmetic-periodicity in hexadecimal games, Theoretical Computer Science 313 (2004); those here are simpler to check.

**Theorem.** Let s be a power of two, G = s H + F with 0 <= F < s, n0 >= 1, t the largest number that a move takes, K >= 1, and N
>= 3 (n0 + 2p - 1) + t with G(m + p) = G(m) + s for n0 <= m <= N - p. Call heaps from n0 + p on large. The height of an option is
the sum of the H of its heaps; but two small heaps beside a large one count with the nim-sum of their H. Suppose that

1. for N - p < n <= N, every option of n whose values F have the nim-sum F(n) has a height that is less than H(n), or has another
   parity;
2. for N - p < n <= N, every v with K s <= v < G(n) is the nim-sum of an option of n with a heap a >= n0, where the nim-sum of H
   over the other heaps is 0;
3. for N - 2p < n <= N, every v < (K + 1) s is the nim-sum of an option of n of three heaps a, b, c with b, c >= n0 and H(b) =
   H(c), and a >= n0 where v >= K s; or, for v < s, of two such heaps b, c.

Then G(m + p) = G(m) + s for all m >= n0.

*Proof.* Let n > N, and suppose it for all smaller sizes, with 1 to 3 for n - p and n - 2p. An option of n leaves more than 3 (n0 +
2p - 1) counters in at most three heaps, so its largest heap, say a, has at least n0 + 2p. *The value g = G(n - p) + s is no
option's:* with a - p for a, which is large, the option is one of n - p, and both the height and H(n), read off g, are less by 1.
So 1 holds for n. A nim-sum of numbers has the parity of their sum and is not larger; so an option of value g would have a height
that is at least H(n) and of its parity. *Every v < g is an option's:* let v >= (K + 1) s. By 2 the value v - s < G(n - p) is that
of an option of n - p; with a + p for a, it is one of n, of value v, since the nim-sum of H over all its heaps is H(a). Let v < (K
+ 1) s. By 3 some option of n - 2p has the value v; with b + p and c + p for b and c it is an option of n of the same value. So
G(n) = g, and the options just made are as 2 and 3 say for n: those of 3 with v >= K s >= s have three heaps and are as in 2. ∎
"""

from collections.abc import Sequence

import numpy as np

from gpu_nim.games.breaking import ONE, THREE, TWO
from gpu_nim.model.arrays import Ints

_MULTIPLES = (1, 2, 4)  # of a period, which may satisfy the conditions where it does not
_PERIODS_MORE = 8  # there are more options for larger N
_MOST = 1 << 26  # pairs of heaps and look-ups of a proof
_NONE = -(1 << 40)  # less than any sum


def is_proved(digits: Sequence[int], values: Ints, preperiod: int, period: int, saltus: int) -> bool:
    """Whether the values prove that G(n + period) = G(n) + saltus for all n >= preperiod.

    Args:
        digits: as for `gpu_nim.games.breaking.extended`.
        values: the Grundy values of the heaps of 0, 1, ... counters, with G(n + period) = G(n) + saltus from `preperiod` on.
        preperiod: n0.
        period: p.
        saltus: s, greater than 0; None is proved but for a power of two.

    >>> from gpu_nim.games.breaking import extended
    >>> digits = (0, 8)  # take one counter and leave three heaps
    >>> values = extended(digits, False, np.empty(0, dtype=np.int64), 80)
    >>> is_proved(digits, values, 1, 3, 1), is_proved(digits, values[:19], 1, 3, 1)
    (True, False)
    """
    if saltus & (saltus - 1):
        return False
    return any(_satisfies(digits, values, max(1, preperiod), k * period, k * saltus) for k in _MULTIPLES)


def _satisfies(digits: Sequence[int], values: Ints, start: int, period: int, saltus: int) -> bool:
    """Whether the theorem's conditions hold for an N of a few periods more than the least."""
    least = 3 * (start + 2 * period - 1) + len(digits) - 1
    levels = 1 + int(values[: start + period].max()) // saltus  # K, beyond what the irregular heaps have
    last = min(least + (levels + _PERIODS_MORE) * period, len(values) - 1)
    if last < least or last * last + 3 * period * last * saltus * len(digits) > _MOST:
        return False
    options = _Options(digits, values[: last + 1], start, period, saltus, levels)
    window = range(last - 2 * period + 1, last + 1)
    return all(
        options.leave_low_values(n) and (n <= last - period or (options.leave_all_less(n) and not options.may_leave_value(n)))
        for n in window
    )


class _Options:
    """What options leave, by pairs of heaps: tables with a row for each total of a pair.

    `most`     int64 (N + 1, s, 2): the largest height of the pairs with this nim-sum of F and this parity, as beside a large heap
    `level`    bool (N + 1, s): whether some pair with this nim-sum of F has the same H twice
    `late`     bool (N + 1, s): whether some pair of heaps >= n0 does
    """

    def __init__(self, digits: Sequence[int], values: Ints, start: int, period: int, saltus: int, levels: int) -> None:
        self._takes = {bit: [take for take, digit in enumerate(digits) if digit & bit] for bit in (ONE, TWO, THREE)}
        self._values, self._start, self._large = values, start, start + period
        self._saltus, self._levels = saltus, levels
        self._high, self._low = values // saltus, values % saltus
        self._most = np.full((len(values), saltus, 2), _NONE)
        self._level = np.zeros((len(values), saltus), dtype=np.bool_)
        self._late = self._level.copy()
        for total in range(2, len(values)):
            one = np.arange(1, total // 2 + 1)
            low, first, second = self._low[one] ^ self._low[total - one], self._high[one], self._high[total - one]
            height = np.where(total - one < self._large, first ^ second, first + second)
            np.maximum.at(self._most[total], (low, height % 2), height)
            level = first == second
            self._level[total, low[level]] = True
            self._late[total, low[level & (one >= start)]] = True

    def may_leave_value(self, n: int) -> bool:
        """Whether an option contradicts condition 1."""
        high, low = int(self._high[n]), int(self._low[n])
        for take in self._takes[ONE]:
            above = int(self._high[n - take]) - high
            if self._low[n - take] == low and above >= 0 and above % 2 == 0:
                return True
        if any(self._most[n - take, low, high % 2] >= high for take in self._takes[TWO]):
            return True
        for take in self._takes[THREE]:
            one = np.arange(self._large, n - take - 1)
            rest = self._most[n - take - one, low ^ self._low[one], (high - self._high[one]) % 2]
            if np.any(rest + self._high[one] >= high):
                return True
        return False

    def leave_all_less(self, n: int) -> bool:
        """Condition 2."""
        reached = np.zeros(2 * int(self._values.max()) + 2 * self._saltus, dtype=np.bool_)
        for take in self._takes[ONE]:
            reached[self._values[n - take]] |= n - take >= self._start
        for take in self._takes[TWO]:
            one = np.arange(self._start, n - take)
            one = one[self._high[n - take - one] == 0]
            reached[self._values[one] ^ self._values[n - take - one]] = True
        for take in self._takes[THREE]:
            one = np.arange(self._start, n - take - 1)
            which, low = np.nonzero(self._level[n - take - one])
            reached[self._values[one[which]] ^ low] = True
        return bool(reached[self._levels * self._saltus : self._values[n]].all())

    def leave_low_values(self, n: int) -> bool:
        """Condition 3."""
        reached = np.zeros((self._levels + 1, self._saltus), dtype=np.bool_)
        for take in self._takes[TWO]:
            reached[0] |= self._late[n - take]
        for take in self._takes[THREE]:
            one = np.arange(1, n - take - 1)
            high = self._high[one]
            one = one[(high < self._levels) | ((high == self._levels) & (one >= self._start))]
            which, low = np.nonzero(self._late[n - take - one])
            reached[self._high[one[which]], self._low[one[which]] ^ low] = True
        return bool(reached.all())
