"""Check a built site.

It has every public name, command and entry, each link within it leads to a page and an anchor, and the command line takes each
command that it shows.

python scripts/lib/check_site.py build/docs/html
"""

import inspect
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import fields
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click

import gpu_nim
import gpu_nim.render
from gpu_nim.automata.catalogue import CATALOGUE as AUTOMATA
from gpu_nim.automata.columns import COLUMNS
from gpu_nim.cli import COMMANDS
from gpu_nim.cli import main as command_line
from gpu_nim.games.named_games import CATALOGUE as GAMES
from gpu_nim.guessing import KINDS as FORMULAS
from gpu_nim.model.errors import GpunimError
from gpu_nim.oeis.catalogue import entries
from gpu_nim.papers import statements
from gpu_nim.papers.entries import PAPERS
from gpu_nim.render.look import Look
from gpu_nim.render.motions import Movie

LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src", "source": "src"}
_OF_PICTURES = {each.name for each in fields(Look)}
_NOT_RUN = tomllib.loads((Path(__file__).parents[2] / "tests" / "shown_commands.toml").read_text(encoding="utf-8"))["not_run"]
_OF_PLUGINS = {tuple(shlex.split(command)[1:]) for command, reason in _NOT_RUN.items() if reason.startswith("needs a plug-in")}
_PLACEHOLDER = re.compile(r"\.\.\.|\b[A-Z]{4,}\b|<\w+>")


def expected() -> Iterator[tuple[str, str]]:
    """Yield the kind and the name of all that the site has to describe; the kind of a Python object is "py"."""
    for package in (gpu_nim, gpu_nim.render):
        for name in dir(package):
            value = getattr(package, name)
            if not name.startswith("_"):
                yield "py", value.__name__ if inspect.ismodule(value) else f"{package.__name__}.{name}"
            if inspect.isclass(value):
                yield from (("py", f"{package.__name__}.{name}.{method}") for method in _methods(value))
    for kind, names in {
        "command": COMMANDS,
        "statement": [statement.name for statement in statements()],
        "automaton": AUTOMATA,
        "column": COLUMNS,
        "formula": FORMULAS,
        "game": GAMES,
        "oeis": entries(),
        "item": [item.anchor for paper in PAPERS.values() for item in paper.items],
    }.items():
        yield from ((f"gpunim:{kind}", name) for name in names)


def _methods(described: type) -> Iterator[str]:
    """Yield the public methods and properties of a class, those that it inherits from gpunim's classes included."""
    for base in described.__mro__:
        for name, value in vars(base).items() if base.__module__.startswith("gpu_nim") else ():
            if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                yield name


def missing(site: Path) -> Iterator[str]:
    """Yield what the site does not describe."""
    from sphinx.util.inventory import InventoryFile

    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="").data
    python = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    for kind, name in sorted(set(expected())):
        if name not in (python if kind == "py" else inventory.get(kind, ())):
            yield f"{kind} {name} is not described"


class _Page(HTMLParser):
    """The anchors and the links of a page, and its lines of code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.lines: set[str] = set()
        self._code: list[str] = []
        self._within: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.anchors.update(filter(None, (found.get("id"), found.get("name"))))
        if link := found.get(LINKS.get(tag, "")):
            self.links.add(link)
        if tag in ("code", "pre") and self._within is None:
            self._within = tag

    def handle_data(self, data: str) -> None:
        if self._within is not None:
            self._code.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == self._within:
            text = "".join(self._code)
            self.lines.update(text.replace("\\\n", "").splitlines() if tag == "pre" else [" ".join(text.split())])
            self._within = None
            self._code.clear()

    @property
    def commands(self) -> set[tuple[str, ...]]:
        """The words of each command of gpunim, without those that hold a placeholder such as NAME."""
        return {words for line in self.lines if not _PLACEHOLDER.search(line) for words in _commands(line)}


def _commands(line: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of each command of gpunim in a line of a shell, without the program's name."""
    if "gpunim " not in line:
        return
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = [word for word in lexer if word != "$"]
    except ValueError:  # a quotation mark alone: no line of a shell
        return
    command: list[str] = []
    for word in [*words, ";"]:
        if word[0] in "();<>|&":
            if command and command[0] in ("gpunim", "./scripts/gpunim") and command[1:2] != ["--link"]:  # the script's own option
                yield tuple(command[1:])
            command = []
        else:
            command.append(word)


def refusal(words: tuple[str, ...]) -> str | None:
    """Return what the command line says against a command, or None. The command is not run; the look of a picture is checked."""
    try:
        with redirect_stdout(StringIO()), command_line.context_class(command_line, info_name="gpunim") as group:
            name, command, rest = command_line.resolve_command(group, [*words])
            if command is None:
                return f"there is no command {name}"
            with command.make_context(name, rest, parent=group) as context:
                given = context.params
                look = {key: value for key, value in given.items() if key in _OF_PICTURES}
                if name == "movie":
                    Movie(given["source"], given["motion"], round(given["seconds"] * given["fps"]), given["fps"], Look(**look))
                elif name == "render":
                    Look(**look)
    except click.exceptions.Exit:  # --help
        return None
    except (click.MissingParameter, click.BadOptionUsage):  # a mention, such as `gpunim render --view inside`
        return None
    except click.ClickException as error:
        return error.format_message()
    except GpunimError as error:
        return str(error)
    return None


def refused(site: Path) -> Iterator[str]:
    """Yield the commands that the command line does not take."""
    pages: dict[tuple[str, ...], list[str]] = {}
    for path, page in sorted(_pages(site).items()):
        for words in page.commands - _OF_PLUGINS:
            pages.setdefault(words, []).append(str(path.relative_to(site.resolve())))
    for words, found in pages.items():
        if (sentence := refusal(words)) is not None:
            yield f"{found[0]}: gpunim {shlex.join(words)}: {sentence}"


def _pages(site: Path) -> dict[Path, _Page]:
    """Return the pages of a site."""
    return {path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html") if "_static" not in path.parts}


def broken(site: Path) -> Iterator[str]:
    """Yield the links that lead nowhere."""
    pages = _pages(site)
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
    faults = [*missing(site), *broken(site), *refused(site)]
    print("\n".join(faults), file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
