"""Plain data and checks that every subpackage may use: rules, scenes, digests, memory, errors, arguments, files.

The public names of a package are imported when they are first used, so that importing the package costs almost nothing. A stub
beside it, `__init__.pyi`, imports the names from their modules: type checkers and editors read it, and so does `public_names`,
which `__init__.py` calls.
"""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def public_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return what a package assigns to `__getattr__`, `__dir__` and `__all__`.

    Args:
        package: its `__name__`.
        file: its `__file__`; the stub beside it has lines such as `from gpu_nim.model.rule import Rule as Rule`.

    >>> get, names, exported = public_names("gpu_nim.render", import_module("gpu_nim.render").__file__)
    >>> get("Look").__module__, "Look" in exported, names() == exported
    ('gpu_nim.render.look', True, True)
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes = {name.name: line.module or "" for line in stub.body if isinstance(line, ast.ImportFrom) for name in line.names}
    exported = sorted(homes)

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        home = homes[name]
        # A module of the package itself is imported; asking the package for it would end here again.
        value = import_module(f"{home}.{name}") if home == package else getattr(__import__(home, fromlist=[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: exported, exported
