"""`python -m gpu_nim` is `gpunim`."""

from gpu_nim.cli import main

main(prog_name="gpunim")
