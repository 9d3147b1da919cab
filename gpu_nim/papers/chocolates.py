"""Questions that the papers leave open, as far as gpunim answers them (docs/open-problems has the details), and the theorems of
Nakamura and Miyadera on bars of chocolate and of Wythoff on his game.
"""

from fractions import Fraction

import numpy as np

from gpu_nim.counting.regular_sequences import powers_by_length
from gpu_nim.deciding.relations import nim_sum_is_zero, numbers
from gpu_nim.games.game_graph import Vector
from gpu_nim.games.inequality import bar, chocolate, nim
from gpu_nim.games.named_games import find as find_game
from gpu_nim.games.nim.positions import nim_sum
from gpu_nim.games.proofs import VALUE, Moves, number_of
from gpu_nim.games.solve import solve
from gpu_nim.games.theorems import chocolate_equals_nim, chocolate_first_difference, is_wythoff_pair
from gpu_nim.papers.claims import Claim, every, p_positions, piles
from gpu_nim.papers.entries import SOURCES, Cases, Entry, Reach, decided, few_piles, positions

CHOCOLATES = SOURCES["chocolates"]
_REMARK = "[V] Remark 4.1, which asks for other a"
_EXAMPLE = "[V] Example 3.1, which describes the game"
_LARGEST_A = 128
_XYZ = numbers("x y z")
_SIX = 6  # the largest size of the six-coordinate chocolate that takes a moment
_LARGEST_DENOMINATOR = 8


@Entry(CHOCOLATES, "v-remark-4.1", after=_REMARK, reach=positions(15, range(3, 32, 4), "a"))
def three_mod_four(a: int) -> Cases:
    """For a = 3 mod 4 the P-positions of a y <= x + z are its positions of nim-sum 0.

    Proof.  For a bit t, let X, Y, Z be x, y, z without bits 0 to t, and x1, y1, z1 < 2^t their bits below t; W = X + Z - aY. If X,
    Y, Z have nim-sum 0, then X + Z = Y + 2 (X & Z), and W = 2 (X & Z) - (a - 1) Y is a multiple of 2^(t+2), since a - 1 is even.
    So is (a - 3) 2^t, since a = 3 mod 4. The game is the same with x and z exchanged, so let moves in x stand for both.

    No move leads from nim-sum 0 to nim-sum 0. Lowering one number alone changes the nim-sum, so such a move lowers x to u and drags
    y down to y', the greatest with u. As x XOR u = y XOR y', both pairs differ in the same bits. Let t be the highest: x and y have
    it; u, y' and z have not. From ay <= x + z follows W >= (a - 1) 2^t + a y1 - x1 - z1 > (a - 3) 2^t, hence W >= (a + 1) 2^t. But
    from u + z < a (y' + 1) follows W < a 2^t.

    From any other nim-sum some move leads to nim-sum 0. Let t be its highest bit. If y has it, lower y. Else x alone has it, say;
    then W >= a y1 - 2^t - x1 - z1 > -3 * 2^t, hence W >= 0. Lower x to u = v XOR z, where v has the bits of y from t on, and its
    bits below t are chosen from the highest. Let D be u + z - av with the bits so far: W at first and, like W, a multiple of
    2^(j+2) before bit j. There a 1 takes (a - 1) 2^j off D, and a 0 adds 0 or 2^(j+1). Follow y as long as D >= 0. If that is all
    of y, then (u, y, z) is a position. Else y has 1 at some j where D < (a - 1) 2^j, hence D <= (a - 3) 2^j; choose 0, after which
    D <= (a - 1) 2^j. From there on choose 1 wherever D >= (a - 1) 2^i: so 0 <= D <= (a - 1) 2^i after each bit i. At the end
    D <= a - 1, so v = floor((u + z) / a), and v < y: the move drags y to v.
    """
    yield p_positions(chocolate(a), nim_sum_is_zero(*_XYZ))


