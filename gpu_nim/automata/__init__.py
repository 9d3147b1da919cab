"""Cellular automata: lattices and rules, the catalogue, growth and its result."""
