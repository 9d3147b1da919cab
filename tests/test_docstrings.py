"""Docstrings of what is public describe every argument and error; ruff sees that no section describes another argument.

Public are the exports of `gpu_nim` and `gpu_nim.render`, the classes of the entries of every catalogue, what registers and finds
these, the interface of backends, rules and errors.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType

import gpu_nim
import gpu_nim.render
from gpu_nim.model import errors
from gpu_nim.model.registry import Registry

PACKAGE = Path(gpu_nim.__file__).parent
WHOLE_MODULES = ("backends.interface", "model.errors", "model.registry", "model.rule")
OF_CATALOGUES = {
    "automata.catalogue": ("GrowthEntry", "find"),
    "automata.user_defined": ("define",),
    "counting.families": ("find_family",),
    "games.catalogue": ("find",),
    "games.entries": ("Parameter", "ParameterType", "integer_type"),
    "oeis.catalogue": ("find", "resolve", "from_function"),
    "papers.catalogue": ("CheckResult", "Entry", "Paper", "Printed", "Reach", "find_papers", "find_statements"),
    "papers.views": ("run_checks",),
    "render.colourings": ("colouring",),
    "render.exports.export_format": ("ExportedBody", "export_format"),
    "render.figures": ("figure",),
    "render.look": ("Cost",),
    "render.views": ("View", "find_view"),
    "storage.growth_formats": ("growth_format",),
}
BUILTIN = {"KeyError", "OSError", "OverflowError", "TypeError", "ValueError"}
ERRORS = BUILTIN | {"Damaged"} | {name for name in dir(errors) if name.endswith(("Error", "Lost", "Dependency"))}
STATES_WHAT_IT_RETURNS = re.compile(r"(?:The|Whether|How|What)\b|.*\b(?:return|yield|give)s?\b", re.IGNORECASE | re.DOTALL)


def public() -> Iterator[tuple[str, object]]:
    for room in (gpu_nim, gpu_nim.render):
        yield from ((f"{room.__name__}.{name}", getattr(room, name)) for name in room.__all__ if name != "__version__")
    for path in WHOLE_MODULES:
        module = import_module(f"gpu_nim.{path}")
        own = {name: value for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__}
        yield from ((f"{path}.{name}", value) for name, value in own.items() if not name.startswith("_"))
    for path, names in OF_CATALOGUES.items():
        yield from ((f"{path}.{name}", getattr(import_module(f"gpu_nim.{path}"), name)) for name in names)
    yield from ((f"{each.__module__}.{each.__qualname__}", each) for each in entry_classes())


def registries() -> dict[str, Registry[object]]:
    """Every registry of the package, by its kind."""
    names = (path.relative_to(PACKAGE.parent).with_suffix("") for path in PACKAGE.rglob("*.py") if "Registry" in path.read_text())
    modules = [import_module(".".join(name.parts).removesuffix(".__init__")) for name in names]
    return {value.kind: value for module in modules for value in vars(module).values() if isinstance(value, Registry)}


def entry_classes() -> set[type]:
    """What entries are made of: their classes, or where an entry is a class its bases."""
    entries = [entry for registry in registries().values() for entry in registry.values()]
    registered = {entry for entry in entries if isinstance(entry, type)}
    found = {base for entry in entries for base in (entry if isinstance(entry, type) else type(entry)).__mro__}
    return {each for each in found - registered if each.__module__.startswith("gpu_nim.") and not each.__name__.startswith("_")}


def documented() -> dict[str, ast.FunctionDef | ast.ClassDef]:
    """The syntax trees of what is public, methods and properties included, except methods that override a public one."""
    found: dict[str, ast.FunctionDef | ast.ClassDef] = {}
    for label, value in public():
        if not isinstance(value, FunctionType | type):
            continue
        (node,) = ast.parse(inspect.getsource(value)).body
        assert isinstance(node, ast.FunctionDef | ast.ClassDef)
        found[label] = node
        if isinstance(value, type):
            inherited = {name for base in value.__mro__[1:-1] for name in vars(base)}
            methods = (part for part in node.body if isinstance(part, ast.FunctionDef))
            found |= {f"{label}.{m.name}": m for m in methods if not m.name.startswith("_") and m.name not in inherited}
    return found


def sections(docstring: str) -> tuple[str, dict[str, dict[str, str]]]:
    """A docstring's text outside its sections, and by section the names that are described in it."""
    outside, found, within = [], {}, ""
    for line in inspect.cleandoc(docstring).splitlines():
        if header := re.fullmatch(r"(Args|Attributes|Returns|Yields|Raises):", line):
            within = header[1]
            found[within] = {}
        elif line and not line.startswith(" "):
            within = ""
        if not within:
            outside.append(line)
        elif item := re.match(r" {4}\*{0,2}(\w+): +(\S.*)", line):
            found[within][item[1]] = item[2]
    return "\n".join(outside), found


