"""One picture: from a source and a look to an image and a file."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import MissingDependency, UsageError
from gpu_nim.model.progress import OnStep, unseen
from gpu_nim.render.colours import Theme, distinct_colours, find_theme, to_linear, to_srgb
from gpu_nim.render.geometry import Blocks, cut, generations_between, middles, side, tiles, visible
from gpu_nim.render.light import Shader
from gpu_nim.render.options import require_heard, still
from gpu_nim.render.room import fits, require_room
from gpu_nim.render.source import blocks_of, name_of
from gpu_nim.render.views import Camera, View, find_view, fit, support

if TYPE_CHECKING:
    from PIL.Image import Image

    from gpu_nim.render.opengl import Canvas as _Canvas
    from gpu_nim.render.source import Source
    from gpu_nim.render.volume import Cloud

STYLES = ("cubes", "points", "volume", "slices")
COLORS = ("generation", "rank", "grundy", "branch", "nim-p")
QUALITIES = ("draft", "final")
ENGINES = ("auto", "opengl", "numpy")
CUTS = ("none", "corner", "half")
SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff")

_DOT = 0.36  # of a cell: the radius of its point, drawn in ink
_EDGEWISE = 0.01  # the sine of the least elevation that a flat body is seen from
_LARGEST = 16384  # pixels along a side: what OpenGL draws to
_LARGEST_WEBP = 16383  # the format's own


@dataclass(frozen=True)
class Look:
    """How a picture is to look.

    size: width and height in pixels.  view: see `views.NAMES`, or a `View`; None is hero, or axis for what is flat.
    theme, color, style, quality, engine, cut: a name of the module's tables; color None is rank, style None is cubes,
    and points in the neon theme.
    generations: first and stop, the only ones drawn, or None for all.  transparent: no background, alpha instead.
    title: words above the picture.
    """

    size: tuple[int, int] = (1920, 1080)
    view: str | View | None = None
    theme: str = "dark"
    color: str | None = None
    style: str | None = None
    quality: str = "final"
    engine: str = "auto"
    cut: str = "none"
    generations: tuple[int, int] | None = None
    transparent: bool = False
    title: str = ""

    def __post_init__(self) -> None:
        width, height = self.size
        if not (16 <= width <= _LARGEST and 16 <= height <= _LARGEST):
            raise UsageError(f"size must be from 16x16 to {_LARGEST}x{_LARGEST} pixels, got {width}x{height}")
        find_theme(self.theme)
        for name, value, known in (
            ("color", self.color, COLORS),
            ("style", self.style, STYLES),
            ("quality", self.quality, QUALITIES),
            ("engine", self.engine, ENGINES),
            ("cut", self.cut, CUTS),
        ):
            if value is not None and value not in known:
                raise UsageError(f"{name} must be one of {', '.join(known)}, got {value!r}")
        if not self.title.replace("\n", "").isprintable():
            raise UsageError(f"title must be printable text, got {self.title!r}")

    @property
    def drawn_style(self) -> str:
        """The style, chosen by the theme where it is left open."""
        return self.style or ("points" if self.theme == "neon" else "cubes")

    @property
    def supersampling(self) -> int:
        """How many times finer than the picture is drawn, before it is reduced."""
        smooth = self.drawn_style == "volume"  # a cloud has no edges to smooth
        return 2 if self.quality == "final" and not smooth and max(self.size) * 2 <= _LARGEST else 1


@dataclass(frozen=True)
class Picture:
    """A picture and what is to be said of it.

    image: a Pillow image, RGB or RGBA.  engine: opengl or numpy.  drawn: how many blocks were drawn of how many cells.
    note: what was left out, or why another engine was taken, or "".
    """

    image: "Image"
    engine: str
    drawn: int
    population: int
    note: str


def render(source: "Source", look: Look | None = None, *, on_step: OnStep = unseen, **options: object) -> Picture:
    """Return the picture of a source (see `gpu_nim.render.source`), its look given whole or by its parts.

    The source may also be a growth or a solved game itself.

    on_step: called as the source is grown, when its light is worked out, and as its sides are drawn.

    >>> picture = render("nim:7", size=(64, 48), engine="numpy", quality="draft")
    >>> picture.image.size, picture.drawn, picture.engine
    ((64, 48), 64, 'numpy')
    """
    look = replace(look or Look(), **options)  # type: ignore[arg-type]
    require_heard(still(look.drawn_style), look)
    require_room(look, choose_engine(look)[0], name_of(source))
    blocks = prepare(source, look, on_step)
    if blocks.flat:
        require_heard(still(look.drawn_style, flat=True), look)
    engine, reason = choose_engine(look, len(blocks))
    if look.drawn_style == "slices":
        from gpu_nim.render.slices import draw_slices

        image = draw_slices(blocks, base_colours(blocks, look.color, find_theme(look.theme)), look)
        return Picture(image, engine, len(blocks), blocks.population, blocks.note)
    camera = aim(blocks, look)
    blocks = cut_open(blocks, look, camera.basis[2])
    on_step("light", 0, 1)
    with Drawing(blocks, look, engine) as drawing:
        image = drawing.frame(camera, on_step=on_step)
    note = "; ".join(filter(None, (drawing.blocks.note, reason)))
    return Picture(image, engine, len(drawing.blocks), blocks.population, note)


def prepare(source: "Source", look: Look, on_step: OnStep = unseen) -> Blocks:
    """Return the blocks of a source, of them the generations that the look asks for, and for a cloud no more than it holds."""
    blocks = blocks_of(source, color=look.color, on_step=on_step)
    if look.generations is not None:
        blocks = generations_between(blocks, *look.generations)
    if blocks.flat and look.drawn_style in ("volume", "slices"):
        raise UsageError(f"style {look.style} needs a body in space, and {blocks.name} is flat")
    if look.drawn_style == "volume":
        from gpu_nim.render.volume import solid_enough

        blocks = solid_enough(blocks, look.quality)
    return blocks


def view_of(blocks: Blocks, look: Look) -> View:
    """Return the view of the look, for these blocks."""
    wanted = look.view if look.view is not None else ("axis" if blocks.flat else "hero")
    view = find_view(wanted, blocks.corners) if isinstance(wanted, str) else wanted
    if blocks.flat and abs(view.basis()[2, 2]) < _EDGEWISE:
        raise UsageError(f"view must show more than the edge of a flat body, got {wanted!r} for {blocks.name}")
    return view


def aim(blocks: Blocks, look: Look, caption: str = "") -> Camera:
    """Return the camera of the look, fitted to the blocks, with room for the look's title and for a caption."""
    head, foot = rooms(look, caption)
    frame = hull(blocks)
    if look.drawn_style == "volume":
        from gpu_nim.render.volume import blurred

        frame = blurred(frame, blocks, look.quality)
    return fit(view_of(blocks, look), frame, look.size[0] / look.size[1], head=head, foot=foot)


