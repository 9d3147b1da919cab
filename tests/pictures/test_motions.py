"""Movies: the schedule of their frames, where their cameras are, and their files, with ffmpeg and without."""

import os
import re
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageSequence

from gpu_nim.jobs.grow_job import grow
from gpu_nim.render.colourings import glow_by_age
from gpu_nim.render.image import prepare, render, renderer, view_of
from gpu_nim.render.look import Look
from gpu_nim.render.metadata import read_provenance
from gpu_nim.render.motions import MOTIONS, Movie, motion_of
from gpu_nim.render.motions.flights import Turntable, draw_scale
from gpu_nim.render.motions.sweep import GrowthMotion, Sweep, grown_caption
from gpu_nim.render.movie import ffmpeg, make_movie
from gpu_nim.render.source import blocks_of
from gpu_nim.render.traced_object import TracedObject
from tests.helpers import calls, interrupt
from tests.render_files import frame, needs_ffmpeg

LOOK = Look(resolution=(64, 48), quality="draft", engine="numpy")


grown = cache(blocks_of)


@settings(max_examples=10, deadline=None)
@given(
    st.sampled_from(["nim:21", "edge:9", "fcc:6", "ulam-warburton:20", "hexagonal:9", "chocolate:size=7"]),
    st.integers(2, 60),
    st.sampled_from(["growth", "growth+turntable"]),
    st.sampled_from(["three-quarter", "isometric", "axis", "gasket", "200,35"]),
    st.sampled_from([(64, 48), (48, 64)]),
)
def test_a_growth_is_one_take_and_has_in_view_all_that_is_shown(name, frames, motion, view, size):
    blocks = grown(name)
    if blocks.flat and view == "gasket":
        view = "axis"
    growth = GrowthMotion(Movie(name, motion, frames, look=replace(LOOK, resolution=size, view=view)))
    moments, cameras = zip(*((growth.moment(number), growth.camera(number)) for number in range(frames)), strict=True)
    times, generations = (np.array(part) for part in zip(*moments, strict=True))
    last = int(blocks.generations.max())
    assert (generations[0], generations[-1], times[-1]) == (3, last, last)
    steps = np.diff(np.log2(times + 1))
    assert np.ptp(steps[steps > 0]) < 1e-9  # each doubling takes equally long
    assert (steps < 1e-9).sum() <= 30 / 4  # of a rest at the end, of a quarter of a second at most
    assert (generations == np.floor(times + 1e-6)).all()
    for generation, camera in zip(generations, cameras, strict=True):
        shown = blocks.take(blocks.generations <= generation)
        corners = shown.corners[:, None] + shown.size * np.array([[0.2] * 3, [0.8] * 3])
        if blocks.flat:
            corners = corners[:, :1] * [1, 1, 0] if blocks.lattice == "square" else np.zeros((1, 1, 3))
        across = camera.project(corners)[..., :2]
        assert (np.abs(across) <= [size[0] / size[1] + 1e-4, 1 + 1e-4]).all()
    assert np.allclose(cameras[-1].basis, view_of(blocks, growth.look).basis())


def test_a_growths_object_turns_as_on_a_turntable_while_it_grows_as_alone():
    alone, turned, table = (motion_of(Movie("edge:9", name, 24, look=LOOK)) for name in ("growth", "growth+turntable", "turntable"))
    for number in range(24):
        assert turned.moment(number) == alone.moment(number)
        assert np.allclose(turned.camera(number).basis, table.camera(number).basis)
    assert not np.allclose(alone.camera(0).basis, alone.camera(23).basis)


