from gpu_nim.guessing import *
