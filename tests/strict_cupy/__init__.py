"""CuPy's arrays on the CPU, as strict as CuPy's own: the array module of every launch that the tests emulate.

NumPy in place of CuPy would hide what CuPy refuses. Behind these arrays lies NumPy, but code that runs on them runs on CuPy:

* no array turns into a NumPy array by itself: `get` and `asnumpy` copy it, anything else is a TypeError;
* a NumPy array is neither an operand nor a value to assign: `asarray` and `set` copy it to the device;
* a reduction and an element are arrays without axes; a slice's bounds are host integers;
* what CuPy lacks, or cannot do without a library that the extras do not install, does not exist.

And where CuPy would let a mistake pass, these arrays do not: memory of `empty` holds garbage, iterating is an error (a transfer an
element), and so are places outside of an array (CuPy wraps them) and several values for one place (undefined in CuPy). While
launches are captured into a graph (`capturing`) there is nothing but launches.

`needs.NEEDS` lists every function that exists here with what it needs of CuPy. `recorded` says which ones were used:

>>> from tests import strict_cupy as xp
>>> with xp.recorded() as calls:
...     total = (xp.zeros(3, "u4") + 1).sum()
>>> sorted((name, need.name) for name, need in calls)
[('add', 'KERNEL'), ('ndarray.sum', 'KERNEL'), ('zeros', 'MEMORY')]
>>> total, total.get()
(array(3, dtype=uint64), array(3, dtype=uint64))
"""

from typing import Any

from tests.strict_cupy.array import FUNCTIONS, ndarray
from tests.strict_cupy.needs import NEEDS, Need, capturing, recorded

__all__ = ["NEEDS", "Need", "capturing", "ndarray", "recorded"]


def __getattr__(name: str) -> Any:
    """The function of that name; AttributeError where CuPy has none, or none that the extras suffice for."""
    if name not in FUNCTIONS:
        raise AttributeError(f"cupy.{name}: not among the functions of tests/strict_cupy/needs.toml")
    return FUNCTIONS[name]
