"""Check a built site: it has every public name, command and entry, and each link within it leads to a page and an anchor.

python scripts/lib/check_site.py build/docs/html
"""

import inspect
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import gpu_nim
import gpu_nim.render
from gpu_nim.automata.catalogue import CATALOGUE as AUTOMATA
from gpu_nim.cli.commands import COMMANDS
from gpu_nim.games.catalogue import CATALOGUE as GAMES
from gpu_nim.oeis.catalogue import entries
from gpu_nim.reproduction.papers import PAPERS
from gpu_nim.theorems import statements

LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src", "source": "src"}


def expected() -> Iterator[tuple[str, str]]:
    """Yield the kind and the name of all that the site has to describe; the kind of a Python object is "py"."""
    for package in (gpu_nim, gpu_nim.render):
        for name in dir(package):
            value = getattr(package, name)
            if not name.startswith("_"):
                yield "py", value.__name__ if inspect.ismodule(value) else f"{package.__name__}.{name}"
    for kind, names in {
        "command": COMMANDS,
        "statement": [statement.name for statement in statements()],
        "automaton": AUTOMATA,
        "game": GAMES,
        "oeis": entries(),
        "item": [paper.anchor(item) for paper in PAPERS.values() for item in paper.items],
    }.items():
        yield from ((f"gpunim:{kind}", name) for name in names)


def missing(site: Path) -> Iterator[str]:
    """Yield what the site does not describe."""
    from sphinx.util.inventory import InventoryFile

    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="").data
    python = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    for kind, name in sorted(set(expected())):
        if name not in (python if kind == "py" else inventory.get(kind, ())):
            yield f"{kind} {name} is not described"


class _Page(HTMLParser):
    """The anchors and the links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.anchors.update(filter(None, (found.get("id"), found.get("name"))))
        if link := found.get(LINKS.get(tag, "")):
            self.links.add(link)


def broken(site: Path) -> Iterator[str]:
    """Yield the links that lead nowhere."""
    pages = {
        path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html") if "_static" not in path.parts
    }
    for path, page in sorted(pages.items()):
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                yield f"{path.relative_to(site.resolve())}: {link} leads to no file"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{path.relative_to(site.resolve())}: {link} leads to no anchor"


def main(site: Path) -> None:
    """Print what is wrong with the site, and exit with status 1 if anything is."""
    faults = [*missing(site), *broken(site)]
    print("\n".join(faults), file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
