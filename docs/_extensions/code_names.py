"""Names in the reference: short ones find their object, and an export is described where users import it from.

A docstring writes `Rule` and `UsageError` without their modules. Where one object alone has that name, it is linked; single
backticks around anything else are code.
"""

import inspect
import re
from importlib import import_module
from pydoc import locate
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

import gpu_nim
import gpu_nim.render

_EXPORTING = (gpu_nim, gpu_nim.render)


class Exports(SphinxDirective):
    """The directive `{exports} PACKAGE`: a table of what a package exports, with links to where that is described."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        package = import_module(self.arguments[0])
        rows = ["| name | what it is |", "|---|---|"]
        for name in dir(package):
            value = getattr(package, name)
            if inspect.ismodule(value):
                link = f"{{py:mod}}`{value.__name__}`"
            elif hasattr(value, "__qualname__"):
                home = next((each.__name__ for each in _EXPORTING if getattr(each, name, None) is value), value.__module__)
                link = f"{{py:obj}}`{name} <{home}.{name}>`"
            else:
                link = f"`{name}`"
            about = (inspect.getdoc(value) or "").split("\n")[0] if link.startswith("{") else f"a `{type(value).__name__}`"
            rows.append(f"| {link} | {about.replace('|', '&#124;')} |")
        return self.parse_text_to_nodes("\n".join(rows))


def _by_short_name(app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.Element) -> nodes.Node | None:
    if node.get("refdomain") != "py":
        return None
    domain = env.get_domain("py")
    assert isinstance(domain, PythonDomain)
    target = node["reftarget"]
    found = {(entry.docname, entry.node_id) for name, entry in domain.objects.items() if f".{name}".endswith(f".{target}")}
    if len(found) == 1:
        ((page, anchor),) = found
        return make_refnode(app.builder, node["refdoc"], page, anchor, content, target)
    named = node.get("reftype") == "obj" or locate(target) is not None  # in an annotation, and too internal to be described
    return content if named else None


def _exported_elsewhere(app: Sphinx, what: str, name: str, described: Any, skip: bool, options: Any) -> bool | None:
    """Leave out of other modules what a package exports."""
    module = app.env.current_document.autodoc_module
    for package in _EXPORTING:
        if module != package.__name__ and name in dir(package) and getattr(package, name) is described:
            return True
    return None


def _readable(app: Sphinx, what: str, name: str, described: Any, options: Any, lines: list[str]) -> None:
    """Have Sphinx read a docstring as it is meant.

    |x| is an absolute value, not a substitution; and what comes before a colon in the docstring of an attribute is not its type, as
    napoleon takes it where the first line is no comment.
    """
    lines[:] = [line if ">>>" in line else re.sub(r"\|(\w+)\|", r"\\|\1\\|", line) for line in lines]
    if what in ("attribute", "data", "property"):
        lines[:0] = ["..", ""]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("exports", Exports)
    app.connect("missing-reference", _by_short_name, priority=900)  # after intersphinx
    app.connect("autodoc-skip-member", _exported_elsewhere)
    app.connect("autodoc-process-docstring", _readable, priority=400)  # before napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}