def rooms(look: Look, caption: str = "") -> tuple[float, float]:
    """Return the parts of the height that a picture keeps free for its title and for a caption."""
    if not (look.title or caption):
        return 0.0, 0.0
    from gpu_nim.render.text import caption_of, title_of

    width, height = look.size
    head = title_of(look.title, width, height).bottom / height if look.title else 0.0
    words = caption_of(caption, width, height)
    return head, 1 - words.top / height if words else 0.0


def hull(blocks: Blocks) -> NDArray[np.float32]:
    """Return points that frame the blocks, exactly where they are few, else to a 64th of their extent."""
    if blocks.flat:
        outline = tiles(blocks)[0].reshape(-1, 3)
        return outline[support(outline, 512)]
    low, high = blocks.bounds()
    width = 1
    while (high - low).max() // width > 64:
        width *= 2
    index = (blocks.corners - low) // width
    reach = np.maximum(blocks.sizes, width)
    shape = tuple((index.max(axis=0) + 1).tolist())
    keys = np.ravel_multi_index(tuple(index.T.astype(np.intp)), shape)
    longest = np.zeros(int(np.prod(shape)), dtype=np.int32)
    longest[keys] = reach  # whichever comes last: blocks that share a cell differ in size only within it
    filled = np.flatnonzero(longest)
    coarse = np.column_stack(np.unravel_index(filled, shape)) * width + low
    corners = (
        coarse[:, None] + np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * longest[filled][:, None, None]
    )
    points = np.minimum(corners, high).reshape(-1, 3).astype(np.float32)
    return points[support(points, 512)]


def cut_open(blocks: Blocks, look: Look, toward: NDArray[np.float64]) -> Blocks:
    """Return the blocks without the part that the look cuts away, before an eye in that direction."""
    return blocks if look.cut == "none" else cut(blocks, look.cut, toward)


def choose_engine(look: Look, blocks: int = 0) -> tuple[str, str]:
    """Return the engine for a picture of so many blocks and, where it is not the one that would be liked best, why."""
    if look.drawn_style in ("points", "slices"):
        if look.engine == "opengl":
            raise UsageError(f"style {look.drawn_style} is drawn by NumPy alone, got engine 'opengl'")
        return "numpy", ""  # light is added up in floating point, which OpenGL's picture cannot hold
    if look.engine == "numpy":
        return "numpy", ""
    from gpu_nim.render.opengl import require_opengl

    try:
        require_opengl()
    except MissingDependency as error:
        if look.engine == "opengl":
            raise
        return "numpy", f"drawn by NumPy, since {str(error).partition(', or draw')[0].partition('; or')[0]}"
    if look.engine == "auto" and not fits(look, "opengl", blocks):
        return "numpy", "drawn by NumPy, since OpenGL needs more memory than is free"
    return "opengl", ""


