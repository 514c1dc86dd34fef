"""Directives that generate tables of the guide from the code: programs, launch files, settings."""

import contextlib
import dataclasses
import importlib
import io
import json
import re
import statistics
import subprocess
import sys
from abc import ABC, abstractmethod
from inspect import getdoc
from pathlib import Path
from typing import ClassVar
from xml.etree import ElementTree

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.statemachine import StringList

import imu_simulation_framework
from imu_simulation_framework.commands import imu_catalogue
from imu_simulation_framework.commands.start import run_program
from imu_simulation_framework.core.csv_files import CSV_FILES
from imu_simulation_framework.drive.report import FIGURE_SECTIONS
from imu_simulation_framework.heading.yaw_comparison import ComparisonSettings
from imu_simulation_framework.recordings import column_maps
from imu_simulation_framework.recordings.layouts import bundled_layouts
from imu_simulation_framework.sensors import files

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = imu_simulation_framework.__name__
NODES = "Nodes, which launch files start"


def _cell(content):
    """Return the nodes of a cell, whose content is a text or a list of nodes."""
    return [nodes.paragraph(content, content)] if isinstance(content, str) else content


def _literal(text):
    return [nodes.paragraph("", "", nodes.literal(text, text))] if text else []


def make_table(header, rows, widths):
    """Create a docutils table.

    Parameters
    ----------
    header : sequence of str
        Texts of the first row.
    rows : iterable of sequence
        Cells, each a text or a list of nodes.
    widths : sequence of int
        Widths of the columns [%].

    Returns
    -------
    docutils.nodes.table
    """
    group = nodes.tgroup(cols=len(header))
    group += [nodes.colspec(colwidth=width) for width in widths]
    for part, contents in ((nodes.thead(), [header]), (nodes.tbody(), rows)):
        for cells in contents:
            part += nodes.row("", *(nodes.entry("", *_cell(cell)) for cell in cells))
        group += part
    return nodes.table("", group, classes=["generated", "colwidths-given"])


def _section(title, *children):
    section = nodes.section(ids=[nodes.make_id(title)], names=[nodes.fully_normalize_name(title)])
    section += [nodes.title(title, title), *children]
    return section


def _describe_program(name, summary, described):
    """Return the section of a program: its description and its options."""
    section = _section(name)
    sentence = f"{summary[0].upper()}{summary[1:]}."
    section += nodes.paragraph(sentence, sentence)
    description = described["description"].strip()
    if description:
        block = nodes.literal_block(description, description, language="text", classes=["wrapped"])
        section += block
    if described["options"]:
        section += make_table(
            ("option", "value", "meaning"),
            [
                (_literal(option["name"]), _literal(option["values"]), option["help"])
                for option in described["options"]
            ],
            (28, 20, 52),
        )
    return section


def _program_groups():
    """Return the programs of ``./run --help``: heading -> name -> summary."""
    usage = (ROOT / "run").read_text(encoding="utf-8").partition("cat <<'END'")[2]
    groups: dict[str, dict[str, str]] = {}
    heading = ""
    for line in usage.partition("\nEND\n")[0].splitlines():
        program = re.match(r"  (\w+\.py) +(\S.*)", line)
        if program and heading:
            groups.setdefault(heading, {})[program[1]] = program[2]
        else:
            heading = line.strip()
    return groups


class ProgramReference(Directive):
    """All programs with their options, in the groups of ``./run --help``."""

    def run(self):
        programs = json.loads(
            subprocess.run(
                [sys.executable, str(ROOT / "doc" / "program_help.py")],
                stdout=subprocess.PIPE,
                check=True,
            ).stdout
        )
        sections = []
        for heading, names in _program_groups().items():
            section = _section(heading)
            for name, summary in names.items():
                section += _describe_program(name, summary, programs.pop(name))
            sections.append(section)
        rest = _section(NODES)
        rest += make_table(
            ("node", "meaning"),
            [
                (_literal(name), " ".join(described["description"].split("\n\n")[0].split()))
                for name, described in programs.items()
                if described["description"]
            ],
            (28, 72),
        )
        for section in [*sections, rest]:
            for part in section.findall(nodes.section):
                self.state.document.note_implicit_target(part, part)
        return [*sections, rest]


