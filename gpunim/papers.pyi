from gpu_nim.papers import *
