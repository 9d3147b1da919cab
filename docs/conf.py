"""How Sphinx builds the site; `scripts/docs` runs it, as do Read the Docs and GitHub Pages."""

import os
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

import pyvista  # noqa: E402
from catalogue_entries import REACH  # noqa: E402

from gpu_nim import __version__  # noqa: E402

project = "gpunim"
author = "The gpunim developers"
copyright = author
URLS = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
html_baseurl = URLS["Documentation"]
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.intersphinx",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "catalogues",
    "code_names",
    "formulas",
    "interactive",
    "paper",
    "reference_pages",
    "repository_links",
    "results",
]
exclude_patterns = ["_extensions", "examples/*.ipynb", "examples/*.py"]  # the examples are read as the .rst made of them
default_role = "obj"  # names in single backticks, as the docstrings write them: links where Sphinx knows the name
highlight_language = "text"
nitpicky = True
smartquotes = False  # which would make one dash of the two of an option
ONLINE = bool(os.environ.get("GPUNIM_DOCS_ONLINE") or os.environ.get("READTHEDOCS"))

# Pages are Markdown; those with code cells are executed, and cached by what is in them.
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath", "substitution"]
myst_heading_anchors = 4
myst_substitutions = {"version": version, "reach": REACH}
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE.parent / "build" / "docs" / "notebooks")
nb_execution_excludepatterns = ["notebook.ipynb"]  # tests/pictures/test_notebook.py executes it and compares what it holds
nb_execution_raise_on_error = True
nb_execution_timeout = 60

# The reference is read off the docstrings, which have Google's sections, and off the annotations.
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_typehints_format = "short"
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # attributes are described once, by their class
napoleon_use_rtype = False
python_use_unqualified_type_names = True

# Other projects' names are links where the site is built online, and plain text elsewhere.
intersphinx_mapping = (
    {
        name: (f"https://{home}/", None)
        for name, home in {
            "python": "docs.python.org/3",
            "numpy": "numpy.org/doc/stable",
            "cupy": "docs.cupy.dev/en/stable",
            "dask": "docs.dask.org/en/stable",
            "networkx": "networkx.org/documentation/stable",
            "PIL": "pillow.readthedocs.io/en/stable",
            "pyvista": "docs.pyvista.org",
            "zarr": "zarr.readthedocs.io/en/stable",
        }.items()
    }
    if ONLINE
    else {}
)
nitpick_ignore_regex = [
    (r"py:.*", r"(?!gpu_nim\b)[A-Za-z_]\w*\..*"),
    # Without a page, or for type checkers alone.
    (
        r"py:class",
        "Actor|Ancestry|Checkpoints|FontProperties|HostCounting|Image|ImageData|Matrix|Method|NDArray|Path|Plotter|Scene|Source|"
        "UnstructuredGrid|Value|Volume",
    ),
]

html_theme = "pydata_sphinx_theme"
html_title = "gpunim"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "_extensions" / "search_scores.js")
_ALONE = "changelog contributing faq formats glossary install notebook paper/index performance results tour"
html_sidebars = {page: [] for page in _ALONE.split()}
html_theme_options = {
    "logo": {"text": "gpunim"},
    "github_url": URLS["Repository"],
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# The scripts of examples/ are executed where they have changed, and their pictures collected.
pyvista.BUILDING_GALLERY = pyvista.OFF_SCREEN = True
sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "examples",
    "filename_pattern": "plot_",
    "image_scrapers": ("gallery_pictures", "pyvista", "matplotlib"),
    "abort_on_example_error": True,
    "default_thumb_file": str(HERE / "gallery" / "nim-63-pathtraced.jpg"),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}