@Entry(CHOCOLATES, "chocolate-shifted-nim", after=_REMARK, reach=positions(13, range(1, 30, 4), "a"))
def one_mod_four(a: int) -> Cases:
    """For a = 1 mod 4 the P-positions of a y <= x + z are (0, 0, 0) and (x + 1, y, z + 1) with x XOR y XOR z = 0.

    Proof.  With x = 0 or z = 0, but for (0, 0, 0), a position has a move to (0, 0, 0), and with x, z > 0 it has none. So let the
    positions be (x + 1, y, z + 1), with a y <= x + z + 2 and a = 4k + 1. Let w(v) be z AND NOT v. As (v XOR z) + z = v + 2 w(v),
    (v XOR z, v, z) is a position just if w(v) >= 2kv - 1, and lowering x to v XOR z drags y > v to v just if also w(v) < 2k(v + 1).

    No move leads from nim-sum 0 to nim-sum 0. Suppose that x is lowered and drags y to such a v. Let t be the highest digit in
    which they differ, K be y without the digits below t, and Z the digits of w(y) above t, which are those of w(v). As v + 1 <= K,
    Z <= w(v) < 2kK. As y has digit t, 2kK - 1 <= w(y) < Z + 2^t. But 2^(t+1) divides 2kK and Z.

    From any other nim-sum some move leads to nim-sum 0. Let t be its highest digit. If y has it, lower y. Else x alone has it, say;
    lower it to y XOR z, unless w(y) < 2ky - 1. Then let v < y be the largest with w(v) >= 2kv - 1, which 0 has, and K = v + 1. If
    w(v) < 2kK, lower x to v XOR z: this is less than x, since (v XOR z) + z + 2 < aK <= x + z + 2. Otherwise w(K) < 2kK - 1. Let v
    end in just t digits 1 and Z be the digits of w(v) above t, which are those of w(K). So Z < 2kK <= w(v) <= Z + 2^t, while
    2^(t+1) divides Z and, as 2^t divides K, 2kK.
    """
    x, y, z = _XYZ
    yield p_positions(chocolate(a), nim_sum_is_zero(x - 1, y, z - 1) | (x + y + z <= 0))


@Entry(CHOCOLATES, "chocolate-nim", after=_REMARK, reach=Reach(None, 1024, 1))
def only_three_mod_four(upto: int) -> Cases:
    """A y <= x + z has Nim's P-positions for no a > 0 but the integers that are 3 mod 4

    For each other a there is a position in which nim-sum 0 and "no option has nim-sum 0" differ; looked at option by option.
    """
    yield f"a < {_below(upto)} with denominators to {_LARGEST_DENOMINATOR}"
    for a in _rationals(_below(upto)):
        game, position = chocolate(a), chocolate_first_difference(a)
        yield f"whether a = {a} has Nim's P-positions", (chocolate_equals_nim(a), position is None), (a % 4 == 3,) * 2
        if position is not None:
            wins = any(nim_sum(option) == 0 for _, _, option in game.moves(position))
            yield f"whether {position} keeps the rule of Nim for a = {a}", (nim_sum(position) == 0) != wins, False


@Entry(CHOCOLATES, "chocolate-first-difference", after=_REMARK, reach=Reach(None, 512, 5))
def first_differences(upto: int) -> Cases:
    """Where a y <= x + z first differs from Nim: at the least y that has no digit of the integer nearest to (a-1)y/2"""
    yield f"a < {_below(upto)} with denominators to {_LARGEST_DENOMINATOR} and totals to {upto}"
    for a in _rationals(_below(upto)):
        expected = chocolate_first_difference(a)
        if expected is not None and sum(expected) <= upto:
            yield f"the first difference of a = {a}", solve(chocolate(a), sum(expected)).first_difference, expected


