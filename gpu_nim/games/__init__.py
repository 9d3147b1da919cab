"""Impartial games: evolution, heap games, games with inequalities, and their theorems."""