def test_the_newest_cells_light_what_is_around_them():
    look = replace(LOOK, resolution=(128, 96))
    growth = GrowthMotion(Movie("nim:31", "growth", 240, look=look))
    number = next(number for number in range(240) if growth.moment(number)[1] == 8)
    part, camera = growth.until(8), growth.camera(number)

    def light(growth, look):
        """What a frame has beyond the object's picture, 0 to 1."""
        base = glow_by_age(look.colours_of(part), part.generations, 8, look.drawn_theme)
        alone = renderer(part, look, "numpy", base).frame(camera, grown_caption(blocks_of("nim:31"), 8))
        return (np.asarray(growth.frame(number), float) - np.asarray(alone)) / 255

    newest = camera.on_picture(part.centres()[part.generations == 8], 128, 96)[:, None, None, :2]
    away = np.linalg.norm(np.indices((96, 128))[::-1].transpose(1, 2, 0) + 0.5 - newest, axis=-1).min(axis=0)
    rings = [float(light(growth, look)[(away >= near) & (away < near + 8)].mean()) for near in (0, 8, 16, 32)]
    assert rings == sorted(rings, reverse=True)
    assert rings[0] > max(0.005, 5 * rings[3])
    paper = replace(look, theme="paper")
    assert not light(GrowthMotion(Movie("nim:31", "growth", 240, look=paper)), paper).any()


@pytest.mark.parametrize(("source", "limit"), [("nim-4:8", 9999), ("edge:8", 60), ("nim:8", 30)])
def test_the_population_is_that_of_all_cells_of_an_object_that_is_projected_or_merged(source, limit):
    obj = prepare(blocks_of(source, limit=limit), Look())
    assert len(obj) < obj.population
    births = grow(source[:-2], 8).births.tolist()
    assert grown_caption(obj, 7) == f"generation 7    population {sum(births[:8]):,}"


def test_a_growth_that_leaps_ahead_is_in_view_at_once():
    """Cells far out in a generation between two at which the camera is fitted: it is there before them."""
    obj = blocks_of("nim:31")
    far = replace(obj, corners=np.where(obj.generations[:, None] == 20, 4 * obj.corners, obj.corners).astype(np.int32))
    growth = GrowthMotion(Movie(far, "growth", 60, look=LOOK))
    for number in range(60):
        across = growth.camera(number).project(far.centres()[far.generations <= growth.moment(number)[1]])[:, :2]
        assert (np.abs(across) < [64 / 48, 1]).all(), number


@pytest.mark.parametrize("view", ["-55,35", "130,20", "20,10", "200,-15"])
def test_a_clip_removes_what_is_before_a_plane_and_shows_its_section(view):
    """From the side of the eye, which sees the section as it is beside it, neither mirrored nor turned."""
    clip = motion_of(Movie("edge:7", "clip", 15, look=Look(resolution=(320, 180), quality="draft", engine="numpy", view=view)))
    obj, toward = clip.obj, clip.camera.basis[2]
    depths = -obj.corners[:, clip.axis] * np.sign(toward[clip.axis])
    layers = [clip.layer(number) for number in range(15)]
    assert layers == sorted(layers)
    assert (layers[0], layers[-1]) == (depths.min(), depths.max())
    here = depths == clip.layer(7)
    seen, beside = clip.camera.project(obj.centres()[here]), clip.front.project(clip.section.centres()[here])
    assert min(np.corrcoef(seen[:, k], beside[:, k])[0, 1] for k in (0, 1)) > 0.5
    assert seen[:, 0].max() < beside[:, 0].min()
    frame = np.asarray(clip.frame(7), float)
    x, y, _ = np.rint(clip.front.on_picture(clip.section.centres()[here], 320, 180) - 0.5).astype(int).T
    assert np.allclose(frame[y, x] / 255, clip.look.colours_of(obj)[here], atol=0.05)
    last = np.asarray(clip.frame(14), float)
    assert 0 < (last[:150, :150].max(axis=2) > 80).sum() < (frame[:150, :150].max(axis=2) > 80).sum()


def test_a_frame_does_not_depend_on_the_frames_before_it():
    movie = Movie("nim:7", "growth", 30, look=LOOK)
    one = motion_of(movie)
    other = motion_of(movie)
    numbers = (29, 3, 16, 0)
    drawn = {number: np.asarray(one.frame(number)) for number in numbers}
    assert all(np.array_equal(other.frame(number), drawn[number]) for number in reversed(numbers))


