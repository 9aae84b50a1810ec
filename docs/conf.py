"""The documentation site: `make docs` builds it from the repository's own Markdown.

The source folder is the root of the repository, so that links between documents, reports and
pictures are the same here and wherever else the files are read. Nothing is fetched, neither when
the site is built nor when it is looked at.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))  # the extensions beside this file

from importlib.metadata import version as installed  # noqa: E402

project = "wdro-cvx"
author = "The wdro-cvx authors"
project_copyright = "The wdro-cvx authors"
version = release = installed("wdro-cvx")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "extensions.mathml",
    "extensions.commands",
    "extensions.links",
    "extensions.accessible",
    "extensions.closed",
]
root_doc = "docs/index"
include_patterns = [
    "docs/**", "results/*/*.md",
    "CHANGELOG.md", "CONTRIBUTING.md", "RELEASING.md", "CODE_OF_CONDUCT.md",
]  # fmt: skip
exclude_patterns = [
    ".*",
    "build",
    "runs",
    "tests",
    "docs/gallery/*.ipynb",
    "docs/_*",
    "**.egg-info",
]
suppress_warnings = ["config.cache"]  # the gallery's settings hold a function
highlight_language = "none"  # of blocks that do not say theirs

# --- Markdown
myst_enable_extensions = ["attrs_inline", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

# --- API reference
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings have the types, and what they mean
autodoc_default_options = {"exclude-members": "set_fit_request, set_score_request"}
numpydoc_show_class_members = False
python_use_unqualified_type_names = True
add_module_names = False
default_role = "literal"

# --- Gallery
sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "docs/gallery",
    "filename_pattern": "/",
    "within_subsection_order": "extensions.order.place",
    "thumbnail_size": (640, 400),
    "abort_on_example_error": True,
    "reset_modules": (),  # else the look of our figures is forgotten after the first example
    "min_reported_time": 1e9,
    "show_memory": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "notebook_extensions": set(),
    "show_signature": False,
    "write_computation_times": False,
}

# --- Look
html_theme = "furo"
html_title = f"wdro-cvx {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
templates_path = ["_templates"]
html_additional_pages = {"index": "to_docs.html"}
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
