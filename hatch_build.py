"""How the build makes the description that a package index shows: README.md, whose links lead to the repository of the release.

On GitHub the links of README.md are relative. A package index has none of these files, so that there they need an address: that of
the repository whose workflow builds the release, which GitHub names. A build elsewhere knows none, and then a link is left as its
text and a picture is left out.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)\s]+)\)")


def described(text: str, repository: str | None, tag: str) -> str:
    """Return the text of README.md with links that lead somewhere wherever it is read."""

    def linked(link: re.Match[str]) -> str:
        picture, words, target = link.groups()
        if repository is None:
            return "" if picture else words
        return f"{picture}[{words}]({repository}/{'raw' if picture else 'blob'}/{tag}/{target})"

    return _LINK.sub(linked, text)


class ReadmeHook(MetadataHookInterface):
    """Sets the description, and the addresses of the project where they are known."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set what pyproject.toml calls dynamic."""
        name = os.environ.get("GITHUB_REPOSITORY")
        repository = f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{name}" if name else None
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": described(text, repository, f"v{metadata['version']}")}
        if repository:
            metadata["urls"] = {"Repository": repository, "Issues": f"{repository}/issues"}
