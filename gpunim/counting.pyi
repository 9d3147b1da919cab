from gpu_nim.counting import *