@Entry(CHOCOLATES, "chocolate-integers", after=_REMARK, reach=Reach(None, 512, 3))
def integers(upto: int) -> Cases:
    """Where a y <= x + z first differs from Nim for integers a, in closed form"""
    yield f"a to {_LARGEST_A}, solved where the total is at most {2 * upto}"
    for a in range(1, _LARGEST_A + 1):
        expected = None
        if a % 4 == 1:
            expected = ((a - 1) // 2, 1, (a + 1) // 2)
        elif a % 2 == 0:
            q = (a & -a) - 1
            expected = (a * q // 2 - (q + 1) // 2 + 1, q, a * q // 2 + (q + 1) // 2)
        yield f"the least y of a = {a}", chocolate_first_difference(Fraction(a)), expected
        if expected is not None and sum(expected) <= 2 * upto:
            yield f"the first difference of a = {a}", solve(chocolate(a), sum(expected)).first_difference, expected


@Entry(CHOCOLATES, "chocolate6-symmetry", after=_EXAMPLE, reach=Reach(_SIX, 12, 5))
def six_symmetries(size: int) -> Cases:
    """The P-positions of the six-coordinate chocolate stay the same if all indices are raised by 2, or reflected at 1"""
    vectors = _six_p_positions(size)
    yield f"{len(vectors):,} P-positions to size {size}"
    for order in ((2, 3, 4, 5, 0, 1), (0, 5, 4, 3, 2, 1)):
        images = {tuple(vector[i] for i in order) for vector in vectors}
        yield f"the images in the order {order} that are no P-positions", sorted(images - vectors)[:1], []


@Entry(CHOCOLATES, "chocolate6-heaps", after=_EXAMPLE, reach=Reach(4, 7, 1))
def six_with_opposite_zeros(size: int) -> Cases:
    """With x1 = x4 = 0 the six-coordinate chocolate is Nim with heaps of x2 + x3 and x5 + x6, and so for the other opposite
    pairs
    """
    yield f"Grundy values of positions to size {size}"
    grundy = solve("chocolate6", size, grundy=True).grundy
    assert grundy is not None
    for position in np.argwhere(grundy >= 0).tolist():
        for i in range(3):
            if position[i] == position[i + 3] == 0:
                heaps = position[i + 1] + position[i + 2], position[i - 2] + position[i - 1]
                yield f"the Grundy value of {tuple(position)}", int(grundy[tuple(position)]), nim_sum(heaps)


@Entry(CHOCOLATES, "chocolate6-zeros", after=_EXAMPLE, reach=Reach(_SIX, 12, 5))
def six_with_three_zeros(size: int) -> Cases:
    """The P-positions with three zeros or more are the origin and those with two of x2, x4, x6 equal to 1"""
    yield f"to size {size}"
    found = {vector for vector in _six_p_positions(size) if vector.count(0) >= 3}
    yield "the P-positions", found, {(0,) * 6, (0, 1, 0, 1, 0, 0), (0, 1, 0, 0, 0, 1), (0, 0, 0, 1, 0, 1)}


@Entry(CHOCOLATES, "chocolate6-growth", after=_EXAMPLE, reach=Reach(None, 112, 6), conjecture=True)
def six_growth(upto: int) -> Cases:
    """From size s = 3 on, the six-coordinate chocolate has between (s+1)^5/4 and 3(s+1)^5/10 P-positions"""
    yield f"sizes 3 to {_six_size(upto)}"
    size = _six_size(upto)
    largest = np.array(sorted(map(max, _six_p_positions(size))))
    for s in range(3, size + 1):
        share = Fraction(int(np.searchsorted(largest, s, side="right")), (s + 1) ** 5)
        yield f"whether {share} of (s+1)^5 is between 1/4 and 3/10 for s = {s}", Fraction(1, 4) < share < Fraction(3, 10), True


def _six_size(upto: int) -> int:
    """Size 6 takes a moment, and size 20, at 176, minutes."""
    return min(20, max(3, upto // 8 - 2))


def _six_p_positions(size: int) -> set[Vector]:
    return {tuple(vector) for vector in solve("chocolate6", size).p_positions.tolist()}


def _rationals(below: int) -> list[Fraction]:
    return sorted({Fraction(p, r) for r in range(1, _LARGEST_DENOMINATOR + 1) for p in range(1, r * below)})


def _below(upto: int) -> int:
    return 8 + upto // 32


@Entry(CHOCOLATES, "nim-gasket", reach=decided("every position"))
def gasket() -> Cases:
    """P-positions of three piles below 2^m give 3^m points (y, z - x): sums of (0, 0), (2^i, 2^i) or (2^i, -2^i) for each i < m

    Since z = x XOR y, z - x is the sum of 2^i or -2^i over the bits i of y.

    Where bit i of y is 0, x and z have the same bit; where it is 1, one of them has it. The choices of the bits are free, and a
    point is determined by y and the sign of each of its bits, and determines them: 3^m points. Those for m are those for m - 1
    moved by the three vectors of bit m - 1. So, scaled by 2^-m, they approach the figure that is the union of its images under
    three contractions with ratio 1/2, towards (0, 0), (1, 1) and (1, -1): Sierpinski's gasket.
    """
    x, y, z = _XYZ
    n, plus, minus = numbers("n plus minus")  # the bits of y with either sign
    signed = (plus + minus == y) & nim_sum_is_zero(plus, minus, y)
    at_point = z + minus == x + plus
    yield Claim("every z - x is a sum", nim_sum_is_zero(*_XYZ).implies((signed & at_point).some("plus", "minus")))
    yield Claim("every sum is a z - x", signed.implies((nim_sum_is_zero(*_XYZ) & at_point).some("x", "z")))
    points = number_of((signed & (y <= n)), "n")
    yield Claim("3^m points below 2^m", points(powers_by_length(2) - 1) - powers_by_length(3))


BARS = SOURCES["chocolate-bars"]
WYTHOFF = SOURCES["wythoff"]


@Entry(BARS, "even-bars", reach=positions(8, range(2, 17, 2)))
def even_bars(k: int) -> Cases:
    """For even k the Grundy value of y <= floor(z/k) with a separate pile x is the nim-sum."""
    moves = Moves(bar(k))
    wrong = moves.wrong_values(nim_sum_is_zero(*_XYZ, *numbers(VALUE)) & moves.positions)
    yield Claim(f"the Grundy values of k = {k}", ~wrong)


@Entry(WYTHOFF, "wythoff", reach=Reach(50, 500, 8))
def golden_ratio(upto: int) -> Cases:
    """The P-positions of Wythoff's game are floor(n phi) and floor(n phi) + n, each the least number not in an earlier pair"""
    yield f"piles up to {4 * upto}"
    size = 4 * upto
    lost = {tuple(position) for position in solve("wythoff", size).p_positions.tolist()}
    for low in range(size + 1):
        for high in range(low, size + 1):
            yield f"whether ({low}, {high}) is P", is_wythoff_pair((low, high)), (low, high) in lost
    used: set[int] = set()
    n = low = 0
    while low + n <= size:
        yield f"whether pair {n}, ({low}, {low + n}), is P", (low, low + n) in lost, True
        used |= {low, low + n}
        n += 1
        while low in used:
            low += 1


@Entry(WYTHOFF, "misere-wythoff", reach=Reach(20, 60, 5))
def misere_wythoff(upto: int) -> Cases:
    """The P-positions of Wythoff's game in misere play are those of normal play, but (0,1), (1,0), (2,2) for (0,0), (1,2), (2,1)

    Proof.  The two sets of three positions lie on the same lines: the rows and columns 0, 1 and 2, and the three diagonals in the
    middle. So from a position with a pile above 2 a move leads to one set exactly if a move leads to the other, and by induction
    both plays have the same P-positions among these.
    """
    size = max(upto, 2)
    yield f"piles up to {size}"
    literal = find_game("wythoff").game({}).evolve(size, misere=True)
    lost = {position for position, is_p in zip(literal.positions, literal.is_p.tolist(), strict=True) if is_p}
    normal = {tuple(position) for position in solve("wythoff", size).p_positions.tolist()}
    yield "the P-positions of both plays", lost ^ normal, {(0, 0), (1, 2), (2, 1), (0, 1), (1, 0), (2, 2)}


@Entry(CHOCOLATES, "misere-inequalities", after="Bouton, who says it of Nim", reach=positions(7, range(3, 16), "a"))
def misere_inequalities(a: int) -> Cases:
    """In misere play the positions of a y <= x + z, a > 2, and of a y <= z, a > 1, are exchanged where no number is above 1

    Proof.  There y is 0, and it is Nim with single counters, of which an odd number is lost in misere play, an even one in normal
    play. From another position a move leads there only by lowering x or z, the only one of them above 1, to 0 or to 1, which drags
    y to 0 or finds it there; so a move leads to an odd number exactly if one leads to an even number. By induction both plays have
    the same P-positions among the others. So it is with any inequalities that bound some numbers, by others that are free, by 0
    where no free number is above 1.
    """
    x, y, z = _XYZ
    single = (x <= 1) & (z <= 1)
    for game in (chocolate(a), bar(a)):
        moves = Moves(game)
        odd, even = (moves.to(single & each & (y == 0)) for each in (~(x == z), x == z))
        nim = (y == 0) & odd.iff((x == 1) & (z == 1))
        yield Claim(f"{game.describe()} without a number above 1", (moves.positions & single).implies(nim))
        yield Claim(f"{game.describe()} with a number above 1", (moves.positions & ~single).implies(odd.iff(even)))


@Entry(WYTHOFF, "misere-nim", reach=few_piles("every position"))
def misere_nim(k: int) -> Cases:
    """Bouton, 1901: in misere play the P-positions of Nim are those of nim-sum 0, but an odd number of single counters alone"""
    single, odd = every(pile <= 1 for pile in piles(k)), ~nim_sum_is_zero(*piles(k))
    yield p_positions(nim(k), (single & odd) | (~single & ~odd), misere=True)