@pytest.mark.parametrize(("source", "engine"), [("edge:12", "numpy"), ("nim:40", "trace"), ("edge:12", "trace")])
def test_each_frame_of_a_growth_has_its_own_colours_and_its_newest_cells_glow(source, engine):
    look = Look(resolution=(120, 90), quality="draft", engine=engine)
    growing = GrowthMotion(Movie(source, "growth", 40, look=look))
    name, last = source.split(":")
    for generation in (7, int(last)):
        part, cells = growing.until(generation), blocks_of(f"{name}:{generation}")
        if isinstance(part, TracedObject):
            shown = part.colours(cells.corners.T.astype(np.int64), np.zeros(len(cells), np.int8))
        else:
            shown = glow_by_age(look.colours_of(part), part.generations, generation, look.drawn_theme)
        still, new = look.colours_of(cells), cells.generations == generation
        assert np.allclose(shown[new], 1.5 * still[new], atol=0.03)
        assert np.allclose(shown[0], still[0], atol=0.03)  # which has cooled
        assert (np.diff(shown[:, 0] / still[:, 0]) > -1e-6).all()


@pytest.mark.parametrize("engine", ["numpy", "trace"])
def test_a_cell_has_one_colour_and_a_legend_and_axes_one_scale_in_all_of_a_sweep(engine, monkeypatch):
    look, boxes = Look(resolution=(320, 180), quality="draft", engine=engine, legend=True, axes=True), set()
    monkeypatch.setattr("gpu_nim.render.annotations.draw_axes", lambda box, *rest: boxes.add(tuple(box.high.tolist())))
    sweep = Sweep(Movie("chocolate:a=1..8,size=15", "sweep", 8, look=look))
    cells = np.array([(x, 0, x) for x in range(16)])  # of every chocolate
    scales, legends = set(), set()
    for number in (0, 3, 7):
        obj, base = sweep.coloured(sweep.object_at(sweep.sweep[number]))
        corners = obj.outline.corners
        if isinstance(obj, TracedObject):
            base = obj.colours(corners.T.astype(np.int64), np.zeros(len(corners), np.int8))
        scales.add(np.array([base[(corners == cell).all(axis=1)][0] for cell in cells]).tobytes())
        legends.add(np.asarray(sweep.frame(number))[:140, 260:].tobytes())
    assert (len(scales), len(legends), boxes) == (1, 1, {(15, 15, 15)})
    assert len(np.unique(base, axis=0)) > 8


def test_a_sweep_makes_and_solves_one_game_a_frame():
    def draw():
        sweep = Sweep(Movie("chocolate:a=1..10,size=7", "sweep", 10, look=LOOK))
        for number in range(10):
            sweep.frame(number)

    found = calls(draw)
    assert [found[name] for name in ("parse_game", "InequalityGame.__post_init__", "InequalityGame.solve")] == [0, 10, 10]


@pytest.mark.parametrize("engine", ["numpy", "trace"])
def test_a_cut_object_fills_its_picture_whether_it_rests_or_grows(engine):
    look = Look(resolution=(160, 120), quality="draft", engine=engine, cut="half", view="200,20")
    still = np.asarray(render("edge:15", look, transparent=True).image)[..., 3] > 99
    grown = np.ptp(np.asarray(GrowthMotion(Movie("edge:15", "growth", 4, look=look)).frame(3), int), axis=2)[:104] > 60
    for obj, height in ((still, 0.86), (grown, 0.5)):  # the less for its words and since it turns
        _, _, top, bottom = frame(obj)
        assert bottom - top + 1 > height * 120


def pixels(path, mode="RGB"):
    with Image.open(path) as image:
        return [np.asarray(frame.convert(mode)) for frame in ImageSequence.Iterator(image)]


def test_frames_of_several_processes_are_those_of_one(tmp_path):
    for workers in (1, 2):
        make_movie("nim:7", tmp_path / f"{workers}.gif", LOOK, motion="growth", frames=8, rate=10, workers=workers)
    assert np.array_equal(pixels(tmp_path / "1.gif"), pixels(tmp_path / "2.gif"))


def test_an_interrupted_movie_leaves_the_one_before(tmp_path):
    path = tmp_path / "film.gif"
    for there in ([], [path.name]):
        with pytest.raises(KeyboardInterrupt):
            make_movie("nim:3", path, LOOK, frames=3, workers=1, progress=lambda what, done, total: interrupt(done == 2))
        assert os.listdir(tmp_path) == there
        make_movie("nim:3", path, LOOK, frames=3, workers=1)


