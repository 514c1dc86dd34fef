"""Directives of the guide that run programs of the package while Sphinx builds the pages."""

import fcntl
import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("IMU_SIMULATION_FRAMEWORK_BUILD") or ROOT / ".build").absolute()
CACHE = BUILD / "guide_programs"
BUNDLED = ("config", "config.ini", "data", "examples", "urdf")
"""Files and folders of the repository that commands may use."""
SOURCES = (
    *BUNDLED,
    *("src", "scripts", "offline_processing", "launch", "run"),
    *("requirements.txt", "constraints.txt"),
)
"""Files and folders of the repository on which the results of commands depend."""
MAX_AGE = 86400.0  # s; results of other versions of the code are removed after a day

KINDS = ("tutorials", "how_to", "reference", "explanation")
"""Folders of the pages in the order of the guide."""

TIME_LIMIT = 300.0  # s; a command usually takes seconds, but more time on a busy machine
OUTPUT = "{}.stdout"


_WORK_FOLDER = re.compile(re.escape(str(CACHE)) + r"/[^/\s]+/[^/\s]+/work")


class CommandError(Exception):
    """Failure of a command that a page runs."""


def _split_commands(lines):
    """Return the commands of a directive, each of which may span several lines."""
    text = "\n".join(lines).replace("\\\n", " ")
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


@functools.lru_cache(maxsize=1)
def _hash_sources(root):
    """Return a hash of the code and of the files that commands may use."""
    digest = hashlib.sha256()
    for name in SOURCES:
        top = root / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and "__pycache__" not in path.parts:
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                digest.update(f"{path.relative_to(root)}\n{content}\n".encode())
    return digest.hexdigest()[:16]


def _fingerprint(commands, files):
    """Return a hash of the commands and of the files that a page shows."""
    digest = hashlib.sha256()
    for name, text in sorted(files.items()):
        digest.update(f"{name}\n{text}\n".encode())
    for command in commands:
        digest.update(f"{command}\n".encode())
    return digest.hexdigest()[:16]


