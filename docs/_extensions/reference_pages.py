"""The pages of the reference of Python: one for each public function and class, one for each module.

A page of `docs/reference/api` lists them by `{exports} PACKAGE` and `{modules}`, which become tables of summaries. Before Sphinx
reads, the pages that these lead to are written to `docs/reference/api/generated`. What a package exports is described once, under
the name by which users import it; a module's page describes the rest of the module.
"""

import inspect
import re
from collections.abc import Mapping
from enum import Enum
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from code_names import as_meant
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_FOLDER = Path(__file__).parents[1] / "reference" / "api"
_EXPORTS = re.compile(r"^```\{exports\} (\S+)$", re.MULTILINE)
_MODULES = re.compile(r"^```\{modules\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FIRST = ("gpu_nim", "gpu_nim.render")  # a name that several packages export is described under the first of them
_BUILT_IN = "tuple, dict, str, int, Enum, ReprEnum, Exception, object"  # bases whose members are not shown


@cache
def _packages() -> list[str]:
    """Return the packages with a table of what they export."""
    named = [name for page in sorted(_FOLDER.glob("*.md")) for name in _EXPORTS.findall(page.read_text(encoding="utf-8"))]
    return sorted(named, key=lambda name: (name not in _FIRST, name))


@cache
def _modules() -> list[str]:
    """Return the modules that have a page."""
    lists = (block for page in sorted(_FOLDER.glob("*.md")) for block in _MODULES.findall(page.read_text(encoding="utf-8")))
    return [name for block in lists for name in block.split()]


def _home(value: object) -> str:
    """Return the name under which a function or a class is described."""
    name = getattr(value, "__name__", "")
    for package in _packages():
        if name in dir(import_module(package)) and getattr(import_module(package), name) is value:
            return f"{package}.{name}"
    return f"{value.__module__}.{name}"


def _has_page(value: object) -> bool:
    return inspect.isfunction(value) or inspect.isclass(value)


def _exported(package: str) -> dict[str, Any]:
    """Return the functions and classes that a package exports, by the name under which they are described."""
    module = import_module(package)
    return {_home(value): value for value in (getattr(module, name) for name in dir(module)) if _has_page(value)}


def _own(module: str) -> dict[str, Any]:
    """Return the functions and classes of a module, likewise."""
    found = vars(import_module(module)).items()
    return {_home(value): value for name, value in found if name[0] != "_" and _has_page(value) and value.__module__ == module}


def _members(described: type) -> list[str]:
    """Return the public methods and properties of a class with a docstring, its own before those that it inherits."""
    bases = [base for base in described.__mro__ if base.__module__.startswith("gpu_nim")]
    found = dict.fromkeys(name for base in bases for name, value in vars(base).items() if _is_member(name, value))
    return [name for name in found if inspect.getdoc(getattr(described, name))]


def _is_member(name: str, value: object) -> bool:
    return name[0] != "_" and isinstance(value, FunctionType | property | cached_property | classmethod | staticmethod)


def _table(entries: dict[str, object]) -> list[str]:
    """Return a table of names and summaries as reStructuredText."""
    lines = ["", ".. list-table::", "   :class: summary", ""]
    for name, value in entries.items():
        short = name.rpartition(".")[2]
        lines += [f"   * - :py:obj:`{short} <{name}>`", f"     - {summary(value)}"]
    return [*lines, ""]


def summary(value: object) -> str:
    """Return the first sentence of a docstring, or what kind of object a value is."""
    if not (inspect.isclass(value) or inspect.isroutine(value) or isinstance(value, ModuleType | property | cached_property)):
        return f"A ``{type(value).__name__}``."
    paragraph = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    return as_meant(re.split(r"(?<=[.:])\s(?=[A-Z`])", paragraph)[0].rstrip(":") or "...")


def _written(title: str, *lines: str) -> None:
    """Write a page, unless it is as it should be: what has not changed is not read again."""
    page = _FOLDER / "generated" / f"{title}.rst"
    text = "\n".join([title, "=" * len(title), "", *lines, ""])
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def write_pages(app: Sphinx) -> None:
    """Write a page for each function and class that a package exports, and one for each module."""
    (_FOLDER / "generated").mkdir(exist_ok=True)
    titles = set()
    for package in _packages():
        for name, value in _exported(package).items():
            titles.add(name)
            kind = "class" if inspect.isclass(value) else "function"
            options = ["   :members:", f"   :inherited-members: {_BUILT_IN}"] if kind == "class" else []
            options += ["   :undoc-members:"] if kind == "class" and issubclass(value, Enum) else []
            _written(name, f".. auto{kind}:: {name}", *options)
    for name in _modules():
        titles.add(name)
        _written(name, f".. automodule:: {name}", "   :members:", *(["   :no-value:"] if _has_catalogue(name) else []))
    for page in (_FOLDER / "generated").glob("*.rst"):
        if page.stem not in titles:
            page.unlink()


class _Listing(SphinxDirective):
    """A table of summaries, and the pages that it leads to."""

    def _nodes(self, entries: dict[str, object], pages: dict[str, str]) -> list[nodes.Node]:
        lines = [".. toctree::", "   :hidden:", "", *(f"   {title} <generated/{name}>" for name, title in pages.items())]
        return self.parse_text_to_nodes("\n".join(["```{eval-rst}", *_table(entries), *lines, "```"]))


class Exports(_Listing):
    """The directive `{exports} PACKAGE`: what a package exports."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table: functions and classes, then modules and data."""
        package = self.arguments[0]
        module = import_module(package)
        others = {name: getattr(module, name) for name in dir(module) if name[0] != "_"}
        rest = {getattr(value, "__name__", f"{package}.{name}"): value for name, value in others.items() if not _has_page(value)}
        exported = _exported(package)
        own = {name: name.removeprefix(f"{package}.") for name in exported if name.rpartition(".")[0] == package}
        return self._nodes(exported | rest, own)


class Modules(_Listing):
    """The directive `{modules}`: the modules that its lines name."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        pages = {name: name.removeprefix("gpu_nim.") for name in self.content}
        return self._nodes({name: import_module(name) for name in pages}, pages)


def _with_summaries(app: Sphinx, what: str, name: str, described: Any, options: Any, lines: list[str]) -> None:
    """Add to the docstring of a module, and of a class on a page of its own, a table of what it has."""
    if what == "module" and name in _modules():
        lines += _table(_own(name)) if _own(name) else []
    elif what == "class" and options.get("inherited_members") and (found := _members(described)):
        lines += _table({f"{name}.{each}": getattr(described, each) for each in found})


def _exported_elsewhere(app: Sphinx, what: str, name: str, described: Any, skip: bool, options: Any) -> bool | None:
    """Leave out of the pages of modules what a package exports."""
    return True if what == "module" and _has_page(described) and _home(described) in _all_exported() else None


def _has_catalogue(module: str) -> bool:
    """Return whether a module has a catalogue, whose value would fill its page."""
    return any(isinstance(value, Mapping) for name, value in vars(import_module(module)).items() if name[0] != "_")


@cache
def _all_exported() -> set[str]:
    return {name for package in _packages() for name in _exported(package)}


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("exports", Exports)
    app.add_directive("modules", Modules)
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-skip-member", _exported_elsewhere)
    app.connect("autodoc-process-docstring", _with_summaries, priority=900)  # after napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}
