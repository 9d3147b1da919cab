"""Theorems checked on cases.  `papers` holds a file a source; a statement, its source, its check and how far that goes stand
together there.  `exhaustive` and `by_definition` count, grow and solve without formulas; `growth_check` checks a finished growth.
"""

from gpu_nim.theorems.catalogue import Statement, StatementResult, find_statements, run_checks, statements

__all__ = ["Statement", "StatementResult", "find_statements", "run_checks", "statements"]
