"""Pages that are read off the catalogues, and roles that link to their entries.

The directive `{catalogue} KIND` describes every entry of a kind; the role of the same name links to one, as {statement}`nf-lemma-8`
does, and the entry in its turn names every page that links to it. Commands are described by sphinx-click, and the items of papers
by `results.py`; their roles are {command} and {item}.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from catalogue_entries import KINDS, Described
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.domains import Domain, ObjType
from sphinx.environment import BuildEnvironment
from sphinx.roles import XRefRole
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

LINKED = {kind: kind.replace("-", " ") for kind in (*KINDS, "command")} | {
    "family": "family of sequences",
    "oeis": "OEIS entry",
    "item": "item of a paper",
}
"""The kinds of what roles link to, in words."""
COMMANDS_PAGE = "reference/commands"


class Catalogues(Domain):
    """The entries by kind and name, and the pages that link to each.

    `data["entries"]` maps (kind, name) to (page, anchor), `data["links"]` maps (kind, name) to the pages that link to it.
    """

    name = "gpunim"
    label = "catalogues of gpunim"
    object_types = {kind: ObjType(words, kind) for kind, words in LINKED.items()}  # noqa: RUF012
    roles = {kind: XRefRole() for kind in LINKED}  # noqa: RUF012
    initial_data = {"entries": {}, "links": {}}  # noqa: RUF012
    data_version = 1

    def note(self, kind: str, name: str, page: str, anchor: str) -> None:
        """Record where an entry is described."""
        self.data["entries"][kind, name] = page, anchor

    def links(self, kind: str, name: str) -> list[str]:
        """Return the pages that link to an entry."""
        return sorted(self.data["links"].get((kind, name), ()))

    def clear_doc(self, docname: str) -> None:
        """Forget what a page describes and links to."""
        for key, (page, _) in list(self.data["entries"].items()):
            if page == docname:
                del self.data["entries"][key]
        for pages in self.data["links"].values():
            pages.discard(docname)

    def process_doc(self, env: BuildEnvironment, docname: str, document: nodes.document) -> None:
        """Record the commands that a page describes, and the entries that it links to."""
        if docname == COMMANDS_PAGE:
            for section in document.findall(nodes.section):
                program, _, command = section["names"][0].partition(" ") if section["names"] else ("", "", "")
                if program == "gpunim" and command:
                    self.note("command", command, docname, section["ids"][0])
        for link in document.findall(addnodes.pending_xref):
            if link["refdomain"] == self.name and not link.get("own"):
                self.data["links"].setdefault((link["reftype"], link["reftarget"]), set()).add(docname)

    def resolve_xref(
        self,
        env: BuildEnvironment,
        fromdocname: str,
        builder: Builder,
        typ: str,
        target: str,
        node: addnodes.pending_xref,
        contnode: nodes.Element,
    ) -> nodes.reference | None:
        """Return the link to an entry."""
        if (typ, target) not in self.data["entries"]:
            return None
        page, anchor = self.data["entries"][typ, target]
        return make_refnode(builder, fromdocname, page, anchor, contnode, target)

    def resolve_any_xref(self, *arguments: Any) -> list[tuple[str, nodes.reference]]:
        """Return nothing: an entry is linked by the role of its kind."""
        return []

    def get_type_name(self, type: ObjType, primary: bool = False) -> str:
        """Return what the search calls a kind, without the name of the domain."""
        return type.lname

    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        """Yield every entry, for the inventory and the search."""
        for (kind, name), (page, anchor) in self.data["entries"].items():
            yield name, name, kind, page, anchor, 1


class _Links(nodes.General, nodes.Element):
    """The place of the pages that link to an entry."""


class CatalogueDirective(SphinxDirective):
    """The entries of a kind."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the entries, in groups where the kind has them."""
        kind = self.arguments[0]
        groups: dict[str, list[Described]] = {}
        for entry in KINDS[kind]():
            groups.setdefault(entry.group, []).append(entry)
        found: list[nodes.Node] = []
        for title, entries in groups.items():
            described = [self._described(kind, entry) for entry in entries]
            if title:
                section = nodes.section(ids=[nodes.make_id(title)], names=[nodes.fully_normalize_name(title)])
                section += nodes.title("", title)
                section += described
                found.append(section)
            else:
                found += described
        return found

    def _described(self, kind: str, entry: Described) -> nodes.Node:
        facts = "\n".join(f"{label}\n: {text}\n" for label, text in entry.facts)
        marks = [nodes.inline("", entry.mark, classes=["verdict", entry.mark])] if entry.mark else []
        return described_by(self, kind, entry.name, entry.name, [entry.summary, facts], *marks)


def described_by(
    directive: SphinxDirective, kind: str, name: str, title: str, texts: Iterable[str], *marks: nodes.Node
) -> nodes.Node:
    """Return the description of an entry by Markdown texts, to which the role of its kind leads.

    Args:
        directive: the directive that describes it.
        kind: the name of its role.
        name: what the role names it by.
        title: its title.
        texts: what is said of it.
        marks: what stands behind its title.
    """
    anchor = f"{kind}-{nodes.make_id(name)}"
    _domain(directive.env).note(kind, name, directive.env.docname, anchor)
    signature = addnodes.desc_signature("", "", addnodes.desc_name("", title), *marks, ids=[anchor])
    content = addnodes.desc_content("", *(node for text in texts if text for node in directive.parse_text_to_nodes(text)))
    for link in content.findall(addnodes.pending_xref):
        link["own"] = True  # what links from catalogue to catalogue explains nothing
    content += _Links(kind=kind, entry=name)
    return addnodes.desc("", signature, content, domain="gpunim", objtype=kind, desctype=kind, classes=["gpunim", kind])


def _domain(env: BuildEnvironment) -> Catalogues:
    domain = env.get_domain("gpunim")
    assert isinstance(domain, Catalogues)
    return domain


def _role(kind: str) -> Any:
    """The role of a kind, without its domain's name."""

    def role(name: str, *arguments: Any, **more: Any) -> Any:
        return XRefRole()(f"gpunim:{kind}", *arguments, **more)

    return role


def _fill_links(app: Sphinx, document: nodes.document, page: str) -> None:
    """Put into each entry of a page the links to the pages that link to it."""
    domain = _domain(app.env)
    for place in list(document.findall(_Links)):
        pages = [linking for linking in domain.links(place["kind"], place["entry"]) if linking != page]
        links: list[nodes.Node] = []
        for linking in pages:
            title = nodes.Text(app.env.titles[linking].astext())
            links += [nodes.Text(", " if links else "On this site: "), make_refnode(app.builder, page, linking, None, title)]
        place.replace_self(nodes.paragraph("", "", *links, classes=["explained"]) if links else [])


def _pages_to_write(app: Sphinx, env: BuildEnvironment) -> Iterable[str]:
    """Write the catalogues whenever a page has changed, which may link to them."""
    return {page for page, _ in _domain(env).data["entries"].values()}


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_domain(Catalogues)
    app.add_directive("catalogue", CatalogueDirective)
    app.add_node(_Links)
    for kind in LINKED:
        app.add_role(kind, _role(kind), override=True)  # Sphinx's own {command} is no link
    app.connect("doctree-resolved", _fill_links)
    app.connect("env-updated", _pages_to_write)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
