"""Sphinx configuration of the guide and the API reference, which ./run docs builds."""

import ast
import importlib.util
import sys
from inspect import getdoc, unwrap
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "imu_simulation_framework"
LIBRARY = ROOT / "src" / PACKAGE
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "doc")]

import generated_tables  # noqa: E402
import guide_directives  # noqa: E402

import imu_simulation_framework  # noqa: E402
from imu_simulation_framework.drive.configuration_text import describe_sections  # noqa: E402

project = "IMU simulation framework"
release = imu_simulation_framework.__version__
author = f"the authors of {PACKAGE}"
copyright = author

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
# Each example is run, and shown with the figures that it draws.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "examples",
    "filename_pattern": "",
    "copyfile_regex": "",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "run_stale_examples": True,
    "min_reported_time": 1e6,
    "abort_on_example_error": True,
}
html_theme = "furo"
html_title = project
# The extension in sphinx-mathjax-offline would prevent Sphinx from reading pages in parallel.
mathjax = importlib.util.find_spec("sphinx-mathjax-offline")
html_static_path = ["_static", str(Path(mathjax.origin).parent / "static")]
mathjax_path = "mathjax/tex-chtml.js"
html_css_files = ["guide.css"]
html_show_sphinx = False
html_copy_source = False
exclude_patterns = ["README.md", "**sg_execution_times.rst"]
pygments_style = "friendly"
root_doc = "index"

# Headings up to this level get the same anchors as on GitHub.
myst_heading_anchors = 4
# Equations between $ or $$ signs, which MathJax renders without network access.
myst_enable_extensions = ["dollarmath", "amsmath"]

# Modules that exist only on a machine with ROS.
autodoc_mock_imports = [
    *(
        "controller_manager_msgs",
        "diagnostic_msgs",
        "dynamic_reconfigure",
        "gazebo_msgs",
        "genpy",
        "geometry_msgs",
    ),
    *("geometry_msgs", "nav_msgs", "rosbag", "rosgraph", "rosgraph_msgs", "roslaunch", "roslib"),
    *("rospkg", "rospy"),
    *("ament_index_python", "launch", "launch_ros", "rcl_interfaces", "rclpy"),
    *("sensor_msgs", "std_msgs", "std_srvs", "tf2_msgs", "tf2_ros"),
    *(f"{PACKAGE}.msg", f"{PACKAGE}.srv"),
]
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True, "ignore-module-all": True}
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
add_module_names = False
# An unresolved reference in a docstring is an error; see also _only_explicit below.
nitpicky = True
_OF_OTHERS = "abc|allantools|argparse|numpy|pandas|rclpy|rospy|scipy|tqdm|yaml"
nitpick_ignore_regex = [("py:.*", rf"({_OF_OTHERS})\..*")]
python_use_unqualified_type_names = True


def _modules(package):
    """Return the dotted names of a package's modules."""
    files = sorted((LIBRARY / package).rglob("*.py"), key=lambda path: (path.parent, path.stem))
    files = [path for path in files if path.stem != "__init__"]
    return [".".join(path.relative_to(LIBRARY.parent).with_suffix("").parts) for path in files]


def _table(rows):
    """Return the lines of a table that contains references with their summaries."""
    lines = [".. list-table::", "   :widths: 35 65", ""]
    for reference, summary in rows:
        lines += [f"   * - {reference}", f"     - {summary}"]
    return [*lines, ""]


def _summary(docstring):
    """Return a docstring's first paragraph on one line."""
    return " ".join(docstring.partition("\n\n")[0].split())


def _docstring(module):
    place = (LIBRARY.parent / module.replace(".", "/")).with_suffix(".py")
    place = place if place.exists() else place.with_suffix("") / "__init__.py"
    return ast.get_docstring(ast.parse(place.read_text(encoding="utf-8")))


