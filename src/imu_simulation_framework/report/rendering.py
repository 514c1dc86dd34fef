"""Rendering of figures as files, optionally in a second process."""

from __future__ import annotations

import contextlib
import gc
import os
import traceback
from typing import Iterator, NamedTuple, Sequence

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

    Raises
    ------
    FrameworkError
        The second process has ended, or there is not enough memory.
    """
    renderer = FigureRenderer()
    if second is not None:
        second.wait()
    renderer.load()
    try:
        for name, figure in figures:
            other = _start_next(figures, footer, formats, second)
            yield name, renderer.render(figure, footer, formats)
            if second is not None and other:
                yield other, second.wait()
    finally:
        gc.unfreeze()


def _start_next(figures, footer, formats, second) -> str:
    """Start the next figure in the second process; return its name, empty if there is none."""
    name, figure = ("", None) if second is None else next(figures, ("", None))
    if figure is not None:
        second.start("render", figure, footer, formats)
    return name
