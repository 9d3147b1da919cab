from gpu_nim.model.errors import *
