"""The provenance of a picture, a movie or a mesh in the fields of its format, and read back from a file.

    .png                     text chunks Software and Comment
    .jpg, .webp, .tif        EXIF Software and ImageDescription, in UTF-8
    .gif, .webm              comment
    .svg                     metadata: Dublin Core creator and description
    .pdf                     document information: Creator and Subject
    .mp4                     tags encoder and comment
    .glb                     asset: generator, and command in its extras
    .3mf                     metadata: Application and Description
    .html                    meta: generator and description
    .ply, .stl               a comment; .stl has only 80 bytes of it, which may cut the command off
    other exports            a line with "gpunim VERSION: COMMAND", which is `str` of the provenance

Other programs show them, and `gpunim info FILE`.
"""

import json
import re
import zipfile
from collections.abc import Callable, Iterable
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from PIL import Image
from PIL.GifImagePlugin import GifImageFile
from PIL.PngImagePlugin import PngInfo

from gpu_nim.model.errors import UsageError
from gpu_nim.model.files import CorruptFile, Provenance, one_line, open_regular, raised_as_corrupt, reading
from gpu_nim.model.registry import one_of, wrong_ending
from gpu_nim.storage.atomic import atomic_write

JPEG_SUFFIXES = (".jpg", ".jpeg")
_LARGEST_WEBP = 16383  # pixels along a side: the format's own limit
_COMPRESSION = 4  # of zlib for a .png: half the time of its default, for files larger by a thirtieth
#: The endings of pictures.
IMAGE_SUFFIXES = (".png", *JPEG_SUFFIXES, ".webp", ".tif", ".tiff")
#: The endings of animated pictures, and those of all movies.
ANIMATIONS = (".gif", ".webp")
MOVIE_SUFFIXES = (".mp4", ".webm", *ANIMATIONS)
_ENDINGS = {"picture": IMAGE_SUFFIXES, "movie": MOVIE_SUFFIXES}
#: What may be transparent: a pixel of a .gif is seen or not, and edges would be rough.
_CLEAR = {"picture": (".png", ".webp", ".tif"), "movie": (".webm", ".webp")}

#: Bytes before the number of triangles.
STL_HEAD = 80

_DESCRIPTION, _SOFTWARE = 0x010E, 0x0131  # EXIF
_MOST = 1 << 26  # bytes at the beginning of a file that have what is looked for
_MOST_COMMENT = 1 << 16  # bytes at the beginning of a .gif that have its comment


def wrong_picture(what: str, path: Path, endings: Iterable[str]) -> UsageError:
    """Return the error for a file that a command does not write, which names the command that does.

    Args:
        what: what the command writes.
        path: the file.
        endings: those that it writes.

    >>> str(wrong_picture("a picture", Path("nim.html"), [".png"]))
    "a picture must end in .png, got 'nim.html'; gpunim export writes .html"
    """
    suffix = path.suffix.lower()
    moving, still = (".mp4", ".webm", ".gif"), (*IMAGE_SUFFIXES, ".svg", ".pdf")
    other = "movie" if suffix in moving else "render" if suffix in still else "export"
    also = f"; gpunim {other} writes {suffix}" if suffix in (*_FIELDS, *still) else ""
    also += " of a figure, such as figure:NF1" if suffix in (".svg", ".pdf") else ""
    return wrong_ending(f"{what} must end in", path, endings, also)


def check_ending(path: Path, size: tuple[int, int], what: str = "picture", *, transparent: bool = False) -> None:
    """Raise UsageError where a picture or movie of that size, or a transparent one, cannot be written under that ending."""
    suffix, clear = path.suffix.lower(), _CLEAR[what]
    if suffix not in _ENDINGS[what]:
        raise wrong_picture(f"a {what}", path, _ENDINGS[what])
    if suffix == ".webp" and max(size) > _LARGEST_WEBP:
        raise UsageError(f"a .webp {what} is at most {_LARGEST_WEBP} pixels wide and high, got {size[0]}x{size[1]}")
    if transparent and not suffix.startswith(clear):
        raise UsageError(f"a transparent {what} must be a {one_of(clear)} file, got {str(path)!r}")


def save_image(image: Image.Image, path: Path, made: Provenance) -> None:
    """Write a picture to a file, atomically, with its provenance; errors as for `check_ending`."""
    suffix = path.suffix.lower()
    check_ending(path, image.size, transparent=image.mode == "RGBA")
    jpeg = suffix in JPEG_SUFFIXES
    options: dict[str, Any] = {"quality": 90, "subsampling": 0} if jpeg else {"compress_level": _COMPRESSION}
    with atomic_write(path) as scratch:
        image.save(scratch, **options, **image_options(suffix, made))


def image_options(suffix: str, made: Provenance) -> dict[str, Any]:
    """Return the arguments of Pillow's `save` that write the provenance of an image of that ending."""
    if suffix == ".png":
        texts = PngInfo()
        texts.add_text("Software", made.software)
        texts.add_text("Comment", made.command)
        return {"pnginfo": texts}
    exif = Image.Exif()
    exif[_SOFTWARE] = made.software
    exif[_DESCRIPTION] = made.command.encode()  # Pillow writes a text in ASCII
    return {"exif": exif}


def savefig_metadata(suffix: str, made: Provenance) -> dict[str, Any]:
    """Return the metadata of matplotlib's `savefig` for a file of that ending, without its date."""
    about, date = ("Description", "Date") if suffix == ".svg" else ("Subject", "CreationDate")
    return {"Creator": made.software, about: made.command, date: None}


