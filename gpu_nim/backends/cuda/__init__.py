"""The CUDA backend: hand-written kernels, launched through one checked door.

Each capability module is written against a `Launcher` (`launcher.py`) and knows neither CuPy nor NumPy by name: it
allocates with `launcher.xp` and calls `launcher(kernel, grid, block, args)`. Production passes the CuPy launcher; the
tests pass one that runs the very same `.cu` files on the CPU.
"""
