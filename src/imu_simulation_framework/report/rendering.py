"""Rendering of figures as files, also in a second process."""

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
    """Contents of a figure's files.

    Attributes
    ----------
    contents : dict of str to bytes
        Contents by format.
    failure : str
        Reason why the figure could not be drawn; empty otherwise.
    """

    contents: dict[str, bytes]
    failure: str = ""


def render_figures(
    figures: Iterable[Figure], footer: str, formats: Sequence[str]
) -> Iterator[RenderedFigure]:
    """Render figures, one after another.

    Parameters
    ----------
    figures : iterable of Figure
        Described figures.
    footer : str
        Text below the panels.
    formats : sequence of str
        Formats, of :data:`.FIGURE_FORMATS`.

    Yields
    ------
    RenderedFigure
        Contents of the figure's files. A defect in a figure is printed with its traceback.
    """
    # A matplotlib figure refers to itself and would stay in memory without a garbage collection.
    # The collection after each figure skips the objects that exist before the first one.
    gc.freeze()
    try:
        for figure in figures:
            yield _render(figure, footer, formats)
            gc.collect()
    finally:
        gc.unfreeze()


def _render(figure, footer, formats):
    try:
        # Programs without figures do not load matplotlib.
        from .drawing import to_matplotlib

        picture = to_matplotlib(figure, footer)
        return RenderedFigure({format: render_figure(picture, format) for format in formats})
    except Exception as error:
        traceback.print_exc()
        return RenderedFigure({}, repr(error))


class FigureRenderer:
    """Renderer of figures for a separate process."""

    def load(self) -> None:
        """Import matplotlib before the first figure, which reports an error of the import."""
        with contextlib.suppress(ImportError):
            from . import drawing  # noqa: F401

    def render(
        self, figures: Sequence[Figure], footer: str, formats: Sequence[str]
    ) -> list[RenderedFigure]:
        """Render figures.

        Parameters
        ----------
        figures : sequence of Figure
            Described figures.
        footer : str
            Text below the panels.
        formats : sequence of str
            Formats, of :data:`.FIGURE_FORMATS`.

        Returns
        -------
        list of RenderedFigure
            Contents of the files of each figure.
        """
        return list(render_figures(figures, footer, formats))


@contextlib.contextmanager
def second_renderer() -> Iterator[SeparateProcess | None]:
    """Start a process with a :class:`FigureRenderer`, if this process may use a second core.

    Yields
    ------
    SeparateProcess or None
        The process, which is importing matplotlib; None on one core.
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
    """Render figures, every other one in a second process.

    Parameters
    ----------
    figures : sequence of Figure
        Described figures.
    footer : str
        Text below the panels.
    formats : sequence of str
        Formats, of :data:`.FIGURE_FORMATS`.
    second : SeparateProcess or None
        Process of :func:`second_renderer`; without it, this process renders all figures.

    Yields
    ------
    index : int
        Index of the figure in ``figures``.
    rendered : RenderedFigure
        Contents of its files.

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
