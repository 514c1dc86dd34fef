"""Rendering of figures as files, optionally in a second process."""

from __future__ import annotations

import contextlib
import gc
import os
import traceback
from typing import Iterator, NamedTuple, Sequence

from ..core.errors import FrameworkError
from ..core.programs import SeparateProcess
from ..core.whole_files import render_figure
from .figure import Figure


class RenderedFigure(NamedTuple):
    """Content of the files of one figure.

    Attributes
    ----------
    contents : dict of str to bytes
        Content of the file in each format.
    failure : str
        Reason why the figure could not be drawn; empty if it was drawn.
    """

    contents: dict[str, bytes]
    failure: str = ""


class FigureRenderer:
    """Renderer of figures, which can run in a separate process."""

    def load(self) -> None:
        """Import matplotlib in advance; an import error is reported with the first figure."""
        with contextlib.suppress(ImportError):
            from . import drawing  # noqa: F401
        # A matplotlib figure contains reference cycles, so only a garbage collection frees its
        # memory. The collection after each figure excludes objects that exist now.
        gc.freeze()

    def render(self, figure: Figure, footer: str, formats: Sequence[str]) -> RenderedFigure:
        """Render a figure.

        Parameters
        ----------
        figure : Figure
            Description of the figure.
        footer : str
            Text below the panels.
        formats : sequence of str
            Formats in :data:`.FIGURE_FORMATS`.

        Returns
        -------
        RenderedFigure
            Content of the figure's files. A defect in a figure is printed with its traceback.
        """
        try:
            return RenderedFigure(_draw(figure, footer, formats))
        except Exception as error:
            traceback.print_exc()
            return RenderedFigure({}, repr(error))
        finally:
            gc.collect()


def _draw(figure, footer, formats) -> dict[str, bytes]:
    # Imported on first use, so that programs without figures do not load matplotlib.
    from .drawing import to_matplotlib

    picture = to_matplotlib(figure, footer)
    return {format: render_figure(picture, format) for format in formats}


@contextlib.contextmanager
def second_renderer() -> Iterator[SeparateProcess | None]:
    """Start a process with a :class:`FigureRenderer`, if a second processor core is available.

    Yields
    ------
    SeparateProcess or None
        The process, which starts to import matplotlib; None if there is only one core.
    """
    if len(os.sched_getaffinity(0)) < 2:
        yield None
        return
    with SeparateProcess(__name__, FigureRenderer.__name__, "the drawing of figures") as process:
        process.start("load")
        yield process


def render_figures(
    figures: Iterator[tuple[str, Figure]],
    footer: str,
    formats: Sequence[str],
    second: SeparateProcess | None,
) -> Iterator[tuple[str, RenderedFigure]]:
    """Render figures, alternately in this process and in a second process.

    Parameters
    ----------
    figures : iterator of (str, Figure)
        Names and descriptions of the figures. Only two descriptions are in memory at a time.
    footer : str
        Text below the panels.
    formats : sequence of str
        Formats in :data:`.FIGURE_FORMATS`.
    second : SeparateProcess or None
        Process from :func:`second_renderer`. If it is None, this process renders all figures.

    Yields
    ------
    name : str
        Name of the figure.
    rendered : RenderedFigure
        Content of the figure's files.

    Notes
    -----
    If the second process ends, such as by the kernel for lack of memory, the figure that it renders
    is a failure. It is not rendered again, because it may have exhausted the memory. This process
    renders all later figures.
    """
    renderer, helper = FigureRenderer(), _SecondRenderer(second)
    helper.wait()
    renderer.load()
    try:
        for name, figure in figures:
            other, next_figure = next(figures, ("", None)) if helper.is_running else ("", None)
            is_started = next_figure is not None and helper.start(next_figure, footer, formats)
            yield name, renderer.render(figure, footer, formats)
            if is_started:
                yield other, helper.wait()
            elif next_figure is not None:
                yield other, renderer.render(next_figure, footer, formats)
    finally:
        gc.unfreeze()


class _SecondRenderer:
    """Second process, or none; failures of the process are returned instead of raised."""

    def __init__(self, process: SeparateProcess | None) -> None:
        self._process = process

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def start(self, figure: Figure, footer: str, formats: Sequence[str]) -> bool:
        """Start rendering a figure; return False if the process has ended."""
        assert self._process is not None
        try:
            self._process.start("render", figure, footer, formats)
        except FrameworkError:
            self._process = None
        return self.is_running

    def wait(self) -> RenderedFigure:
        """Return the figure that the process has rendered, or the reason why it could not."""
        if self._process is None:
            return RenderedFigure({})
        try:
            return self._process.wait()
        except FrameworkError as error:
            self._process = None
            return RenderedFigure({}, str(error))