class Package(Directive):
    """All modules of a package, each under a heading: ``.. package:: motion``."""

    required_arguments = 1

    def run(self):
        package = self.arguments[0]
        titles = {name: name.partition(".")[2] for name in _modules(package)}
        lines = [_summary(_docstring(f"{PACKAGE}.{package}")), ""]
        lines += _table(
            (f":py:mod:`{title} <{name}>`", _summary(_docstring(name)))
            for name, title in titles.items()
        )
        for name, title in titles.items():
            lines += [title, "-" * len(title), "", f".. automodule:: {name}", ""]
        self.state_machine.insert_input(lines, f"package {package}")
        return []


class FrontDoor(Directive):
    """Public names of the package, or additional names of a subpackage, with their summaries."""

    optional_arguments = 1

    def run(self):
        isf, inside = imu_simulation_framework, "".join(self.arguments)
        names = set(getattr(isf, inside).__all__) - set(isf.__all__) if inside else isf.__all__
        things = {
            name: unwrap(getattr(getattr(isf, inside) if inside else isf, name))
            for name in sorted(names)
            if not name.startswith("_")
        }
        lines = _table(
            (f":py:obj:`{name} <{thing.__module__}.{thing.__qualname__}>`", _summary(getdoc(thing)))
            for name, thing in things.items()
            if hasattr(thing, "__qualname__")
        )
        self.state_machine.insert_input(lines, "front door")
        return []


class ConfigurationSections(Directive):
    """All sections of config.ini, each with a table of its keys, for a Markdown page."""

    def run(self):
        lines = []
        for section in describe_sections():
            introduction = section.introduction.replace(
                "doc/reference/recording_formats.md",
                "[Recording formats](recording_formats.md#column-maps)",
            )
            lines += [f"## [{section.name}]", "", introduction, ""]
            if section.examples:
                lines += ["```ini", *section.examples, "```", ""]
            if section.keys:
                lines += ["| key | meaning | values | default |", "| --- " * 4 + "|"]
                lines += [_configuration_row(key) for key in section.keys]
                lines.append("")
        container = nodes.Element()
        self.state.nested_parse(StringList(lines), self.content_offset, container, match_titles=1)
        return container.children


def _configuration_row(key):
    """Return the row of a Markdown table for a key of config.ini."""
    meaning, values = key.meaning, key.values
    if key.choices:
        kind, _, _ = values.partition(":")
        choices = ", ".join(
            f"`{choice}`" + (f" ({about})" if about else "")
            for choice, about in key.choices.items()
        )
        meaning, values = f"{meaning} {kind.capitalize()}: {choices}.", ""
    for phrase, short in _SHORT_VALUES.items():
        values = values.replace(phrase, short)
    default = f"`{key.default}`" if key.default else ""
    return f"| `{key.name}` | {meaning} | {values} | {default} |"


_SHORT_VALUES = {
    "a number from ": "",
    "a number of ": "",
    "a whole number from ": "whole, ",
    "a whole number of ": "whole, ",
    "a positive number of ": "positive, ",
    "a positive number": "positive",
    "a number": "",
}
"""Phrases in descriptions of values -> short forms for the tables of config.ini."""


def _only_explicit(app, domain, node):
    """Ignore unresolved words in the type of a parameter, such as ``path-like``."""
    return None if isinstance(node[0], nodes.literal) else True


def _no_fields_of_tuples(app, what, name, thing, skip, options):
    """Omit the fields of a named tuple, since its docstring documents them."""
    return True if type(thing).__name__ == "_tuplegetter" else None


def setup(app):
    """Register the directives, and the handlers that omit members and warnings."""
    app.connect("autodoc-skip-member", _no_fields_of_tuples)
    app.connect("warn-missing-reference", _only_explicit)
    app.add_directive("package", Package)
    app.add_directive("front-door", FrontDoor)
    app.add_directive("configuration-sections", ConfigurationSections)
    generated_tables.add_directives(app)
    guide_directives.add_directives(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
