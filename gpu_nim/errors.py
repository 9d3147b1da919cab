"""The errors that gpunim raises: one sentence each, all a `GpunimError` and a subclass of the matching built-in exception.

>>> import gpu_nim
>>> from gpu_nim.errors import UsageError
>>> try:
...     gpu_nim.grow("edgy")
... except UsageError as error:
...     print(str(error).partition("; ")[2])
did you mean edge?
"""

from gpu_nim.model.errors import BackendError as BackendError
from gpu_nim.model.errors import FileError as FileError
from gpu_nim.model.errors import GpunimError as GpunimError
from gpu_nim.model.errors import InsufficientMemoryError as InsufficientMemoryError
from gpu_nim.model.errors import KernelArgumentError as KernelArgumentError
from gpu_nim.model.errors import MissingDependency as MissingDependency
from gpu_nim.model.errors import RankFailed as RankFailed
from gpu_nim.model.errors import RanksLost as RanksLost
from gpu_nim.model.errors import Undecided as Undecided
from gpu_nim.model.errors import UsageError as UsageError
from gpu_nim.model.errors import VerificationError as VerificationError
