"""Backends: where the work is done.  One interface, NumPy and CUDA behind it, and the choice between them."""