class LaunchArguments(Directive):
    """Arguments of a launch file: ``{launch-arguments} airborne``."""

    required_arguments = 1

    def run(self):
        path = ROOT / "launch" / f"{self.arguments[0]}.launch"
        if not path.is_file():
            raise self.error(f"{path.name}: no such launch file")
        arguments = ElementTree.parse(path).getroot().findall("arg")
        rows = [
            (
                _literal(f"{argument.get('name')}:="),
                _literal(argument.get("default") or ""),
                argument.get("doc") or "",
            )
            for argument in arguments
            if argument.get("value") is None
        ]
        return [make_table(("argument", "default", "meaning"), rows, (24, 20, 56))]


def _find(dotted):
    module, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(f"{PACKAGE}.{module}"), name)


def parameters_of(docstring):
    """Parse the parameters in a numpydoc docstring.

    Parameters
    ----------
    docstring : str
        Docstring with a section ``Parameters`` or ``Attributes``.

    Returns
    -------
    list of (list of str, str, str)
        Names, type and description of each parameter.
    """
    match = re.search(
        r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", docstring, re.M | re.S
    )
    entries = []
    for line in (match[1] if match else "").splitlines():
        if re.match(r"\S", line):
            names, _, kind = line.partition(" : ")
            entries.append((names.strip().split(", "), kind.strip(), []))
        elif entries:
            entries[-1][2].append(line.strip())
    return [(names, kind, " ".join(text).strip()) for names, kind, text in entries]


def _default_text(field):
    """Return a short text for the default of a field, in YAML notation."""
    value = field.default
    if value is dataclasses.MISSING:
        return "required" if field.default_factory is dataclasses.MISSING else ""
    if dataclasses.is_dataclass(value):
        return ""
    if value is None or value == "" or value == ():
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        if dataclasses.is_dataclass(value[0]):
            return ""
        if len(set(map(str, value))) == 1 and not isinstance(value[0], tuple):
            return _number_text(value[0])
        if value and isinstance(value[0], tuple):
            return "identity" if value[0][0] == 1.0 else "0"
        return ", ".join(map(_number_text, value))
    return _number_text(value)


def _number_text(value):
    return f"{value:g}" if isinstance(value, float) else str(value)


class SettingsKeys(Directive):
    """Table of the keys of a YAML file, from the fields of a settings class, in ``{eval-rst}``.

    ::

        .. settings-keys:: sensors.imu_specification.TriadSpecification
           :skip: name
    """

    required_arguments = 1
    option_spec: ClassVar = {"skip": directives.unchanged}

    def run(self):
        settings = _find(self.arguments[0])
        # References in the docstring are relative to its module.
        context = self.state.document.settings.env.ref_context
        context["py:module"] = settings.__module__
        fields = {field.name: field for field in dataclasses.fields(settings)}
        skipped = self.options.get("skip", "").split()
        rows = []
        for names, kind, text in parameters_of(getdoc(settings)):
            defaults = {}
            for name in names:
                if name in fields and name not in skipped:
                    defaults.setdefault(_default_text(fields[name]), []).append(name)
            for default, alike in defaults.items():
                inlines, messages = self.state.inline_text(text, self.lineno)
                meaning = [nodes.paragraph(text, "", *inlines), *messages]
                keys = [paragraph for name in alike for paragraph in _literal(name)]
                rows.append((keys, meaning, kind, _literal(default)))
        if not rows:
            raise self.error(f"{self.arguments[0]}: the docstring documents no field")
        del context["py:module"]
        return [make_table(("key", "meaning", "value", "default"), rows, (26, 44, 15, 15))]


class ModuleText(Directive):
    """Docstring of a module without its summary line, in ``{eval-rst}``."""

    required_arguments = 1

    def run(self):
        module = importlib.import_module(f"{PACKAGE}.{self.arguments[0]}")
        lines = getdoc(module).partition("\n\n")[2].splitlines()
        self.state_machine.insert_input([*lines, ""], module.__name__)
        return []


