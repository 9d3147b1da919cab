"""Limits that the command line names, without importing what they limit."""

#: The most terms that laws are guessed from.
MAX_TERMS = 10_000_000

#: Terms of a formula, where no other number is wanted.
COUNTED = 1000

#: Generations of an automaton, where no other number is wanted, and the most terms of an entry without a formula.
GROWN = 128
