from gpu_nim.automata import *
