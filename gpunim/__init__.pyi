from gpu_nim import *
from gpu_nim import __version__ as __version__
