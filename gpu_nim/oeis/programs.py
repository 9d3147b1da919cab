"""Python programs for drafts of OEIS entries: self-contained, short and literal, another way to the terms than gpunim's.

Each prints its first terms as a list; `tests/test_oeis_drafts.py` runs it.
"""

from __future__ import annotations


def growth_program(neighbours: str, octant: bool, measure: str, cumulative: bool, terms: int) -> str:
    """Return the program of an automaton in Z^3 whose cells are born from exactly one living neighbour.

    Args:
        neighbours: the numbers of coordinates in which neighbours differ by one, as the body of a tuple.
        octant: whether cells have no negative coordinate.
        measure: counts the newborns of a generation, the list `new`.
        cumulative: whether the counts are added up.
        terms: how many terms it prints.
    """
    inside = " and min(c) >= 0" if octant else ""
    counts = f"{measure} for new in births({terms})"
    return f"""\
from collections import Counter
from itertools import {"accumulate, product" if cumulative else "product"}
def births(N):
    S = [s for s in product((-1, 0, 1), repeat=3) if sum(map(abs, s)) in {neighbours}]
    ON, new = set(), [(0, 0, 0)]
    for n in range(N):
        yield new
        ON.update(new)
        near = Counter(tuple(map(sum, zip(c, s))) for c in ON for s in S)
        new = [c for c, k in near.items() if k == 1 and c not in ON{inside}]
print({f"list(accumulate({counts}))" if cumulative else f"[{counts}]"})"""


def by_total_program(piles: int, cumulative: bool) -> str:
    """Return the program of D_k, or of its partial sums A_k, by the generating function.

    Args:
        piles: k.
        cumulative: whether the terms are added up.
    """
    function = "b" if cumulative else "a"
    terms = f"{function}(n) for n in range(32)"
    return f"""\
from functools import cache
{"from itertools import accumulate" + chr(10) if cumulative else ""}from math import comb
@cache
def {function}(n):
    return sum(comb({piles}, 2*i) * {function}((n-i)//2) for i in range(n%2, min(n, {piles // 2}) + 1, 2)) if n else 1
print({f"list(accumulate({terms}))" if cumulative else f"[{terms}]"})"""


def by_maximum_program(piles: int, cumulative: bool) -> str:
    """Return the program of a_k, or of its differences d_k: a tuple is a P-position with the frequency of its Walsh transform.

    Args:
        piles: k.
        cumulative: whether it is a_k.
    """
    function = "a" if cumulative else "b"
    last = "[a(n) for n in range(24)]" if cumulative else "[1] + [b(n) - b(n-1) for n in range(1, 24)]"
    return f"""\
def {function}(n): # tuples of {piles} numbers up to n with xor 0, by the Walsh transform
    N = 1 << n.bit_length()
    return sum(sum((-1)**(x & w).bit_count() for x in range(n+1))**{piles} for w in range(N)) // N
print({last})"""


BY_TOTAL_TABLE_PROGRAM = """\
from functools import cache
from math import comb
@cache
def T(k, n):
    return sum(comb(k, 2*i) * T(k, (n-i)//2) for i in range(n%2, min(n, k//2) + 1, 2)) if n else 1
print([T(k, s-k) for s in range(1, 9) for k in range(1, s+1)])"""

UP_TO_MAXIMUM_TABLE_PROGRAM = """\
def T(k, n): # tuples of k numbers up to n with xor 0, by the Walsh transform
    N = 1 << n.bit_length()
    return sum(sum((-1)**(x & w).bit_count() for x in range(n+1))**k for w in range(N)) // N
print([T(k, s-k) for s in range(1, 9) for k in range(1, s+1)])"""


def chocolate_program(a: int) -> str:
    """Return the program of a chocolate a y <= x + z, which tries every move.

    Args:
        a: the integer a.
    """
    return f"""\
from itertools import product
def P(m):
    Q = set()
    for x, z in product(range(m+1), repeat=2):
        for y in range((x+z)//{a} + 1):
            options = [(u, min(y, (u+z)//{a}), z) for u in range(x)] + [(x, v, z) for v in range(y)]
            options += [(x, min(y, (x+w)//{a}), w) for w in range(z)]
            if Q.isdisjoint(options): Q.add((x, y, z))
    return Q
Q = P(20)
print([sum(max(x, z) <= n for x, y, z in Q) for n in range(21)])"""


SIX_DIRECTIONS_PROGRAM = """\
from itertools import product
def drop(p): # to the greatest position below p
    q = tuple(min(p[i], p[i-1] + p[(i+1)%6] + i%2) for i in range(6))
    return p if p == q else drop(q)
def P(m):
    Q = set()
    for p in product(range(m+1), repeat=6):
        if drop(p) == p and Q.isdisjoint(drop(p[:i] + (v,) + p[i+1:]) for i in range(6) for v in range(p[i])): Q.add(p)
    return Q
Q = P(3)
print([sum(max(p) <= n for p in Q) for n in range(4)])"""
