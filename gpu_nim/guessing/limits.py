"""Limits that the command line names, without importing what they limit."""

MAX_TERMS = 10_000_000
"""The most terms that laws are guessed from."""

COUNTED = 1000
"""Terms of a formula, where no other number is wanted."""

GROWN = 128
"""Generations of an automaton, where no other number is wanted, and the most terms of an entry without a formula."""
