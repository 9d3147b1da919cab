"""Names in the reference: short ones find their object.

A docstring writes `Rule` and `UsageError` without their modules. Where one object alone has that name, it is linked; single
backticks around anything else are code.
"""

import re
from pydoc import locate
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode


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


def as_meant(line: str) -> str:
    """Return a line of a docstring for Sphinx: |x| is an absolute value, not a substitution."""
    return line if ">>>" in line else re.sub(r"\|(\w+)\|", r"\\|\1\\|", line)


def _readable(app: Sphinx, what: str, name: str, described: Any, options: Any, lines: list[str]) -> None:
    """Have Sphinx read a docstring as it is meant.

    What comes before a colon in the docstring of an attribute is not its type, as napoleon takes it where the first line is no
    comment.
    """
    lines[:] = map(as_meant, lines)
    if what in ("attribute", "data", "property"):
        lines[:0] = ["..", ""]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("missing-reference", _by_short_name, priority=900)  # after intersphinx
    app.connect("autodoc-process-docstring", _readable, priority=400)  # before napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}
