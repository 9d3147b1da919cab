"""Limits of counting, which the command line reads without loading the rest."""

MAX_PILES = 1000
"""The most piles of a family."""

MAX_RECORDS = 1000
"""The most records that are listed by default."""