def test_the_engine_is_chosen_once_for_all_workers(tmp_path):
    asked = []

    class Asked(Turntable):
        name, summary = "asked", "it notes its engine"

        def __init__(self, movie):
            asked.append(movie.look.engine)
            super().__init__(movie)

    MOTIONS["asked"] = Asked
    try:
        look = replace(LOOK, engine="auto")
        make_movie("nim:3", tmp_path / "a.gif", look, motion="asked", frames=2, workers=1)
        assert asked == [Movie("nim:3", look=look).engine] != ["auto"]
    finally:
        del MOTIONS["asked"]


@needs_ffmpeg
def test_an_mp4_says_bt709_in_its_container_and_in_its_stream(tmp_path):
    make_movie("nim:3", tmp_path / "a.mp4", LOOK, frames=2, rate=10)
    content = (tmp_path / "a.mp4").read_bytes()
    at = content.index(b"colrnclx") + 8
    primaries, transfer, matrix = (int.from_bytes(content[at + 2 * k : at + 2 * k + 2], "big") for k in range(3))
    assert (primaries, transfer, matrix, content[at + 6] >> 7) == (1, 1, 1, 0)  # ISO 14496-12, 12.1.5: BT.709, limited range
    bare = ["-c", "copy", tmp_path / "a.h264", "-f", "null", "-"]
    subprocess.run([ffmpeg(), "-v", "error", "-i", tmp_path / "a.mp4", *bare], check=True)
    told = subprocess.run([ffmpeg(), "-i", tmp_path / "a.h264", *bare[3:]], capture_output=True, text=True, check=True)
    assert "Video: h264 (High), yuv420p(tv, bt709, progressive)" in told.stderr


