from gpu_nim.jobs import *