class CsvFiles(Directive):
    """All CSV files: a list with links, then a table of the columns of each file."""

    def run(self):
        names = [file.name for file in CSV_FILES]
        titles = [
            f"{file.name} of {file.program}" if names.count(file.name) > 1 else file.name
            for file in CSV_FILES
        ]
        sections, rows = [], []
        for file, title in zip(CSV_FILES, titles):
            section = self._describe_file(file, title)
            link = nodes.reference("", "", nodes.literal(file.name, file.name))
            link["refid"] = section["ids"][0]
            link["internal"] = True
            content, messages = self.state.inline_text(file.content, self.lineno)
            rows.append(
                (
                    [nodes.paragraph("", "", link)],
                    _literal(file.program),
                    [nodes.paragraph("", "", *content), *messages],
                )
            )
            sections.append(section)
        return [make_table(("file", "program", "content"), rows, (26, 24, 50)), *sections]

    def _describe_file(self, file, title):
        section = _section(title)
        self.state.document.note_implicit_target(section, section)
        columns = [
            (
                _literal(column.name),
                column.unit,
                f"{column.meaning} (optional)" if column.is_optional else column.meaning,
            )
            for column in file.columns
        ]
        section += make_table(("column", "unit", "meaning"), columns, (30, 20, 50))
        return section


class DeclaredTable(Directive):
    """Table of the entries of a constant, with their names in the first column.

    ::

        ```{declared-table} recordings.plausibility.findings.FAULTS
        :header: finding, evidence
        :widths: 30 70
        ```

    The constant is a mapping to texts, a mapping to tuples of texts, or a sequence of tuples of
    texts. On a Markdown page, the texts are Markdown.
    """

    required_arguments = 1
    option_spec: ClassVar = {
        "header": directives.unchanged_required,
        "widths": directives.positive_int_list,
    }

    def run(self):
        constant = _find(self.arguments[0])
        if hasattr(constant, "items"):
            constant = [
                (name, *([text] if isinstance(text, str) else text))
                for name, text in constant.items()
            ]
        rows = [(_literal(name), *map(self._inline, texts)) for name, *texts in constant]
        header = [title.strip() for title in self.options["header"].split(",")]
        return [make_table(header, rows, self.options["widths"])]

    def _inline(self, text):
        inlines, messages = self.state.inline_text(text, self.lineno)
        return [nodes.paragraph(text, "", *inlines), *messages]


class _MarkdownText(Directive, ABC):
    """Markdown page content that is generated by code."""

    def run(self):
        container = nodes.Element()
        lines = StringList(self.text().splitlines())
        self.state.nested_parse(lines, self.content_offset, container, match_titles=1)
        for table in container.findall(nodes.table):
            table["classes"].append("numbers")
        return container.children

    @abstractmethod
    def text(self):
        """Return the content as Markdown."""


