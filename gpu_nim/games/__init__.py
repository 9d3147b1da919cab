"""Impartial games: evolution, heap games, games with inequalities, and what the papers prove about them."""
