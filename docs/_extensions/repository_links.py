"""Links of Markdown pages to files of the checkout, as GitHub follows them.

The pages of `ROOT_PAGES` are files of the checkout's root. A link from any page to one of these leads to its page; a link to
another file outside of docs/ is left as its text.
"""

import re
from pathlib import Path, PurePosixPath

from sphinx.application import Sphinx

CHECKOUT = Path(__file__).parents[2]
ROOT_PAGES = {"contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}
_PAGES = {"README.md": "index.md"} | {file: f"{page}.md" for page, file in ROOT_PAGES.items()}
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def _read(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace the text of a page of `ROOT_PAGES`, and the links of every page that lead out of docs/."""
    home = CHECKOUT if page in ROOT_PAGES else (CHECKOUT / "docs" / page).parent
    if page in ROOT_PAGES:
        file = CHECKOUT / ROOT_PAGES[page]
        source[0] = file.read_text(encoding="utf-8")
        app.env.note_dependency(str(file))
    if app.env.doc2path(page, base=False).suffix == ".md":
        source[0] = _LINK.sub(lambda link: _linked(home, page, *link.groups()), source[0])


def _linked(home: Path, page: str, text: str, target: str, anchor: str | None) -> str:
    file = (home / target).resolve()
    if not file.is_relative_to(CHECKOUT):
        return f"[{text}]({target}{anchor or ''})"
    path = PurePosixPath(file.relative_to(CHECKOUT))
    inside = _PAGES.get(str(path)) or (str(path.relative_to("docs")) if path.parts[:1] == ("docs",) else None)
    return text if inside is None else f"[{text}](/{inside}{anchor or ''})"


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
