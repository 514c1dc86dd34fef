"""Rendering of figures as files, optionally in a second process."""

from __future__ import annotations

import contextlib
import gc
import os
import traceback
from typing import Iterable, Iterator, NamedTuple, Sequence

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


def render_figures(
    figures: Iterable[Figure], footer: str, formats: Sequence[str]
) -> Iterator[RenderedFigure]:
    """Render figures one after another.

    Parameters
    ----------
    figures : iterable of Figure
        Descriptions of the figures.
    footer : str
        Text below the panels.
    formats : sequence of str
        Formats in :data:`.FIGURE_FORMATS`.

    Yields
    ------
    RenderedFigure
        Content of the figure's files. A defect in a figure is printed with its traceback.
    """
    # A matplotlib figure contains reference cycles, so only a garbage collection frees its memory.
    # gc.freeze excludes existing objects from the garbage collection after each figure.
    gc.freeze()
    try:
        for figure in figures:
            yield _render(figure, footer, formats)
            gc.collect()
    finally:
        gc.unfreeze()


def _render(figure, footer, formats):
    try:
        # Imported on first use, so that programs without figures do not load matplotlib.
        from .drawing import to_matplotlib

        picture = to_matplotlib(figure, footer)
        return RenderedFigure({format: render_figure(picture, format) for format in formats})
    except Exception as error:
        traceback.print_exc()
        return RenderedFigure({}, repr(error))


class FigureRenderer:
    """Renderer of figures, to be run in a separate process."""

    def load(self) -> None:
        """Import matplotlib in advance; an import error is reported with the first figure."""
        with contextlib.suppress(ImportError):
            from . import drawing  # noqa: F401

    def render(
        self, figures: Sequence[Figure], footer: str, formats: Sequence[str]
    ) -> list[RenderedFigure]:
        """Render several figures.

        Parameters
        ----------
        figures : sequence of Figure
            Descriptions of the figures.
        footer : str
            Text below the panels.
        formats : sequence of str
            Formats in :data:`.FIGURE_FORMATS`.

        Returns
        -------
        list of RenderedFigure
            Content of the files of each figure.
        """
        return list(render_figures(figures, footer, formats))


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


def render_in_two_processes(
    figures: Sequence[Figure],
    footer: str,
    formats: Sequence[str],
    second: SeparateProcess | None,
) -> Iterator[tuple[int, RenderedFigure]]:
    """Render figures, half of them in a second process.

    Parameters
    ----------
    figures : sequence of Figure
        Descriptions of the figures.
    footer : str
        Text below the panels.
    formats : sequence of str
        Formats in :data:`.FIGURE_FORMATS`.
    second : SeparateProcess or None
        Process from :func:`second_renderer`. If it is None, this process renders all figures.

    Yields
    ------
    index : int
        Index of the figure in ``figures``.
    rendered : RenderedFigure
        Content of the figure's files.

    Raises
    ------
    FrameworkError
        The second process has ended, or there is not enough memory.
    """
    step = 1 if second is None else 2
    if second is not None:
        second.wait()
        second.start("render", figures[1::2], footer, formats)
    yield from zip(range(0, len(figures), step), render_figures(figures[::step], footer, formats))
    if second is not None:
        yield from zip(range(1, len(figures), 2), second.wait())
