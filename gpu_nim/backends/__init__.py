"""Backends: one interface, its implementations on NumPy and CUDA, and the choice between them."""
