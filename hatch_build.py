"""How the build makes the description that a package index shows: README.md, whose links lead to the release in the repository.

On GitHub the links of README.md are relative, to files that a package index does not have.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)\s]+)\)")


def described(text: str, repository: str, tag: str) -> str:
    """Return the text of README.md with links that lead somewhere wherever it is read."""
    return _LINK.sub(lambda link: f"{link[1]}[{link[2]}]({repository}/{'raw' if link[1] else 'blob'}/{tag}/{link[3]})", text)


class ReadmeHook(MetadataHookInterface):
    """Sets the description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set what pyproject.toml calls dynamic."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        shown = described(text, metadata["urls"]["Repository"], f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": shown}