def base_colours(blocks: Blocks, color: str | None, theme: Theme) -> NDArray[np.float32]:
    """Return the colour of each block, sRGB float32 (N, 3).

    generation: even in time.  rank: even in the number of cells, so that every colour covers as much.  branch: by the
    branch it grew on, no two in one colour.  nim-p: P-positions of Nim against the rest, piles being the coordinates
    without their signs.  grundy: by Grundy value.

    Raises UsageError where the blocks do not have what the colours are to show.
    """
    if color == "branch":
        return branch_colours(blocks, theme)
    if color == "nim-p":
        return np.where(nim_p(blocks)[:, None], np.array(theme.pick, np.float32), np.array(theme.dim, np.float32))
    if color == "grundy":
        if "grundy" not in blocks.values:
            raise UsageError(f"color grundy needs a source with Grundy values, and {blocks.name} has none")
        values = blocks.values["grundy"]
        if values.min() == values.max():
            raise UsageError(
                f"color grundy needs positions of several Grundy values, and all of {blocks.name} have {values.max()}: a "
                "chocolate takes them as in chocolate:size=31,grundy=3"
            )
        return theme.map(values / int(values.max()))
    return theme.map(generation_scale(blocks, "generation" if color == "generation" else "rank"))


def branch_colours(blocks: Blocks, theme: Theme) -> NDArray[np.float32]:
    """Return a colour for each branch, and the theme's first one for the seed."""
    if "branch" not in blocks.values:
        raise UsageError(f"color branch needs a growth whose branches were followed, and {blocks.name} has none")
    branches = blocks.values["branch"]
    table = np.array([theme.categories[0], *distinct_colours(theme, int(branches.max()))], dtype=np.float32)
    return np.asarray(table[branches])


def nim_p(blocks: Blocks) -> NDArray[np.bool_]:
    """Return which cells are P-positions of Nim, their piles being the coordinates without their signs.

    So fcc holds Nim in each octant, as `edge` does in its one: its cells of generation n and total 2n are P-positions.
    """
    if blocks.lattice != "square":
        raise UsageError(f"color nim-p needs coordinates that are piles, and {blocks.name} lives on a {blocks.lattice} lattice")
    if (blocks.sizes > 1).any() and (blocks.corners < 0).any():
        # A block from 0 on holds P-positions just where its corner is one, the blocks of the other octants not.
        raise UsageError(f"color nim-p needs single cells where coordinates are negative, and {blocks.name} is {blocks.note}")
    return np.asarray(np.bitwise_xor.reduce(np.abs(blocks.corners), axis=1) == 0)


def generation_scale(blocks: Blocks, color: str) -> NDArray[np.float64]:
    """Return where each block lies on the map by its generation, 0 to 1, float64 (N,)."""
    if color == "generation":
        first, last = int(blocks.generations.min()), int(blocks.generations.max())
        return np.asarray((blocks.generations - first) / max(last - first, 1))
    # A place for each generation that there is: their numbers reach 2^30.
    _, places = np.unique(blocks.generations, return_inverse=True)
    weights = np.bincount(places, blocks.sizes.astype(np.float64) ** 2)
    return np.asarray(((np.cumsum(weights) - weights / 2) / weights.sum())[places])


