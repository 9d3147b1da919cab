"""The engines behind the mathematics: one small typed interface, run by NumPy or by CUDA."""
