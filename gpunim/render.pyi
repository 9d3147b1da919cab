from gpu_nim.render import *
