from gpu_nim.model.rule import *
