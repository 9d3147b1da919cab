"""The package `gpu_nim` by its command's name: `gpunim` is `gpu_nim`, `gpunim.model.rule` is `gpu_nim.model.rule`, and so on.

The stubs here are for type checkers, of the packages and modules whose names users import.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

import gpu_nim


class _Modules(MetaPathFinder, Loader):
    """Imports a module `gpunim.x` as `gpu_nim.x`: a second copy would have classes and state of its own."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        package, _, rest = fullname.partition(".")
        if package != "gpunim" or not rest or rest == "__main__":  # which runs under that name
            return None
        real = find_spec(f"gpu_nim.{rest}")
        return real and ModuleSpec(fullname, self, loader_state=real.name)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(spec.loader_state)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state  # the import system has replaced it


sys.meta_path.insert(0, _Modules())
sys.modules[__name__] = gpu_nim
