"""The planted faults, by what they break."""

from tests.mutants import Mutant

_GROWTH = (
    # Not "stayed & moved & above": no cell has three of its parents in Nim, so that odd numbers and exactly one agree.
    Mutant("backends/numpy/nim.py", "(stayed ^ moved ^ above) &", "(stayed ^ above) &", "b-first", upto=4),
    Mutant("backends/numpy/nim.py", "moved = stayed << _ONE | before", "moved = stayed << _ONE", "b-first", upto=70),
    Mutant("backends/numpy/nim.py", "np.stack((n - u32, n - v32, u32 + v32)", "np.stack((n - u32, n - v32, u32)", "b-totals"),
    Mutant(
        "backends/numpy/nim.py",
        "births += len(bit)",
        "births += len(words)",
        "tests/test_growth.py::test_births_are_the_published_terms[numpy]",
    ),
    Mutant("backends/numpy/exactly_one.py", ".nonzero()[0])] = _SEALED", ".nonzero()[0])] = _FRESH", "gpunim-growths"),
    Mutant(
        "model/rule.py",
        "inside &= cells[:, axis] >= cells[:, axis + 1]",
        "inside &= cells[:, axis] > cells[:, axis + 1]",
        "b-second",
        upto=3,
    ),
    Mutant("backends/numpy/exactly_one.py", "return row + stride if rise == 1", "return row - stride if rise == 1", "b-late"),
    Mutant("backends/numpy/general.py", "total[born] = CLOSED", "total[born] = 0", "gpunim-growths"),
    Mutant(
        "backends/numpy/general.py",
        "won = self.keys[slots[claims]] == keys[claims]",
        "won = np.ones(len(claims), np.bool_)",
        "tests/test_general.py::test_known_births[hash]",
    ),
    Mutant(
        "model/rule.py",
        "signs = np.array(list(product((1, -1), repeat=dimension)))",
        "signs = np.array(list(product((1, 1), repeat=dimension)))",
        "gpunim-growths",
    ),
    Mutant(
        "automata/ancestry.py",
        "born_earlier += len(before)",
        "born_earlier += 1",
        "tests/test_measures.py::test_the_tree_of_every_exactly_one_growth[nim]",
    ),
)
_PROBLEMS = (
    Mutant(
        "papers/more_piles/digit_products.py",
        "mean - sum(weights.values()) * _row(piles, product)",
        "mean - 2 * sum(weights.values()) * _row(piles, product)",
        "largest-counts",
    ),
    Mutant(
        "papers/more_piles/digit_products.py",
        "product.weight(2 * j + b - i)",
        "product.weight(2 * i + b - j)",
        "largest-counts",
    ),
    Mutant(
        "papers/more_piles/digit_products.py",
        "return min(ratios), max(ratios)",
        "return min(ratios), min(ratios) - 1",
        "largest-counts",
    ),
    Mutant("papers/more_piles/residues.py", "int(n & lower == 0)", "int(n & lower > 0)", "counts-mod-2", upto=4),
    Mutant("papers/edge_growth.py", "sides.sum(axis=1) >> 1))", "sides.sum(axis=1) >> 2))", "edge-surface"),
    Mutant("games/laws.py", "a % 4 == 3", "a % 2 == 1", "chocolate-nim"),
    Mutant("games/laws.py", "if r >= middle else", "if r > middle else", "chocolate-first-difference", upto=16),
    Mutant("games/laws.py", "ceil(middle - Fraction(1, 2))", "ceil(middle)", "chocolate-first-difference", upto=16),
    Mutant(
        "automata/measures.py",
        "if stride > 0",
        "if stride == 1",
        "tests/test_edge_growth.py::test_the_births_one_generation_late",
    ),
)
_FORMULAS = (
    # The coordinate sum of a cell that is born in generation n is 2n.
    Mutant("automata/formulas.py", "& (cells.sum(axis=1, dtype=np.int64) == 2 * generations)", "", "gpunim-theorems"),
    Mutant("automata/formulas.py", "~((y < 0) & (y <= -np.abs(x)))", "(y >= 0)", "gpunim-theorems"),
    Mutant("automata/formulas.py", "born & (walked == generations)", "born & (walked <= generations)", "gpunim-theorems"),
    Mutant(
        "papers/growth_check.py",
        "(batch.births != growth.births[there]) | ",
        "(batch.births != growth.births[there]) & ",
        "tests/test_verify.py::test_cells_that_changed_generations[edge-generation 3 is not that of its rule]",
    ),
    Mutant(
        "papers/growth_check.py",
        "cells[~test(cells, np.full(len(cells), generation))]",
        "cells[~test(cells, cells.sum(axis=1) // 2)]",
        "tests/test_verify.py::test_cells_that_changed_generations[nim-(0, 6, 6) is not born at generation 3]",
    ),
    Mutant(
        "papers/growth_check.py",
        "for place in np.flatnonzero(given != true)",
        "for place in np.flatnonzero(given < 0)",
        "tests/test_verify.py::test_parents_are_held_against_the_rule[nim]",
    ),
)
_COUNTING = (
    Mutant("counting/digit_matrices.py", "for i in range(0, piles + 1, 2)", "for i in range(0, piles, 2)", "gpunim-counts"),
    Mutant("counting/digit_matrices.py", "first = max(0, (1 - shift) // 2)", "first = max(0, -shift // 2)", "gpunim-counts"),
    Mutant("counting/digit_matrices.py", "top = 2 * j + digit\n", "top = 2 * j + 1 - digit\n", "gpunim-counts"),
    Mutant(
        "counting/digit_matrices.py",
        "zip((*self.weights, 0), (0, *self.weights), strict=True)",
        "zip((*self.weights, 0), (*self.weights, 0), strict=True)",
        "gpunim-counts",
    ),
    Mutant(
        "counting/closed_forms.py",
        "return term(piles, b, n + 1 - (1 << b))",
        "return term(piles, b, n - (1 << b))",
        "gpunim-counts",
    ),
    Mutant(
        "counting/closed_forms.py", "return a(piles, n) - a(piles, n - 1)", "return a(piles, n + 1) - a(piles, n)", "gpunim-counts"
    ),
    Mutant(
        "counting/blocks.py",
        "half[c] += table[i] * _scalar(weight(2 * c + digit - i), limbs)",
        "half[c] += table[i] * _scalar(weight(2 * i + digit - c), limbs)",
        "gpunim-tables",
        upto=40,
    ),
    Mutant(
        "counting/blocks.py", "rows[:, -1] = _scalar(int(even), limbs)", "rows[:, -1] = _scalar(1, limbs)", "gpunim-tables", upto=40
    ),
    Mutant(
        "counting/blocks.py",
        "for j in range((product.degree - parity) // 2 + 1):",
        "for j in range(product.degree // 2):",
        "gpunim-tables",
        upto=40,
    ),
    Mutant("counting/residues.py", "value = (value + states[:, 1]) % modulus", "value = value % modulus", "gpunim-reductions"),
    Mutant("counting/residues.py", "return result % self._modulus", "return result", "gpunim-reductions"),
    Mutant("counting/family.py", "return front[0][0]", "return front[-1][0]", "gpunim-reductions", upto=40),
    Mutant(
        "counting/family.py",
        "totals[(row * state).bit_length()]",
        "totals[row.bit_length() + state.bit_length()]",
        "gpunim-reductions",
    ),
    Mutant(
        "counting/reductions.py",
        "if not found or value > found[-1][1]:",
        "if not found or value >= found[-1][1]:",
        "gpunim-reductions",
    ),
    Mutant("backends/shared/host_counting.py", "for c in used[1:]:", "for c in used[2:]:", "gpunim-tables", upto=40),
    Mutant(
        "backends/shared/host_counting.py",
        "for shift in (32, 16, 8, 4, 2, 1):",
        "for shift in (32, 16, 8, 4, 1):",
        "gpunim-reductions",
    ),
    Mutant("backends/shared/host_counting.py", "np.maximum(largest, tails.largest, out=largest)", "", "nf-lemma-8"),
    Mutant(
        "backends/shared/host_counting.py",
        "np.bitwise_xor.outer(self.nim_sums, others.nim_sums).ravel(),",
        "np.bitwise_or.outer(self.nim_sums, others.nim_sums).ravel(),",
        "nf-theorem-29",
    ),
    Mutant(
        "papers/nim_fractals/section_5_5_more_piles.py",
        "comb(piles, i) for i in range(2, piles + 1, 4)",
        "comb(piles, i) for i in range(2, piles, 4)",
        "nf-theorem-29",
    ),
    Mutant("papers/by_definition.py", "(1 << (free - 1)) if free else (still + 1) % 2", "1 << max(0, free - 1)", "gpunim-counts"),
)
_NIM = (
    Mutant("games/nim/positions.py", "if pile ^ total < pile", "if pile ^ total <= pile", "gpunim-positions", upto=3),
    Mutant(
        "games/nim/positions.py",
        "return sum(position) // 2 if is_p_position(position)",
        "return max(position) if is_p_position(position)",
        "gpunim-positions",
        upto=3,
    ),
    Mutant(
        "games/nim/positions.py",
        "return (number & -number).bit_length() - 1",
        "return (number & -number).bit_length()",
        "gpunim-relatives",
        upto=3,
    ),
    Mutant(
        "games/nim/positions.py",
        "reduce(operator.xor, _piles(piles), 0)",
        "reduce(operator.or_, _piles(piles), 0)",
        "f-nim-sum",
    ),
    Mutant("games/nim/positions.py", "if pile and ends[trailing_zeros(pile)] > 1]", "if pile]", "gpunim-positions", upto=7),
    Mutant(
        "games/nim/positions.py",
        "min(winning, key=lambda move: move.take)",
        "max(winning, key=lambda move: move.take)",
        "gpunim-positions",
        upto=7,
    ),
    Mutant("games/nim/arrays.py", "array - np.minimum(left, array)", "left", "gpunim-positions", upto=3),
    Mutant("games/nim/arrays.py", "if exclude_zero:", "if not exclude_zero:", "gpunim-relatives", upto=3),
    Mutant(
        "games/nim/arrays.py",
        "_equal_pairs(~array & (array + 1), exclude_zero=False)",
        "_equal_pairs(array & (~array + 1), exclude_zero=False)",
        "nf-theorem-25",
    ),
    Mutant(
        "games/nim/walk.py",
        "else (direction + _TURN[(pair - last) % 3]) % 4",
        "else (direction + _TURN[(last - pair) % 3]) % 4",
        "gpunim-walk",
    ),
    Mutant(
        "games/nim/walk.py",
        "np.where(pair < 0, ahead != _SOUTH, turn != 2)",
        "np.where(pair < 0, True, turn != 2)",
        "tests/test_nim_walk.py::test_cells_that_are_never_born_are_refused",
    ),
    Mutant(
        "games/nim/evolution_graph.py",
        "np.stack([first + parents, first + len(layer) + children], axis=1)",
        "np.stack([first + parents, first + len(layer) + parents], axis=1)",
        "nf-theorem-25",
    ),
)
_GAMES = (
    Mutant(
        "games/inequality.py",
        "if bound < lowered[inequality.target]:",
        "if bound < lowered[inequality.target] - 1:",
        "v-remark-3.1",
        upto=4,
    ),
    Mutant(
        "games/inequality.py",
        "inequality = Inequality(1, (share, Fraction(0), share))",
        "inequality = Inequality(1, (share, Fraction(0), Fraction(0)))",
        "v-theorem-3.1",
    ),
    Mutant(
        "backends/numpy/games.py",
        "wins = (there == 0) | (there >> flag.type(i) & flag.type(1)).astype(bool)",
        "wins = there == 0",
        "gpunim-solutions",
        upto=4,
    ),
    Mutant("backends/numpy/games.py", "            seen[i][:, here] = seen[i][:, there]\n", "", "gpunim-solutions", upto=4),
    Mutant(
        "backends/numpy/games.py",
        "x_lines[to, z] = x_lines[source, z]",
        "x_lines[to, z] |= x_lines[source, z] & False",
        "v-theorem-3.5",
        upto=15,
    ),
    Mutant("games/breaking.py", "pair_values(values, n - take, unequal)", "pair_values(values, n - take, True)", "gpunim-heaps"),
    Mutant(
        "games/heaps.py",
        "return int(differ[-1]) + 1 if len(differ) else 0",
        "return int(differ[-1]) if len(differ) else 0",
        "gpunim-heaps",
    ),
    Mutant("games/laws.py", "(x - 1) ^ y ^ (z - 1) == 0", "x ^ y ^ z == 0", "gpunim-laws"),
    Mutant("games/laws.py", "isqrt(5 * difference * difference)", "2 * difference", "wythoff", upto=4),
    Mutant(
        "games/game_graph.py",
        "np.where(self.is_p, (self.longest + 1) // 2, -1)",
        "np.where(self.is_p, (self.birthday + 1) // 4, -1)",
        "nf-lemma-24",
        upto=4,
    ),
    Mutant("games/game_graph.py", "if self.longest[n] == self.longest[p] - 1:", "if True:", "nf-parents", upto=5),
    Mutant(
        "games/game_graph.py",
        "np.asarray(np.minimum(gaps, sizes), dtype=np.int64)",
        "np.asarray(sizes, dtype=np.int64)",
        "tests/test_games_impartial.py::test_evolution_of_nim[3-8]",
    ),
    Mutant("games/breaking.py", "last = (total - unequal) // 2", "last = total // 2", "gpunim-heaps"),
    Mutant(
        "games/breaking.py",
        "if saltus & (saltus - 1):",
        "if saltus & saltus - 2:",
        "tests/test_games_impartial.py::test_what_the_values_do_not_prove_is_no_period",
    ),
    Mutant(
        "games/breaking.py",
        "options.leave_low_values(n) and (",
        "(",
        "tests/test_games_impartial.py::test_each_condition_of_arithmetic_periods_is_needed",
    ),
)
_FILES = (
    Mutant(
        "model/digest.py",
        "words ^= words >> np.uint64(31)",
        "words ^= words >> np.uint64(32)",
        "tests/test_growth.py::test_mix_is_its_definition",
    ),
    Mutant(
        "model/digest.py",
        "mixed *= weights[start",
        "mixed += weights[start",
        "tests/test_exactly_one.py::test_equals_the_general_engine_on_the_lattices_of_the_literature[rule0]",
    ),
    Mutant("oeis/b_files.py", "if true != value:", "if true > value:", "tests/test_catalogue_oeis.py::test_the_commands_know_it"),
    Mutant("oeis/b_files.py", "n != previous + 1", "n < previous + 1", "tests/test_sequences_oeis.py::test_damaged_files"),
    Mutant(
        "oeis/catalogue.py",
        "yield family.value(start - shift)",
        "yield family.value(start)",
        "tests/test_sequences_oeis.py::test_published_terms[A000027]",
    ),
    Mutant(
        "oeis/catalogue.py",
        "if start <= n and",
        "if start < n and",
        "tests/test_sequences_oeis.py::test_terms_from_anywhere_and_without_end[A151776]",
    ),
    Mutant(
        "storage/rle_files.py",
        "self._upper[1] - cells[:, 1]",
        "cells[:, 1] - self._lower[1]",
        "tests/test_voxels.py::test_rle[triangular]",
    ),
)
_GUESSES = (
    Mutant(
        "guessing/linear_algebra.py",
        "return solution if holds else None",
        "return solution",
        "tests/test_guess.py::test_columns_that_are_dependent_modulo_the_first_prime_alone",
    ),
    Mutant(
        "guessing/recurrences.py",
        "return law if law is not None and law.holds_for(terms) else None",
        "return law",
        "tests/test_guess.py::test_terms_beyond_those_that_fit_a_recurrence_are_compared",
    ),
    Mutant(
        "guessing/regular.py",
        "digit * size + kernel.shift",
        "digit + kernel.shift",
        "tests/test_guess.py::test_ulam_warburton_births",
    ),
    Mutant(
        "guessing/matches.py",
        "factor * y + constant == scale * x",
        "factor * y == scale * x",
        "tests/test_guess.py::test_known_sequences_are_found",
    ),
)
_DRAFTS = (
    Mutant(
        "oeis/draft.py",
        "[*lines, line][:3]",
        "[*lines, line][:2]",
        "tests/test_oeis_drafts.py::test_a_committed_file_is_what_is_generated[edge-births]",
    ),
    Mutant(
        "oeis/draft.py",
        "if abs(term) > 1), 1)",
        "if abs(term) > 0), 1)",
        "tests/test_oeis_drafts.py::test_a_committed_file_is_what_is_generated[edge-births]",
    ),
    Mutant(
        "oeis/correction.py",
        "if present else []",
        "if not present else []",
        "tests/test_oeis_drafts.py::test_a_committed_file_is_what_is_generated[A236305]",
    ),
    Mutant(
        "oeis/catalogue.py",
        "last, (0, 2), a=a",
        "last, (0, 1), a=a",
        "tests/test_oeis_drafts.py::test_the_program_of_a_draft_prints_its_terms[chocolate-2]",
    ),
)
_KERNELS = (
    Mutant(
        "cuda/nim.cu",
        "__funnelshift_l(h > 0 ? half[r][h - 1] : 0u, half[r][h], 1)",
        "__funnelshift_l(0u, half[r][h], 1)",
        "tests/test_growth.py::test_newborns_are_the_p_positions[host-forward-130]",
    ),
    Mutant(
        "cuda/enumeration.cu",
        "(piles.sum + t + (piles.nim ^ t)) >> 1",
        "(piles.sum + t + (piles.nim | t)) >> 1",
        "tests/test_cuda_counting.py::test_trying_proves_the_formulas[host-forward-0-A-4-30]",
    ),
    Mutant(
        "cuda/counting.cu",
        "sum.high += value.high + (sum.low < value.low);",
        "sum.high += value.high;",
        "tests/test_cuda_counting.py::test_counts_stay_on_the_device[host-forward-4-999999999999999991-2]",
    ),
)
MUTANTS = _GROWTH + _PROBLEMS + _FORMULAS + _COUNTING + _NIM + _GAMES + _FILES + _GUESSES + _DRAFTS + _KERNELS
