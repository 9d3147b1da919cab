from gpu_nim.counting.families import FAMILIES as FAMILIES
from gpu_nim.counting.families import find_family as find_family
from gpu_nim.counting.family import Family as Family
from gpu_nim.counting.reductions import REDUCTIONS as REDUCTIONS
