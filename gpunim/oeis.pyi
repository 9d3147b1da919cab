from gpu_nim.oeis import *