class ImuCatalogue(_MarkdownText):
    """Bundled IMUs with key figures, heading errors and documents."""

    def text(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            run_program("imu_catalogue", ["--table", "markdown"])
        documents = [
            f"| `{entry.specification.name}` | {entry.source} |" for entry in files.imu_catalogue()
        ]
        header = ["", "| IMU | document |", "| --- | --- |"]
        return "\n".join([printed.getvalue().partition("\n")[2], *header, *documents])


class MeasuredImus(_MarkdownText):
    """Measured values of IMUs, excluded values, and their sources."""

    def text(self):
        return imu_catalogue.measured_tables(files.imu_catalogue())


class Quantities(Directive):
    """Quantities of column maps; those with the same units and uses share a row."""

    def run(self):
        groups = {}
        for quantity in column_maps.QUANTITIES.values():
            uses = ", ".join(
                kind for kind, names in column_maps.USES.items() if quantity.name in names
            )
            units = ", ".join(filter(None, quantity.units))
            groups.setdefault((units, uses), []).append(quantity)
        rows = [
            (
                [paragraph for quantity in alike for paragraph in _literal(quantity.name)],
                [nodes.paragraph("", quantity.meaning) for quantity in alike],
                _literal(units),
                uses,
            )
            for (units, uses), alike in groups.items()
        ]
        header = ("quantity", "meaning", "units, the first by default", "used for")
        words = ", ".join(column_maps.ANGLE_WORDS)
        behind = f"Words behind the unit of a yaw, heading or course: {words}."
        return [make_table(header, rows, (18, 34, 26, 22)), nodes.paragraph("", behind)]


class RecordingLayouts(Directive):
    """Bundled layouts of recordings, with the quantities that they map and their documents."""

    def run(self):
        rows = [
            (layout.name, _literal(", ".join(layout.header)), layout.source)
            for layout in bundled_layouts()
        ]
        return [make_table(("logger", "recognised by", "source"), rows, (24, 38, 38))]


class MessageFiles(_MarkdownText):
    """Definitions of the package's ROS messages and services."""

    def text(self):
        lines = []
        for path in sorted([*ROOT.glob("msg/*.msg"), *ROOT.glob("srv/*.srv")]):
            definition = path.read_text(encoding="utf-8").rstrip()
            lines += ["```{code-block} text", f":caption: {path.relative_to(ROOT)}", ""]
            lines += [definition, "```", ""]
        return "\n".join(lines)


class FigureSections(Directive):
    """Figures of an experiment, with the explanations of its report."""

    def run(self):
        window = ComparisonSettings().median_window
        rows = [
            (_literal(name), heading, explanation.format(window=window))
            for name, (heading, explanation) in FIGURE_SECTIONS.items()
        ]
        return [make_table(("figure", "title", "how to read it"), rows, (26, 22, 52))]


class Dependencies(Directive):
    """Python libraries in a requirements file, with the comments above them."""

    required_arguments = 1

    def run(self):
        lines = (ROOT / self.arguments[0]).read_text(encoding="utf-8").splitlines()
        rows, comment, is_comment = [], [], False
        for line in lines:
            if line.startswith("#"):
                comment = [*(comment if is_comment else []), line[1:].strip()]
                is_comment = True
            elif line and not line.startswith("-"):
                library = re.split(r"[=;\[]", line)[0]
                if rows and rows[-1][1] is comment:
                    rows[-1][0].setdefault(library)
                else:
                    rows.append(({library: None}, comment))
                is_comment = False
            else:
                comment, is_comment = [], False
        rows = [(_literal(", ".join(names)), " ".join(text)) for names, text in rows]
        return [make_table(("library", "reason"), rows, (28, 72))]


class BenchmarkRun(Directive):
    """Results of a saved run of ./run benchmark, and the machine on which it ran."""

    required_arguments = 1

    def run(self):
        run = json.loads((ROOT / self.arguments[0]).read_text(encoding="utf-8"))
        machine = ", ".join(f"{name} {value}" for name, value in run["machine"].items())
        text = (
            f"Median of {run['turns']} turns and range, measured on {run['date']} at a load of "
            f"{run['load at the start']:.1f} before the run: {machine}."
        )
        rows = [
            (
                row["name"],
                f"{statistics.median(row['values']):.3g} {row['unit']}",
                f"{min(row['values']):.3g} to {max(row['values']):.3g}",
                "" if row["bound"] is None else f"{row['bound']:g}",
            )
            for row in run["measurements"]
        ]
        table = make_table(("measurement", "median", "range", "bound"), rows, (50, 20, 18, 12))
        return [nodes.paragraph(text, text), table]


def add_directives(app):
    """Register the directives of this module.

    Parameters
    ----------
    app : sphinx.application.Sphinx
        Application.
    """
    app.add_directive("program-reference", ProgramReference)
    app.add_directive("launch-arguments", LaunchArguments)
    app.add_directive("settings-keys", SettingsKeys)
    app.add_directive("module-text", ModuleText)
    app.add_directive("csv-files", CsvFiles)
    app.add_directive("declared-table", DeclaredTable)
    app.add_directive("imu-catalogue", ImuCatalogue)
    app.add_directive("measured-imus", MeasuredImus)
    app.add_directive("quantities", Quantities)
    app.add_directive("recording-layouts", RecordingLayouts)
    app.add_directive("message-files", MessageFiles)
    app.add_directive("figure-sections", FigureSections)
    app.add_directive("dependencies", Dependencies)
    app.add_directive("benchmark-run", BenchmarkRun)
