"""Counting P-positions of Nim: exact values of any size, sums and extremes, ranges, reductions, enumeration."""
