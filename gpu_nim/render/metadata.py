"""The provenance of a picture, a movie or a mesh in the fields of its format, and read back from a file.

    .png                     text chunks Software and Comment
    .jpg, .webp, .tif        EXIF Software and ImageDescription, in UTF-8
    .gif                     comment
    .svg                     metadata: Dublin Core creator and description
    .pdf                     document information: Creator and Subject
    .mp4                     tags encoder and comment
    .glb                     asset: generator, and command in its extras
    .3mf                     metadata: Application and Description
    .html                    meta: generator and description
    .vtp                     field data: texts software and command
    .ply, .obj, .stl         a comment; .stl has only 80 bytes of it, which may cut the command off

Other programs show them, and `gpunim info FILE`.
"""

import re
import struct
import zipfile
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree

from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.model.files import Provenance, one_line, open_regular, parse_json

JPEG_SUFFIXES = (".jpg", ".jpeg")
IMAGE_SUFFIXES = (".png", *JPEG_SUFFIXES, ".webp", ".tif", ".tiff")
"""The endings of pictures."""

_DESCRIPTION, _SOFTWARE = 0x010E, 0x0131  # EXIF
_DC = "http://purl.org/dc/elements/1.1/"
_BEGINNING = 1 << 18  # bytes of a file, within which its comment is
_MOST = 1 << 26  # bytes of a part of a file that is read whole


def image_options(suffix: str, made: Provenance) -> dict[str, Any]:
    """Return the arguments of Pillow's `save` that write the provenance of an image of that ending."""
    if suffix == ".png":
        from PIL.PngImagePlugin import PngInfo

        texts = PngInfo()
        texts.add_text("Software", made.software)
        texts.add_text("Comment", made.command)
        return {"pnginfo": texts}
    from PIL.Image import Exif

    exif = Exif()
    exif[_SOFTWARE] = made.software
    exif[_DESCRIPTION] = made.command.encode()  # Pillow writes a text in ASCII
    return {"exif": exif}


def savefig_metadata(suffix: str, made: Provenance) -> dict[str, Any]:
    """Return the metadata of matplotlib's `savefig` for a file of that ending, without its date."""
    fields: dict[str, dict[str, Any]] = {
        ".png": {"Software": made.software, "Comment": made.command},
        ".svg": {"Creator": made.software, "Description": made.command, "Date": None},
        ".pdf": {"Creator": made.software, "Subject": made.command, "CreationDate": None},
    }
    return fields[suffix]


def movie_tags(made: Provenance) -> list[str]:
    """Return the options of ffmpeg that write the provenance of an .mp4, and nothing of the time or of ffmpeg's version."""
    tags = ["-metadata", f"comment={made.command}", "-metadata", f"encoding_tool={made.software}"]
    return [*tags, "-fflags", "+bitexact", "-flags:v", "+bitexact"]


def add_gif_comment(path: Path, made: Provenance) -> None:
    """Write the provenance at the end of a .gif file."""
    text = str(made).encode()
    parts = (text[start : start + 255] for start in range(0, len(text), 255))
    with path.open("r+b") as file:
        file.seek(-1, 2)  # the trailer
        file.write(b"\x21\xfe" + b"".join(bytes([len(part)]) + part for part in parts) + b"\0\x3b")


def read_provenance(path: str | Path) -> Provenance:
    """Return the provenance that a picture, a movie or a mesh of gpunim holds.

    Args:
        path: the file.

    Raises:
        UsageError: files of this ending hold none.
        FileError: the file cannot be read, or holds none.

    >>> import tempfile
    >>> from gpu_nim.render import render, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(render("nim:3", resolution=(64, 48), engine="numpy"), f"{folder}/nim.png")
    ...     read_provenance(f"{folder}/nim.png").command
    "gpu_nim.render.render('nim:3', Look(resolution=(64, 48), engine='numpy'))"
    """
    path = Path(path)
    read = _READERS.get(path.suffix.lower())
    if read is None:
        raise UsageError(f"a file that says what made it ends in {', '.join(_READERS)}, got {str(path)!r}")
    try:
        with open_regular(path) as file:
            software, command = read(file)
            return Provenance(one_line(command), one_line(software))
    except (LookupError, SyntaxError, TypeError, ValueError, struct.error, zipfile.BadZipFile) as error:
        raise FileError(f"cannot read {path}: it does not say which version of gpunim and which command made it") from error
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or 'it is damaged'}") from error


_Pair = tuple[str, str]  # software, command


def _image(file: IO[bytes]) -> _Pair:
    from PIL import Image

    Image.init()
    for kind in ("PNG", "JPEG", "WEBP", "TIFF"):
        open_image, accepts = Image.OPEN[kind]
        file.seek(0)
        if accepts and accepts(file.read(16)) is True:
            break
    file.seek(0)
    image = open_image(file, "")  # by `Image.open` the largest pictures would be refused, though no pixel is read here
    if image.format == "PNG":
        return image.info["Software"], image.info["Comment"]
    exif = image.getexif()
    return exif[_SOFTWARE], exif[_DESCRIPTION].encode("latin-1").decode()


