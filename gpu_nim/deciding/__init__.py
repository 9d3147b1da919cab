"""Relations between natural numbers, decided for all of them: statements in +, <=, the nim-sum, powers of two, "some" and "every".

[V] Remark 2.2 and that 2y <= x + z does not follow from it, for all positions:

>>> from gpu_nim.deciding import nim_sum_is_zero, numbers
>>> x, y, z = numbers("x y z")
>>> nim_sum_is_zero(x, y, z).implies(y <= x + z).holds
True
>>> nim_sum_is_zero(x, y, z).implies(2 * y <= x + z).counterexample()
{'x': 0, 'y': 1, 'z': 1}
"""

from gpu_nim.model import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
