from gpu_nim.deciding.relations import Relation as Relation
from gpu_nim.deciding.relations import Term as Term
from gpu_nim.deciding.relations import is_power_of_two as is_power_of_two
from gpu_nim.deciding.relations import nim_sum_is_zero as nim_sum_is_zero
from gpu_nim.deciding.relations import numbers as numbers
