"""Long work: growths with checkpoints and files, counts in parts, clusters, ranks.

>>> import tempfile
>>> from pathlib import Path
>>> from gpu_nim import jobs
>>> with tempfile.TemporaryDirectory() as folder:
...     jobs.grow("nim", 20, out=Path(folder, "nim.zarr"), checkpoint=Path(folder, "run"))
...     jobs.grow(generations=40, resume=Path(folder, "run"))
<Growth of nim to generation 20, 313 cells>
<Growth of nim to generation 40, 1,225 cells>
"""

from gpu_nim.model import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
