"""Limits of counting, which the command line reads without loading the rest."""

#: The most piles of a family.
MAX_PILES = 1000

#: The most records that are listed by default.
MAX_RECORDS = 1000