def _comment(file: IO[bytes]) -> _Pair:
    """Read `Provenance.__str__` in the beginning of a file."""
    return _line(file.read(_BEGINNING))


def _gif(file: IO[bytes]) -> _Pair:
    end = file.seek(0, 2)
    file.seek(max(0, end - _BEGINNING))
    tail = file.read()
    at, text = tail.rindex(b"\x21\xfe") + 2, b""
    while length := tail[at]:
        text += tail[at + 1 : at + 1 + length]
        at += 1 + length
    return _line(text)


def _line(data: bytes) -> _Pair:
    match = re.search(rb"(gpunim [\w.+-]+): ([^\n\0]*)", data)
    if match is None:
        raise ValueError("no comment")
    return match[1].decode(), match[2].decode(errors="replace").strip()


def _xml(file: IO[bytes], software: str, command: str, attribute: str = "") -> _Pair:
    """Read the first two elements of these names, or the two of one name that this attribute tells apart."""
    texts: dict[str, str] = {}
    for _, element in ElementTree.iterparse(file):
        name = element.get(attribute, "") if attribute else element.tag
        texts.setdefault(name, "".join(element.itertext()).strip())
        if {software, command} <= set(texts):
            break
    return texts[software], texts[command]


def _svg(file: IO[bytes]) -> _Pair:
    return _xml(file, f"{{{_DC}}}creator", f"{{{_DC}}}description")


def _three_mf(file: IO[bytes]) -> _Pair:
    with zipfile.ZipFile(file) as archive, archive.open("3D/3dmodel.model") as model:
        return _xml(model, "Application", "Description", "name")


def _vtp(file: IO[bytes]) -> _Pair:
    data = file.read(_BEGINNING)

    def read(name: bytes) -> str:
        match = re.search(rb'<Array type="String" Name="' + name + rb'"[^>]*>([\d ]*) 0</Array>', data)
        if match is None:
            raise KeyError(name)
        return bytes(map(int, match[1].split())).decode()

    return read(b"software"), read(b"command")


def _html(file: IO[bytes]) -> _Pair:
    pattern = rb'<meta name="generator" content="([^"]*)">\s*<meta name="description" content="([^"]*)">'
    match = re.search(pattern, file.read(_BEGINNING))
    if match is None:
        raise ValueError("no generator")
    return unescape(match[1].decode()), unescape(match[2].decode())


def _pdf(file: IO[bytes]) -> _Pair:
    data = file.read(_MOST)

    def read(key: bytes) -> str:
        match = re.search(rb"/" + key + rb"\s*\(((?:\\.|[^\\()])*)\)", data, re.DOTALL)
        if match is None:
            raise KeyError(key)
        text = re.sub(rb"\\(.)", lambda escaped: _PDF_ESCAPES.get(escaped[1], escaped[1]), match[1], flags=re.DOTALL)
        return text.decode("utf-16") if text.startswith(b"\xfe\xff") else text.decode("latin-1")

    return read(b"Creator"), read(b"Subject")


_PDF_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def _mp4(file: IO[bytes]) -> _Pair:
    end = file.seek(0, 2)
    for name in (b"moov", b"udta", b"meta", b"ilst"):
        start, end = _box(file, name, file.tell() if name != b"moov" else 0, end)
        file.seek(start + 4 * (name == b"meta"))  # which has a version
    tags = file.tell()

    def read(name: bytes) -> str:
        start, stop = _box(file, b"data", *_box(file, name, tags, end))
        file.seek(start + 8)  # its type and language
        return file.read(min(stop - start - 8, _BEGINNING)).decode()

    return read(b"\xa9too"), read(b"\xa9cmt")


def _box(file: IO[bytes], name: bytes, start: int, end: int) -> tuple[int, int]:
    """Return where the content of the first box of that name between two places of an .mp4 file begins and ends."""
    while start < end:
        file.seek(start)
        size, kind = struct.unpack(">I4s", file.read(8))
        head = 8
        if size == 1:
            (size,), head = struct.unpack(">Q", file.read(8)), 16
        if size < head:
            break
        if kind == name:
            return start + head, min(start + size, end)
        start += size
    raise KeyError(name)


def _glb(file: IO[bytes]) -> _Pair:
    magic, _, _, size, _ = struct.unpack("<4sIIII", file.read(20))
    if magic != b"glTF" or size > _MOST:
        raise ValueError(magic)
    asset = parse_json(file.read(size))["asset"]
    return asset["generator"], asset["extras"]["command"]


_READERS: dict[str, Callable[[IO[bytes]], _Pair]] = {
    **dict.fromkeys(IMAGE_SUFFIXES, _image),
    **dict.fromkeys((".ply", ".obj", ".stl"), _comment),
    ".gif": _gif,
    ".svg": _svg,
    ".pdf": _pdf,
    ".mp4": _mp4,
    ".glb": _glb,
    ".3mf": _three_mf,
    ".vtp": _vtp,
    ".html": _html,
}
