"""Theorems checked on cases.  `papers` has one file per source, with each statement, its check and its reach.  `exhaustive` and
`by_definition` count, grow and solve without formulas; `growth_check` checks a finished growth.
"""

from gpu_nim.theorems.catalogue import Statement, StatementResult, find_statements, run_checks, statements

__all__ = ["Statement", "StatementResult", "find_statements", "run_checks", "statements"]