def movie_tags(suffix: str, made: Provenance) -> list[str]:
    """Return the options of ffmpeg that write the provenance of a movie, and nothing of the time or of ffmpeg's version."""
    # The line ends where the text of a .webm does, which what follows does not show.
    tags = [f"comment={made.command}", f"encoding_tool={made.software}"] if suffix == ".mp4" else [f"comment={made}\n"]
    return [*(part for tag in tags for part in ("-metadata", tag)), "-fflags", "+bitexact", "-flags:v", "+bitexact"]


def gif_comment(made: Provenance) -> bytes:
    """Return the comment of a .gif file with the provenance, which comes before its frames."""
    text = str(made).encode()
    parts = (text[start : start + 255] for start in range(0, len(text), 255))
    return b"\x21\xfe" + b"".join(bytes([len(part)]) + part for part in parts) + b"\0"


def read_provenance(path: str | Path) -> Provenance:
    """Return the provenance that a picture, a movie or a mesh of gpunim holds.

    Args:
        path: the file.

    Raises:
        UsageError: files of this ending hold none.
        FileError: the file cannot be read, or holds none.

    >>> import tempfile
    >>> from gpu_nim.render import render
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     render("nim:3", resolution=(64, 48), engine="numpy").save(f"{folder}/nim.png")
    ...     read_provenance(f"{folder}/nim.png").command
    "gpu_nim.render.render('nim:3', Look(resolution=(64, 48), engine='numpy'))"
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in PROVENANCE_SUFFIXES:
        raise wrong_ending("a file that says what made it ends in", path, PROVENANCE_SUFFIXES)
    with reading(path), open_regular(path) as file, raised_as_corrupt("it is damaged"):
        match _image(file, suffix) if suffix in IMAGE_SUFFIXES else _fields(_content(file, suffix), suffix):
            case software, command if software.startswith("gpunim "):
                return Provenance(one_line(command), one_line(software))
        raise CorruptFile("it does not say which version of gpunim and which command made it")


def _image(file: IO[bytes], suffix: str) -> list[str]:
    open_image, _ = Image.OPEN[Image.registered_extensions()[suffix]]
    image = open_image(file, "")  # by `Image.open` the largest pictures would be refused, though no pixel is read here
    if suffix == ".png":
        return [image.info[name] for name in ("Software", "Comment") if name in image.info]
    texts = map(image.getexif().get, (_SOFTWARE, _DESCRIPTION))
    return [text.encode("latin-1").decode(errors="replace") for text in texts if isinstance(text, str)]


def _content(file: IO[bytes], suffix: str) -> bytes:
    """Return the part of a file that has the fields."""
    if suffix == ".3mf":
        with zipfile.ZipFile(file) as archive, archive.open("3D/3dmodel.model") as model:
            return model.read(_MOST)
    if suffix == ".gif":
        return bytes(GifImageFile(BytesIO(file.read(_MOST_COMMENT))).info.get("comment", b""))
    return file.read(STL_HEAD if suffix == ".stl" else _MOST)


def _fields(content: bytes, suffix: str) -> list[str]:
    """Return the software and the command."""
    decode, *patterns = _FIELDS[suffix]
    found = [re.search(pattern, content, re.DOTALL) for pattern in patterns]
    return [decode(match[1]) for match in found if match] if all(found) else []


def _html(text: bytes) -> str:
    return unescape(text.decode())


def _json(text: bytes) -> str:
    return str(json.loads(b'"' + text + b'"'))


def _pdf(text: bytes) -> str:
    raw = re.sub(rb"\\(.)", lambda escaped: _PDF_ESCAPES.get(escaped[1], escaped[1]), text, flags=re.DOTALL)
    return raw.decode("utf-16" if raw.startswith(b"\xfe\xff") else "latin-1")


def _line(text: bytes) -> str:
    return text.decode(errors="replace").strip()


_PDF_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_Fields = tuple[Callable[[bytes], str], bytes, bytes]
_COMMENT: _Fields = (_line, rb"(gpunim [\w.+-]{1,99}): ", rb"gpunim [\w.+-]{1,99}: ([^\n\0]{,65536})")
#: How a field of each format is read, and the patterns of the fields with the software and the command: in some bytes, since
#: matching takes a hundred times the memory.
_FIELDS: dict[str, _Fields] = {
    **dict.fromkeys((".ply", ".stl", ".gif", ".webm"), _COMMENT),
    ".svg": (_html, rb"<dc:creator>\s*<cc:Agent>\s*<dc:title>([^<]{,65536})<", rb"<dc:description>([^<]{,65536})<"),
    ".pdf": (_pdf, rb"/Creator\s*\(((?:\\.|[^\\()]){,65536})\)", rb"/Subject\s*\(((?:\\.|[^\\()]){,65536})\)"),
    ".mp4": (bytes.decode, rb"\xa9too.{4}data.{8}([^\0]{1,65536})", rb"\xa9cmt.{4}data.{8}([^\0]{1,65536})"),
    ".glb": (_json, rb'"generator":"((?:\\.|[^"\\]){,65536})"', rb'"command":"((?:\\.|[^"\\]){,65536})"'),
    ".3mf": (_html, rb'name="Application">([^<]{,65536})<', rb'name="Description">([^<]{,65536})<'),
    ".html": (_html, rb'<meta name="generator" content="([^"]{,65536})">', rb'<meta name="description" content="([^"]{,65536})">'),
}
#: The endings of files that say what made them.
PROVENANCE_SUFFIXES = tuple(dict.fromkeys((*IMAGE_SUFFIXES, *_FIELDS)))
