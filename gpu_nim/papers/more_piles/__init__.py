"""Nim with more than three piles: by which rules its P-positions grow, how many there are, and which remainders occur."""
