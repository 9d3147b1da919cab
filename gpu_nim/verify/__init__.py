"""Theorems held against cases: what the papers state, one entry a statement, each with how far it was tried."""

from gpu_nim.verify.registry import Outcome, Statement, Verdict, chosen, run, statements

__all__ = ["Outcome", "Statement", "Verdict", "chosen", "run", "statements"]
