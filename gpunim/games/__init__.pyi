from gpu_nim.games import *
