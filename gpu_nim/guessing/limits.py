"""Limits that the command line names, without importing what they limit."""

MAX_TERMS = 10_000_000
"""The most terms that laws are guessed from."""