def parameters(node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    """The names of a function's parameters, or of those that make an object of a class."""
    if isinstance(node, ast.ClassDef):
        if any(
            "dataclass" in ast.unparse(made) or ast.unparse(made) == "NamedTuple" for made in [*node.decorator_list, *node.bases]
        ):
            fields = (part for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name))
            made = [part for part in fields if "ClassVar" not in ast.unparse(part.annotation)]
            return [part.target.id for part in made if "init=False" not in ast.unparse(part) and part.target.id[0] != "_"]
        made_by = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
        return parameters(made_by[0]) if made_by else []
    kinds = node.args
    named = [*kinds.posonlyargs, *kinds.args, *filter(None, [kinds.vararg]), *kinds.kwonlyargs, *filter(None, [kinds.kwarg])]
    return [each.arg for each in named if each.arg not in ("self", "cls") and not each.arg.startswith("_")]


def raised(node: ast.AST) -> set[str]:
    """The errors that a function raises itself, or a class while an object is made."""
    if isinstance(node, ast.ClassDef):
        making = (part for part in node.body if isinstance(part, ast.FunctionDef) and part.name in ("__init__", "__post_init__"))
        return set().union(*map(raised, making))
    calls = (part.exc for part in ast.walk(node) if isinstance(part, ast.Raise) and isinstance(part.exc, ast.Call))
    return {ast.unparse(call.func) for call in calls} & ERRORS


def complaints(node: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    """What is missing in the docstring of something public."""
    text, found = sections(ast.get_docstring(node) or "")
    if not text:
        yield "no docstring"
        return
    described = [*found.get("Attributes", {}), *found.get("Args", {})]
    if described != parameters(node):
        yield f"describes {described}, takes {parameters(node)}"
    if missing := raised(node) - set(found.get("Raises", {})):
        yield f"no Raises: {sorted(missing)}"
    if unknown := set(found.get("Raises", {})) - ERRORS:
        yield f"no such errors: {sorted(unknown)}"
    if isinstance(node, ast.FunctionDef) and node.returns is not None and ast.unparse(node.returns) != "None":
        first = re.split(r"(?<=[.;:])\s", text)[0]
        if not ({"Returns", "Yields"} & set(found) or STATES_WHAT_IT_RETURNS.match(first)):
            yield "no Returns, and the first sentence does not say"


def test_what_is_public_is_described() -> None:
    wrong = {label: list(complaints(node)) for label, node in documented().items()}
    assert {label: found for label, found in wrong.items() if found} == {}


def test_what_a_user_imports_has_an_example() -> None:
    rooms = [(room, name) for room in (gpu_nim, gpu_nim.render) for name in room.__all__ if name != "__version__"]
    assert [f"{room.__name__}.{name}" for room, name in rooms if ">>>" not in (getattr(room, name).__doc__ or "")] == []


def test_faults_are_seen() -> None:
    """Each rule fails on a docstring that breaks it alone."""
    good = '"""Return it.\\n\\nArgs:\\n    a: One.\\n    b: Two.\\n\\nRaises:\\n    UsageError: It is wrong.\\n"""'
    source = "def f(a, b) -> int:\n    {}\n    raise UsageError('wrong')\n"
    faults = {
        good: [],
        good.replace("    b: Two.\\n", ""): ["describes ['a'], takes ['a', 'b']"],
        good.replace("UsageError:", "FileError:"): ["no Raises: ['UsageError']"],
        good.replace("UsageError:", "UsageError: It is.\\n    Wrong:"): ["no such errors: ['Wrong']"],
        good.replace("Return it", "It"): ["no Returns, and the first sentence does not say"],
        "": ["no docstring"],
    }
    for docstring, expected in faults.items():
        (node,) = ast.parse(source.format(docstring)).body
        assert list(complaints(node)) == expected
