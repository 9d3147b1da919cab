from gpu_nim.games.nim import *