@needs_ffmpeg
def test_a_movie_has_the_colours_of_the_stills(tmp_path):
    look = Look(resolution=(64, 48), quality="draft", engine="numpy", title="Nim")
    make_movie("nim:3", tmp_path / "a.mp4", look, frames=2, rate=10)
    # A reader that takes it for BT.709, as players do, sees the drawn colours.
    command = [ffmpeg(), "-v", "error", "-i", str(tmp_path / "a.mp4"), "-frames:v", "1"]
    command += ["-vf", "scale=in_color_matrix=bt709:in_range=tv:out_range=pc", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    read = np.frombuffer(subprocess.run(command, capture_output=True, check=True).stdout, np.uint8).reshape(48, 64, 3)
    renderer = motion_of(Movie("nim:3", frames=2, look=look))
    drawn = np.asarray(renderer.frame(0), float)
    coarse = [picture.reshape(6, 8, 8, 8, 3).mean(axis=(1, 3)) for picture in (read.astype(float), drawn)]
    assert np.ptp(coarse[1], axis=(0, 1)).max() > 60
    assert np.abs(coarse[0] - coarse[1]).max() < 6


@needs_ffmpeg
@pytest.mark.parametrize("suffix", ["webm", "webp"])
def test_a_transparent_movie_has_the_pixels_of_the_stills(suffix, tmp_path):
    """Over any slide: a body and words without rims of another colour, and nothing beside them."""
    look = replace(LOOK, resolution=(320, 240), title="Nim", axes=True, transparent=True)
    file = tmp_path / f"a.{suffix}"
    make_movie("nim:7", file, look, frames=2, rate=10)
    command = [ffmpeg(), "-v", "error", "-c:v", "libvpx-vp9", "-i", file, "-frames:v", "1", "-vf"]
    command += ["scale=in_color_matrix=bt709:in_range=tv:out_range=pc", "-f", "rawvideo", "-pix_fmt", "rgba", "-"]
    decoded = suffix == "webm" and subprocess.run(command, capture_output=True, check=True).stdout
    read = np.frombuffer(decoded, np.uint8).reshape(240, 320, 4) if decoded else pixels(file, "RGBA")[0]
    drawn = np.asarray(motion_of(Movie("nim:7", frames=2, rate=10, look=look)).frame(0), float)
    body, beside = drawn[..., 3] == 255, drawn[..., 3] == 0
    assert (read[..., 3][body].min() > 240, read[..., 3][beside].max() < 16, read[:4, :4, 3].max()) == (True, True, 0)
    title = read[:40, :100][read[:40, :100, 3] > 99]
    assert len(title) > 60
    assert title[:, :3].min() > 180  # a rim is dark
    for slide in (0, 255):
        seen, expected = (slide + (each[..., :3] - slide) * each[..., 3:] / 255 for each in (read.astype(float), drawn))
        wrong = (seen - expected)[~body & ~beside]
        assert np.abs(wrong.mean(axis=0)).max() < 4, slide
        assert np.abs(wrong).mean() < 12, slide


def test_a_bar_of_cells_has_no_rim_on_a_transparent_picture():
    image, look = Image.new("RGBA", (640, 480)), replace(LOOK, resolution=(640, 480), transparent=True)
    draw_scale(image, look, 1.0)
    colours = np.asarray(image)
    drawn = colours[colours[..., 3] > 99][:, :3]
    assert len(drawn) > 300
    assert np.abs(drawn - 255 * np.array(look.drawn_theme.text)).max() < 4


@needs_ffmpeg
@pytest.mark.parametrize(
    ("motion", "source", "suffix", "codec"),
    [("turntable", "nim:7", "mp4", "h264"), ("sweep", "chocolate:a=1..8,size=7", "gif", "gif")],
)
def test_a_movie_has_its_size_its_frames_and_its_length(motion, source, suffix, codec, tmp_path):
    look = Look(resolution=(130, 90), quality="draft", engine="numpy")
    report = make_movie(source, tmp_path / f"a.{suffix}", look, motion=motion, frames=10, rate=20, workers=1)
    assert report["frames"] == 10
    command = [ffmpeg(), "-i", tmp_path / f"a.{suffix}", "-f", "null", "-"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert re.search(rf"Duration: 00:00:00\.5\d, .*Video: {codec}.*, 130x90.*, 20 fps.*frame= +10 ", said, re.DOTALL)
    assert [p.name for p in tmp_path.iterdir()] == [f"a.{suffix}"]


ANIMATED = Look(resolution=(98, 70), quality="draft", engine="numpy")


@pytest.fixture
def no_ffmpeg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", "none")


@pytest.mark.usefixtures("no_ffmpeg")
@pytest.mark.parametrize(("rate", "length"), [(7, 1000), (24, 292), (30, 233)])
@pytest.mark.parametrize("suffix", [".gif", ".webp"])
def test_an_animation_has_its_frames_its_length_and_its_colours(tmp_path: Path, suffix: str, rate: int, length: int) -> None:
    path = tmp_path / f"a{suffix}"
    make_movie("nim:7", path, ANIMATED, frames=7, rate=rate, workers=1)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    drawn, lasted, corners = motion_of(Movie("nim:7", frames=7, rate=rate, look=ANIMATED)), 0, set()
    with Image.open(path) as image:
        assert (image.size, image.info["loop"]) == ((98, 70), 0)
        for number, frame in enumerate(ImageSequence.Iterator(image)):
            shown = np.asarray(frame.convert("RGB"), float)
            lasted += frame.info["duration"]
            corners.add(shown[:6, :6].tobytes())  # which no object reaches
            expected = np.asarray(drawn.frame(number), float)
            coarse = [picture.reshape(10, 7, 14, 7, 3).mean(axis=(1, 3)) for picture in (shown, expected)]
            assert np.ptp(coarse[1], axis=(0, 1)).max() > 60
            # .webp has a quarter of the colours, .gif 256 of them; another frame differs by 190 and more, on average by 18.
            assert np.abs(coarse[0] - coarse[1]).max() < 25
            assert np.abs(coarse[0] - coarse[1]).mean() < 2
    assert number == 6
    assert suffix == ".webp" or len(corners) == 1  # what rests does not flicker
    assert abs(lasted - length) <= 10  # a .gif counts in hundredths of a second
    assert read_provenance(path).command.startswith("gpu_nim.render.make_movie(")