class Drawing:
    """A body in its colours, ready to be drawn from any number of cameras.  A context manager: it holds a window."""

    def __init__(self, blocks: Blocks, look: Look, engine: str) -> None:
        self.blocks = blocks
        self.look = look
        self.engine = engine
        self.theme = find_theme(look.theme)
        self._scale = look.supersampling
        self._width, self._height = (part * self._scale for part in look.size)
        self._fine, grid = 1, 0
        if look.drawn_style == "volume":
            from gpu_nim.render.volume import cloud_bytes, fineness

            self._fine = fineness(blocks, look.quality)
            grid = cloud_bytes(blocks, self._fine)
        self._base = base_colours(blocks, look.color, self.theme)
        self._shader: Shader | None = None
        self._canvas: _Canvas | None = None
        self._cloud: Cloud | None = None
        require_room(look, engine, blocks.name, len(blocks), more=grid)
        if look.drawn_style == "cubes" and not blocks.flat:
            self._shader = Shader(blocks, self._base, self.theme, fine=look.quality == "final")
        if engine == "opengl":
            from gpu_nim.render.opengl import Canvas

            self._canvas = Canvas(self._width, self._height)
        if look.drawn_style == "volume":
            from gpu_nim.render.volume import cloud_of

            self._cloud = cloud_of(blocks, self._base, self._fine)

    def __enter__(self) -> "Drawing":
        return self

    def __exit__(self, *error: object) -> None:
        if self._canvas is not None:
            self._canvas.__exit__(*error)

    def frame(
        self,
        camera: Camera,
        shown: NDArray[np.bool_] | None = None,
        caption: str = "",
        *,
        on_step: OnStep = unseen,
    ) -> "Image":
        """Return the picture from a camera, with only the blocks `shown` (a mask) where given, and a caption at the
        foot.  on_step: called as the sides are drawn.
        """
        if self.look.drawn_style == "points":
            return self._finish(self._points(camera, shown), caption)
        if self._cloud is not None:
            return self._finish(self._clouded(camera, shown), caption)
        if self._canvas is not None:
            pixels = self._canvas.draw(self._quads(camera, shown, on_step), camera)
        else:
            from gpu_nim.render.raster import draw_quads

            pixels = draw_quads(self._quads(camera, shown, on_step), camera, self._width, self._height)
        return self._finish(reduce_pixels(pixels, self._scale), caption)

    def _quads(
        self, camera: Camera, shown: NDArray[np.bool_] | None, on_step: OnStep
    ) -> Iterator[tuple[NDArray[np.float32], NDArray[np.uint8]]]:
        if self._shader is None:
            chosen = np.arange(len(self.blocks)) if shown is None else np.flatnonzero(shown)
            flat, owners = tiles(self.blocks.take(chosen))
            base = np.rint(self._base[chosen[owners]] * 255).astype(np.uint8)
            yield flat, np.broadcast_to(base[:, None], flat.shape)
            return
        light = self._shader.frame(camera, shown)
        faces = list(visible(self.blocks, camera))
        for done, (axis, end, facing) in enumerate(faces):
            on_step("side", done, len(faces))
            which = facing if shown is None else (shown if isinstance(facing, slice) else facing & shown)
            quads = side(self.blocks if isinstance(which, slice) else self.blocks.take(which), axis, end)
            if len(quads):
                yield quads, light.colours(axis, end, which, quads)

    def _clouded(self, camera: Camera, shown: NDArray[np.bool_] | None) -> NDArray[np.float32]:
        from gpu_nim.render.raster import enlarge
        from gpu_nim.render.volume import cast, cloud_of

        cloud = self._cloud if shown is None else cloud_of(self.blocks.take(shown), self._base[shown], self._fine)
        assert cloud is not None
        coarser, steps = (1, 2.5) if self.look.quality == "final" else (3, 1.2)
        if self._canvas is not None:
            return reduce_pixels(self._canvas.draw_cloud(cloud, camera, steps), 1)
        width, height = self.look.size
        return enlarge(cast(cloud, camera, -(-width // coarser), -(-height // coarser), steps), height, width)

    def _points(self, camera: Camera, shown: NDArray[np.bool_] | None) -> NDArray[np.float32]:
        from gpu_nim.render.raster import draw_ink, draw_points

        blocks = self.blocks if shown is None else self.blocks.take(shown)
        base = self._base if shown is None else self._base[shown]
        centres = middles(blocks)
        distance = camera.distance(centres)
        if self.theme.light:
            pixel = camera.pixel(np.maximum(distance, 1e-6), self._height)
            radii = np.asarray(_DOT * blocks.sizes / pixel, dtype=np.float32)
            seen = self._reduced(draw_ink(centres, to_linear(base), radii, camera, self._width, self._height))
            covered = seen[..., 3:]
            alpha = 1 - np.exp(-2.2 * covered)
            return np.concatenate([to_srgb(seen[..., :3] / np.maximum(covered, 1e-9)) * alpha, alpha], axis=2)
        pixel = camera.pixel(np.array([distance.min(), distance.max()]), self._height)
        # As much light a cell as makes the whole body fill its share of the picture, however many cells there are.
        strength = (blocks.sizes.astype(np.float32) / np.float32(pixel.mean())) ** 2
        light = to_linear(base) * (strength * np.float32(0.55))[:, None]
        if not camera.parallel:
            light *= ((distance.mean() / np.maximum(distance, 1e-6)) ** 2).astype(np.float32)[:, None]
        seen = self._reduced(draw_points(centres, light, camera, self._width, self._height, self.theme.glow))
        # Light that adds up grows without end: fold it into what a screen shows, keeping hues until they are very
        # bright.
        peak = seen.max(axis=2, keepdims=True)
        folded = seen * ((1 - np.exp(-1.3 * peak)) / np.maximum(peak, 1e-9)) + 0.10 * np.maximum(peak - 1.0, 0) / (1 + peak)
        alpha = 1 - np.exp(-4 * folded.max(axis=2, keepdims=True))
        return np.concatenate([to_srgb(folded), alpha], axis=2)

    def _reduced(self, picture: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the mean over the samples of each pixel: light and ink add up before they are folded into colours."""
        (width, height), s = self.look.size, self._scale
        return np.asarray(picture.reshape(height, s, width, s, -1).mean(axis=(1, 3)))

    def _finish(self, pixels: NDArray[np.float32], caption: str) -> "Image":
        """Lay the picture, premultiplied sRGB and alpha (height, width, 4) in 0 to 1, over the background and write on
        it.
        """
        from PIL import Image

        from gpu_nim.render.text import caption_of, title_of

        width, height = self.look.size
        alpha = pixels[..., 3:]
        if self.look.transparent:
            colour = np.divide(pixels[..., :3], alpha, out=np.zeros_like(pixels[..., :3]), where=alpha > 0)
            image = Image.fromarray(np.rint(np.concatenate([np.clip(colour, 0, 1), alpha], axis=2) * 255).astype(np.uint8), "RGBA")
        else:
            over = np.float32(1) if self.look.drawn_style == "points" and not self.theme.light else 1 - alpha
            image = Image.fromarray(quantise(pixels[..., :3] + background(self.theme, width, height) * over))
        if self.look.title:
            title_of(self.look.title, width, height).draw(image, self.theme.text)
        if words := caption_of(caption, width, height):
            words.draw(image, self.theme.muted)
        return image


def reduce_pixels(pixels: NDArray[np.uint8], scale: int) -> NDArray[np.float32]:
    """Return the picture `scale` times smaller, as premultiplied sRGB and alpha, float32 in 0 to 1."""
    from PIL import Image

    if scale > 1:
        height, width = pixels.shape[:2]
        pixels = np.asarray(Image.fromarray(pixels, "RGBa").resize((width // scale, height // scale), Image.Resampling.LANCZOS))
    return pixels.astype(np.float32) / np.float32(255)


def background(theme: Theme, width: int, height: int) -> NDArray[np.float32]:
    """Return the theme's background, sRGB float32 (height, width, 3): a gradient, darker towards the corners."""
    up = np.linspace(1, 0, height, dtype=np.float32)[:, None, None]
    rows = np.array(theme.bottom, dtype=np.float32) * (1 - up) + np.array(theme.top, dtype=np.float32) * up
    x = np.linspace(-1, 1, width, dtype=np.float32)[None, :, None]
    y = np.linspace(-1, 1, height, dtype=np.float32)[:, None, None]
    return np.asarray(rows * (1 - np.float32(theme.vignette) * np.clip(x * x * 0.7 + y * y * 0.5, 0, 1)))


def quantise(picture: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return the picture in bytes, with less than one step of noise, the same each time, so that no gradient shows
    bands.
    """
    noise = np.random.default_rng(0).random(picture.shape[:2], dtype=np.float32)[..., None]
    return np.asarray(np.clip(picture * 255 + noise, 0, 255), dtype=np.uint8)


def save(picture: Picture, path: str | Path) -> None:
    """Write a picture to a file, whole or not at all, in the format that its ending names."""
    from gpu_nim.storage.atomic import replacing

    path = Path(path)
    image = picture.image
    check_ending(path, image.size, transparent=image.mode == "RGBA")
    if path.suffix.lower() in (".jpg", ".jpeg"):
        options: dict[str, Any] = {"quality": 90, "subsampling": 0}
    else:
        options = {"optimize": False}
    with replacing(path) as scratch:
        image.save(scratch, **options)


def check_ending(path: Path, size: tuple[int, int], *, transparent: bool = False) -> None:
    """Raise UsageError where a picture of that size, or a transparent one, cannot be written under that ending."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"a picture must end in {', '.join(SUFFIXES)}, got {str(path)!r}")
    if path.suffix.lower() == ".webp" and max(size) > _LARGEST_WEBP:
        raise UsageError(f"a .webp picture is at most {_LARGEST_WEBP} pixels wide and high, got {size[0]}x{size[1]}")
    if transparent and path.suffix.lower() in (".jpg", ".jpeg"):
        raise UsageError(f"a transparent picture must be a .png, .webp or .tif file, got {str(path)!r}")
