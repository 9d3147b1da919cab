"""Theorems checked on cases.  `papers` has a module a source, with each statement, its check and its reach.  `exhaustive` and
`by_definition` count, grow and solve without formulas; `growth_check` checks a finished growth.

>>> from gpu_nim import theorems
>>> [checked.holds for checked in theorems.run_checks(theorems.find_statements(["nf-lemma-8"]), 16)]
[True]
"""

from gpu_nim.model.public_names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