def _cache_folder():
    """Create the folder with the results of this version of the code; remove old versions."""
    folder = CACHE / _hash_sources(ROOT)
    if not folder.exists():
        oldest = time.time() - MAX_AGE
        for other in CACHE.glob("*"):
            if other.stat().st_mtime < oldest:
                if other.is_dir():
                    shutil.rmtree(other, ignore_errors=True)
                else:
                    other.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _run(command, folder, exit_code):
    """Run a command in a folder, and return its output."""
    words = [name for word in shlex.split(command) for name in _expand(word, folder)]
    if words[:1] != ["./run"]:
        raise CommandError(f"{command}: expected a command that begins with ./run")
    # Each command gets a separate ROS master, so that pages can be read in parallel.
    environment = {name: text for name, text in os.environ.items() if name != "ROS_MASTER_URI"}
    result = subprocess.run(
        [str(ROOT / "run"), *words[1:]],
        cwd=folder,
        env={**environment, "MPLBACKEND": "Agg", "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    if result.returncode != exit_code:
        raise CommandError(f"{command}: exit code {result.returncode}\n{result.stderr}")
    return result.stdout


def _expand(word, folder):
    """Expand a word with ``*`` to the matching files in a folder, as a shell does."""
    paths = sorted(folder.glob(word)) if "*" in word else []
    return [str(path.relative_to(folder)) for path in paths] or [word]


def run_commands(lines, exit_code=0, files=None):
    """Run commands in an empty folder, or reuse the results of an earlier build.

    Parameters
    ----------
    lines : sequence of str
        Commands, which begin with ``./run``.
    exit_code : int, optional
        Expected exit code of the last command.
    files : mapping of str to str, optional
        Contents of files that are created before the first command, by name.

    Returns
    -------
    commands : list of str
        Commands, each on one line.
    folder : Path
        Folder with the files that the commands wrote and their outputs.
    """
    commands = _split_commands(lines)
    folder = _cache_folder() / _fingerprint(commands, files or {})
    # If several processes need the same results, only one of them runs the commands.
    with open(folder.with_suffix(".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _fill(folder, commands, exit_code, files or {})
    return commands, folder


def _fill(folder, commands, exit_code, files):
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        work = Path(temporary) / "work"
        work.mkdir()
        for name in BUNDLED:
            (work / name).symlink_to(ROOT / name)
        for name, text in files.items():
            (work / name).write_text(text, encoding="utf-8")
        for number, command in enumerate(commands):
            code = exit_code if number == len(commands) - 1 else 0
            (work / OUTPUT.format(number)).write_text(_run(command, work, code), encoding="utf-8")
        for name in BUNDLED:
            (work / name).unlink()
        for bag in [*work.rglob("*.bag"), *work.rglob("*.mcap")]:
            bag.unlink()
        shutil.move(str(work), str(folder))


def _abbreviate(output, lines):
    """Return all lines of an output, its first N lines or, for a negative N, its last -N lines."""
    rows = output.rstrip().splitlines()
    if lines is None or len(rows) <= abs(lines):
        return rows
    return [*rows[:lines], "..."] if lines > 0 else ["...", *rows[lines:]]


def _page_files(directive):
    """Return the texts of the files that a page shows before a directive, by file name."""
    document = directive.state.document
    if not hasattr(document, "program_files"):
        document.program_files = {}
    return document.program_files


class ProgramFile(Directive):
    """File that a page shows, and that is in the folder of its subsequent commands.

    The argument is the name of the file, the content its text: ``{program-file} my_imu.yaml``.
    """

    has_content = True
    required_arguments = 1

    def run(self):
        name, text = self.arguments[0], "\n".join(self.content) + "\n"
        if Path(name).name != name:
            raise self.error(f"{name}: expected the name of a file without a folder")
        _page_files(self)[name] = text
        block = nodes.literal_block(text, text)
        block["language"] = {".yaml": "yaml", ".ini": "ini"}.get(Path(name).suffix, "text")
        wrapper = nodes.container("", literal_block=True, classes=["literal-block-wrapper"])
        wrapper += [nodes.caption(name, name), block]
        return [wrapper]


class _Programs(Directive):
    """Base class of directives with commands that a page runs."""

    has_content = True
    option_spec: ClassVar = {"exit-code": int, "lines": int}

    def _commands(self):
        self.assert_has_content()
        try:
            code = self.options.get("exit-code", 0)
            return run_commands(self.content, code, _page_files(self))
        except (CommandError, subprocess.TimeoutExpired) as error:
            raise self.error(str(error)) from error

    def _session(self, commands, folder, shows_output):
        """Return a block with the commands, and with their outputs if the page shows them."""
        lines, is_plain = [], False
        for number, command in enumerate(commands):
            lines.append(f"$ {command}")
            if shows_output:
                text = (folder / OUTPUT.format(number)).read_text(encoding="utf-8")
                text = _WORK_FOLDER.sub("...", text)
                rows = _abbreviate(text, self.options.get("lines"))
                is_plain = is_plain or any(row.startswith(("#", "$", "%")) for row in rows)
                lines += rows
        text = "\n".join(lines)
        block = nodes.literal_block(text, text, classes=["session"])
        # The console lexer would mistake such lines for commands.
        block["language"] = "text" if is_plain else "console"
        return block


class ProgramOutput(_Programs):
    """Directive that shows commands with their output.

    The content consists of commands, each of which begins with ``./run``. They run in a folder that
    contains only ``config``, ``data``, ``examples``, ``urdf`` and ``config.ini`` of the repository.

    ============= ============================================================================
    option        meaning
    ============= ============================================================================
    ``lines``     show the first N lines of each output, or with -N the last N lines
    ``exit-code`` expected exit code of the last command, if it is not 0
    ============= ============================================================================
    """

    def run(self):
        return [self._session(*self._commands(), shows_output=True)]


class ProgramFigure(_Programs):
    """Figure that a program draws: ``{program-figure} DIR/FILE.png``.

    The content consists of commands, as for :class:`ProgramOutput`. The argument is the file of the
    figure, which may contain ``*``.

    =========== ==============================================================================
    option      meaning
    =========== ==============================================================================
    ``alt``     text for readers who do not see the figure; required
    ``caption`` line below the figure
    ``width``   width of the figure, for example ``70%``
    ``show``    ``commands`` above the figure, or commands and their ``output``; by default none
    =========== ==============================================================================
    """

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {
        **_Programs.option_spec,
        "alt": directives.unchanged_required,
        "caption": directives.unchanged,
        "width": directives.length_or_percentage_or_unitless,
        "show": lambda argument: directives.choice(argument, ("commands", "output")),
    }

    def run(self):
        commands, folder = self._commands()
        path = folder / _expand(self.arguments[0], folder)[0]
        if not path.is_file():
            files = sorted(str(file.relative_to(folder)) for file in folder.rglob("*.png"))
            raise self.error(f"{self.arguments[0]}: no such figure; the commands drew {files}")
        if "alt" not in self.options:
            raise self.error(f"{self.arguments[0]}: the option alt is missing")
        environment = self.state.document.settings.env
        page = Path(environment.doc2path(environment.docname)).parent
        figures = environment.metadata[environment.docname].setdefault("program_figures", [])
        figures.append((str(path), self.options["alt"]))
        image = nodes.image(uri=os.path.relpath(path, page), alt=self.options["alt"])
        if "width" in self.options:
            image["width"] = self.options["width"]
        figure = nodes.figure("", image)
        if "caption" in self.options:
            inlines, messages = self.state.inline_text(self.options["caption"], self.lineno)
            figure += nodes.caption(self.options["caption"], "", *inlines)
            figure += messages
        show = self.options.get("show")
        return [self._session(commands, folder, show == "output"), figure] if show else [figure]


class _Gallery(nodes.General, nodes.Element):
    """Placeholder of a gallery until all pages have been read."""


class FigureGallery(Directive):
    """All figures that programs draw for pages, each with a link to its page."""

    def run(self):
        return [_Gallery()]


def _gallery_order(page):
    """Return the sort key of a page in the gallery, whose order is that of the guide."""
    kind = page.partition("/")[0]
    return (KINDS.index(kind) if kind in KINDS else len(KINDS), page)


def _fill_galleries(app, doctree, docname):
    """Replace the placeholders of galleries with figures."""
    for place in list(doctree.findall(_Gallery)):
        gallery = nodes.container(classes=["gallery"])
        shown = set()
        for page in sorted(app.env.found_docs, key=_gallery_order):
            for path, alt in app.env.metadata[page].get("program_figures", []):
                if path in shown:
                    continue
                shown.add(path)
                uri = os.path.relpath(path, app.srcdir)
                image = nodes.image(uri=uri, candidates={"*": uri}, alt=alt)
                target = app.builder.get_relative_uri(docname, page)
                title = app.env.titles[page].astext()
                gallery += nodes.figure(
                    "",
                    nodes.reference("", "", image, refuri=target, internal=True),
                    nodes.caption("", "", nodes.reference("", title, refuri=target, internal=True)),
                    nodes.legend("", nodes.paragraph("", f"{alt}.")),
                    ids=[f"figure-{len(shown)}"],
                )
        place.replace_self(gallery)


def add_directives(app):
    """Register the directives of this module.

    Parameters
    ----------
    app : sphinx.application.Sphinx
        Application.
    """
    app.add_node(_Gallery)
    app.add_directive("program-file", ProgramFile)
    app.add_directive("program-figure", ProgramFigure)
    app.add_directive("program-output", ProgramOutput)
    app.add_directive("figure-gallery", FigureGallery)
    app.connect("doctree-resolved", _fill_galleries)
