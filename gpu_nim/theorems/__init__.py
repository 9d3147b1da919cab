"""Theorems held against cases: what the papers state, one entry a statement, each with how far it was tried."""

from gpu_nim.theorems.catalogue import Statement, Verdict, chosen, run, statements

__all__ = ["Statement", "Verdict", "chosen", "run", "statements"]
