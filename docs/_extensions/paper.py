"""The manuscript of docs/paper: a page of the site, and the same text as a PDF, by pandoc and Typst.

A block `{section} FILE`, with a heading in it, stands for what that file has under the heading, so that a proof has one place.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

PAPER = Path(__file__).parents[1] / "paper" / "index.md"
_SECTION = re.compile(r"^```\{section\} (\S+)\n(.+)\n```$", re.MULTILINE)
_LINK = re.compile(r"(!?)\[([^\[\]]+)\]\((?!\w+:)([^)#\s]*)(#[^)\s]*)?\)")
_ROLE = re.compile(r"\{(\w+)\}(`[^`]+`)")
_NOTE = re.compile(r"^:::.*?^:::\n", re.MULTILINE | re.DOTALL)
_BARS = re.compile(r"\\\| ([^|$]+) \\\|")
_HTML = re.compile(r" <a .*?</a>")


def expanded(page: Path = PAPER) -> str:
    """Return the text of a page with the sections of other pages, whose links lead from the root of the site.

    Raises:
        ValueError: a page has no such heading, or more than one.
    """
    return _SECTION.sub(lambda found: _section((page.parent / found[1]).resolve(), found[2]), page.read_text(encoding="utf-8"))


def _section(file: Path, heading: str) -> str:
    parts = re.split(r"^## (.*)$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if parts[1::2].count(heading) != 1:
        raise ValueError(f"{file.name} must have one heading {heading!r}")
    body = parts[2 * parts[1::2].index(heading) + 2]
    root = PAPER.parents[1]

    def linked(link: re.Match[str]) -> str:
        target = (file.parent / link[3]).resolve() if link[3] else file
        return f"{link[1]}[{link[2]}](/{target.relative_to(root).as_posix()}{link[4] or ''})"

    return _NOTE.sub("", _LINK.sub(linked, body)).strip()


def typst(text: str) -> str:
    """Return the source of the PDF: links within the site are left as their text, and statements as their commands."""
    import pypandoc

    text = _HTML.sub("", _LINK.sub(lambda link: link[0] if link[1] else link[2], text))
    text = _ROLE.sub(lambda role: f"`gpunim verify {role[2][1:]}" if role[1] == "statement" else role[2], text)
    options = ["--shift-heading-level-by=-1", f"--template={PAPER.with_name('template.typ')}"]
    written = pypandoc.convert_text(text.replace("```console", "```"), "typst", "markdown-smart", options)
    return _BARS.sub(r"abs(\1)", written)


def _read(app: Sphinx, page: str, source: list[str]) -> None:
    if page == "paper/index":
        source[0] = expanded()
        for file, _ in _SECTION.findall(PAPER.read_text(encoding="utf-8")):
            app.env.note_dependency(str((PAPER.parent / file).resolve()))


def _write(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.name == "html":
        import typst as compiler

        compiler.compile(typst(expanded()).encode(), output=app.outdir / "paper" / "growth.pdf", root=PAPER.parents[1])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", _read)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
