"""Web page on heading drift: its controls and the callbacks that respond to them.

Two callbacks respond to the same user input: one with all results of the linear model, as fast as a
slider moves; the other with the results of simulated drives, once the slider stops. The script
``assets/explore.js`` sends the newest input as soon as the previous response has arrived, so that
requests do not queue up.
"""

from __future__ import annotations

import base64
import binascii
import importlib
import json
import math
import sys
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np
import pandas as pd

from ...core import colours
from ...core.errors import ConfigurationError, FrameworkError, import_optional
from ...core.sentences import shorten
from ...report import style, table
from ...report.charts import to_plotly
from ...report.figure import Figure
from ..answer import FirstPassage, angle
from .answers import (
    FIELDS,
    Answers,
    CommandTexts,
    PartAnswer,
    Question,
    question_address,
    question_from_address,
    question_from_texts,
    question_texts,
    time_text,
)

TITLE = "How far does the heading drift?"
MAX_UPLOAD = 200_000_000
"""Maximum size of a recording dropped onto the page [bytes]."""

MAX_PAGES = 100
"""Maximum number of open pages for which the newest request number is stored."""

_SECONDS = ("0s", "1s", "2s", "3s", "5s", "7s", "10s", "15s", "20s", "30s", "45s", "1min")
_MINUTES = ("1.5min", "2min", "3min", "4min", "5min", "7min", "10min", "15min", "20min", "30min")
_HOURS = ("45min", "1h", "1.5h", "2h", "3h", "4h", "6h", "8h")
SCALES: dict[str, tuple[str, ...]] = {
    "duration": (*_SECONDS[6:], *_MINUTES, *_HOURS),
    "speed": ("0.1", "0.2", "0.3", "0.5", "0.7", "1", "1.5", "2", "3", "5", "7", "10", "15", "20"),
    "radius": ("0.5", "0.7", "1", "1.5", "2", "3", "5", "7", "10", "15", "20", "30", "50", "100"),
    "length": ("2", "3", "5", "7", "10", "15", "20", "30", "50", "70", "100", "150", "200", "500"),
    "width": ("0.3", "0.5", "0.7", "1", "1.5", "2", "3", "5", "7", "10", "15", "20"),
    "limit": ("0.1", "0.2", "0.3", "0.5", "0.7", "1", "1.5", "2", "3", "5", "7", "10", "15", "20",
              "30", "45", "90"),
    "standstill": (*_SECONDS, *_MINUTES[:7]),
    "every": (*_SECONDS[6:], *_MINUTES, *_HOURS[:2]),
    "stop": (*_SECONDS[1:], *_MINUTES[:4]),
    "warm_up": ("0s", "10s", "30s", *_SECONDS[-1:], *_MINUTES, *_HOURS[:4]),
}  # fmt: skip
"""Slider labels of each input field."""
_OPTIONS = {
    "motion": {"straight": "straight", "circles": "circles", "mowing": "mowing", "drive": "drive"},
    "stops": {"none": "none", "given": "at intervals", "found": "whenever it is stationary"},
    "unit": {"stated": "as in its file", "any": "any sensor", "this": "this sensor"},
    "ranked": {"chosen": "the chosen parts", "all": "all parts"},
}
_LABELS = {
    "motion": "Motion",
    "drive": "Drive",
    "speed": "Speed [m/s]",
    "radius": "Radius [m]",
    "length": "Length of a lane [m]",
    "width": "Distance between lanes [m]",
    "imu": "Parts",
    "duration": "Driving time",
    "limit": "Limit of the yaw error [deg]",
    "standstill": "Standstill before the drive",
    "stops": "Stops during the drive",
    "every": "Time between stops",
    "stop": "Duration of a stop",
    "warm_up": "Warm-up before the standstill",
    "unit": "Individual sensor of a part",
    "ranked": "Ranked parts",
}
_PLOT = {"displayModeBar": False, "responsive": True}
_NO_AXIS = {"visible": False}
_EMPTY_FIGURE = {"data": [], "layout": {"xaxis": _NO_AXIS, "yaxis": _NO_AXIS, "height": 300}}
"""Figure without axes, which is shown before the first answer."""

MIN_CAUSE = 1e-3
"""Smallest rms of a listed error source, relative to the 95th percentile of the error."""


def _plot(figure) -> tuple[Mapping[str, Any], dict[str, str]]:
    """Return a figure for Plotly, and the style of the element that contains it.

    Both have the same height, since plotly adapts a figure to the height of its box when the window
    is resized.
    """
    figure_data = to_plotly(figure)
    return figure_data, {"height": f"{figure_data['layout']['height']}px"}


def make_app(answers: Answers, words: CommandTexts, folder: str) -> Any:
    """Create the web page as a Dash application.

    Parameters
    ----------
    answers : Answers
        Object that computes the results.
    words : CommandTexts
        Translation of user input into commands.
    folder : str
        Folder in which recordings that are dropped onto the page are stored.

    Returns
    -------
    dash.Dash

    Raises
    ------
    ConfigurationError
        If Dash is not installed.
    """
    dash = import_optional("dash", "the page")
    return _Page(dash, answers, words, folder).app


class _Page:
    def __init__(self, dash, answers, words, folder):
        self.dash, self.html, self.dcc = dash, dash.html, dash.dcc
        self.answers, self.words, self.folder = answers, words, folder
        self.newest: dict[str, int] = {}
        # Only one request is computed at a time, since each requires much memory.
        self.computing = threading.Lock()
        assets = Path(__file__).with_name("assets")
        self.app = dash.Dash(
            "imu_simulation_framework", assets_folder=str(assets), title=TITLE, update_title=None,
            serve_locally=True, suppress_callback_exceptions=True,
            meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
        )  # fmt: skip
        self.app.layout = self.layout
        self._reject_other_hosts()
        self._answer_forged_requests()
        self._callbacks()

    def _reject_other_hosts(self):
        """Reject requests with a foreign host name, which other web pages could send."""
        serve = self.app.server.wsgi_app

        def application(environment, start):
            if environment.get("HTTP_HOST", "").rpartition(":")[0] in ("127.0.0.1", "localhost"):
                return serve(environment, start)
            start("403 Forbidden", [("Content-Type", "text/plain")])
            return [b"This page is only available on the machine that serves it."]

        self.app.server.wsgi_app = application

    def _answer_forged_requests(self):
        """Respond with status 400 or 404 to errors for which Dash would print a traceback."""
        exceptions = importlib.import_module("werkzeug.exceptions")

        def answer(error):
            if isinstance(error, exceptions.HTTPException):
                return error
            request = importlib.import_module("flask").request
            print(
                f"explore.py: {request.path}: cannot respond: {type(error).__name__}: "
                f"{' '.join(str(error).split())[:200]}",
                file=sys.stderr,
            )
            if "component-suites" in request.path:
                return exceptions.NotFound()
            return exceptions.BadRequest()

        self.app.server.register_error_handler(Exception, answer)

    # --- Content of the page -----------------------------------------------------------------

    def layout(self):
        """Create the content of the page for default input."""
        html, dcc = self.html, self.dcc
        texts = question_texts(Question())
        parts = dcc.Dropdown(
            list(self.answers.parts), texts["imu"].split(","), id="imu", multi=True
        )
        stops = html.Div([self._slider(name, texts) for name in ("every", "stop")], id="box-given")
        start_sliders = [self._slider(name, texts) for name in ("standstill", "warm_up")]
        groups = (
            [self._choice("motion", texts), *self._motion_controls(texts)],
            [self._slider("duration", texts), self._slider("limit", texts)],
            [html.Div([self._label("imu"), parts]), self._choice("unit", texts)],
            [*start_sliders, self._choice("stops", texts), stops],
        )
        panels = {
            "Yaw error over time": [
                html.P("At each time 50 % of all drives are within the dark band, and 95 % within "
                       "the light one.", className="how"),
                dcc.Graph(id="bands", config=_PLOT, figure=_EMPTY_FIGURE),
            ],
            "Sources of the final error": [html.Div(id="causes")],
            "When the limit is exceeded for the first time": [
                html.P("Share of drives that have exceeded it by each time.", className="how"),
                html.Div(
                    dcc.Graph(id="passages", config=_PLOT, figure=_EMPTY_FIGURE), className="drawn"
                ),
                html.Div(id="sentences", className="drawn"),
            ],
            "Which part is good enough": [
                self._choice("ranked", texts), html.Div(id="ranking", className="drawn"),
            ],
            "The same without this page": [
                *self._copied("budget-command", "In a shell"),
                *self._copied("ranking-command", "The ranking"),
                *self._copied("python", "In Python"),
                html.P(
                    "The address of this page contains all settings: a link or a bookmark "
                    "restores them.",
                    className="how",
                ),
            ],
        }  # fmt: skip
        asking = [html.Div(group, className="group") for group in groups]
        answering = [
            html.Div([html.H2(title), *inside], className="panel")
            for title, inside in panels.items()
        ]
        head = [
            html.H1(TITLE),
            html.Div(id="unread", className="mistake", role="alert"),
            html.Div(id="mistake", className="mistake", role="alert"),
            html.Div(id="cards", className="cards"),
            html.Div(id="busy", className="busy", role="status"),
        ]
        main = [
            html.Section(asking, className="asking"),
            html.Section(
                [html.Div(id="remarks", className="remarks"), *answering], className="answering"
            ),
        ]
        stores = [dcc.Store(id=name) for name in ("asked", "shown", "rested", "drawn")]
        address = dcc.Location(id="address", refresh=False)
        return html.Div([address, *stores, html.Header(head), html.Main(main)])

    def _motion_controls(self, texts):
        html, dcc = self.html, self.dcc
        drives = dcc.Dropdown(
            list(self.answers.drives), texts["drive"], id="drive", clearable=False
        )
        dropped = dcc.Upload(
            html.Span("drop a recording here, or choose a file"),
            id="recording", className="drop", className_active="drop over",
            max_size=MAX_UPLOAD,
        )  # fmt: skip
        drive = html.Div([self._label("drive"), drives, dropped], id="box-drive")
        names = ("speed", "radius", "length", "width")
        return [drive, *(html.Div(self._slider(name, texts), id=f"box-{name}") for name in names)]

    def _label(self, name):
        return self.html.Label(_LABELS[name], htmlFor=name)

    def _choice(self, name, texts):
        options = [{"value": value, "label": text} for value, text in _OPTIONS[name].items()]
        radio = self.dcc.RadioItems(options, texts[name], id=name, className="choice")
        return self.html.Div([self.html.Span(_LABELS[name], className="label"), radio])

    def _slider(self, name, texts):
        scale = SCALES[name]
        mark_places = np.unique(np.linspace(0, len(scale) - 1, 5).round().astype(int)).tolist()
        slider = self.dcc.Slider(
            0, len(scale) - 1, 1, value=_place(name, texts[name]), id=f"slider-{name}",
            marks={place: scale[place] for place in mark_places}, updatemode="drag", included=False,
        )  # fmt: skip
        text = self.dcc.Input(texts[name], id=name, type="text", className="text", size="7",
                              autoComplete="off", spellCheck=False)  # fmt: skip
        return self.html.Div([self._label(name), text, slider], className="slid")

    def _copied(self, name, title):
        html = self.html
        label = html.Span(title, className="label")
        button = self.dcc.Clipboard(target_id=name, className="copy", title="copy")
        return [html.Div([label, button], className="copied"), html.Pre(id=name)]

    # --- Callbacks ------------------------------------------------------------------------

    def _callbacks(self):
        dash, app = self.dash, self.app
        Input, Output, State = dash.Input, dash.Output, dash.State
        fields = list(FIELDS)
        sliders = list(SCALES)

        def clientside(name, constant, *inputs):
            called = f"window.dash_clientside.explore.{name}(...values, {constant})"
            app.clientside_callback(f"(...values) => {called}", *inputs)

        clientside("slid", json.dumps({name: SCALES[name] for name in sliders}),
                   *(Input(f"slider-{name}", "value") for name in sliders))  # fmt: skip
        clientside("wants", json.dumps(fields), *(Input(name, "value") for name in fields))
        clientside("answered", "0", Input("shown", "data"))
        clientside("drawn", "0", Input("drawn", "data"))
        app.callback(
            [Output(name, "value", allow_duplicate=True) for name in fields]
            + [Output(f"slider-{name}", "value", allow_duplicate=True) for name in sliders]
            + [Output("unread", "children")],
            Input("address", "search"),
            prevent_initial_call="initial_duplicate",
        )(self.fill)

        def children(*names):
            return [Output(name, "children") for name in names]

        def plot(name):
            return [Output(name, "figure"), Output(name, "style")]

        app.callback(
            *children("mistake", "cards", "remarks", "causes"), *plot("bands"),
            *children("budget-command", "ranking-command", "python"), Output("shown", "data"),
            Input("asked", "data"), prevent_initial_call=True,
        )(self.compute)  # fmt: skip
        app.callback(
            *plot("passages"), *children("sentences", "ranking"),
            Output("drawn", "data"), Input("rested", "data"), prevent_initial_call=True,
        )(self.draw)  # fmt: skip
        app.callback(
            Output("drive", "options"), Output("drive", "value", allow_duplicate=True),
            Output("mistake", "children", allow_duplicate=True), Input("recording", "contents"),
            State("recording", "filename"), prevent_initial_call=True,
        )(self.keep)  # fmt: skip

    def fill(self, search):
        """Return the values of all page controls that correspond to the query of an address."""
        mistake = ""
        try:
            question = question_from_address(search or "")
            self.answers.check(question)
        except FrameworkError as error:
            question, mistake = Question(), _sentence(error)
        texts = question_texts(question)
        values = [text.split(",") if name == "imu" else text for name, text in texts.items()]
        return [*values, *(_place(name, texts[name]) for name in SCALES), mistake]

    def compute(self, request):
        """Return the page content that follows from the linear model for the user's input."""
        keep = self.dash.no_update
        self._reject_forged(request)
        self._record_newest(request)
        response = {"number": request["number"], "accepted": False}
        try:
            question = question_from_texts(request["texts"])
            with self.computing:
                page_motion = self.answers.motion(question)
                parts = [self.answers.part(question, name) for name in question.imu]
        except FrameworkError as error:
            return _sentence(error), *[keep] * 8, response
        texts = question_texts(question)
        response = {
            "number": request["number"],
            "accepted": True,
            "address": question_address(question),
            "places": {
                name: _place(name, texts[name])
                for name, scale in SCALES.items()
                if request["texts"][name] not in scale
            },
        }
        words = self.words
        return (
            "",
            [self._card(place, part, question) for place, part in enumerate(parts)],
            self._remarks(question, page_motion, parts),
            self._causes(parts),
            *_plot(bands_figure(parts, question.limit)),
            words.budget_command(question, page_motion),
            words.ranking_command(question, page_motion),
            words.python_lines(question, page_motion, parts[0].model.step),
            response,
        )

    def _reject_forged(self, request):
        """Respond with status 400 to a request that the page's script cannot have sent."""
        is_question = isinstance(request, dict) and isinstance(request.get("texts"), dict)
        if not is_question or not (
            isinstance(request.get("number"), int)
            and isinstance(request.get("page"), str)
            and all(isinstance(text, str) for text in request["texts"].values())
        ):
            exceptions = importlib.import_module("werkzeug.exceptions")  # installed with Dash
            raise exceptions.BadRequest(
                "question: is malformed, expected a number, a page and texts"
            )

    def _is_outdated(self, request) -> bool:
        return request["number"] < self.newest.get(request["page"], 0)

    def _record_newest(self, request):
        """Store the number of a page's newest request, and forget the oldest pages."""
        page, number = request["page"], request["number"]
        self.newest[page] = max(number, self.newest.pop(page, 0))
        while len(self.newest) > MAX_PAGES:
            self.newest.pop(next(iter(self.newest)))

    def draw(self, rested):
        """Return the page content from simulated drives, unless the user's input has changed."""
        keep = self.dash.no_update
        self._reject_forged(rested)
        try:
            question = question_from_texts(rested["texts"])
            answers = {}
            for name in question.imu:
                with self.computing:
                    if self._is_outdated(rested):
                        return [keep] * 5
                    answers[name] = self.answers.answer(question, name)
            rows = []
            ranked = self.answers.ranked(question)
            while True:
                with self.computing:
                    if self._is_outdated(rested):
                        return [keep] * 5
                    row = next(ranked, None)
                if row is None:
                    break
                rows.append(row)
        except FrameworkError:
            return (
                keep,
                keep,
                keep,
                keep,
                rested["number"],
            )  # the callback ``compute`` has already reported the error
        passages = {name: answer.first_passage for name, answer in answers.items()}
        paragraphs = [
            self.html.P(answer.sentence(name, question.limit_angle) + ".")
            for name, answer in answers.items()
        ]
        ranking = self._ranking(pd.concat(rows), question)
        return *_plot(passages_figure(passages)), paragraphs, ranking, rested["number"]

    def keep(self, contents, filename):
        """Add a dropped recording to the drives, or return the reason for its rejection."""
        keep = self.dash.no_update
        if not contents:
            return keep, keep, keep
        name = Path(str(filename).replace("\\", "/")).name
        try:
            self._keep(name, contents)
        except FrameworkError as error:
            return keep, keep, _sentence(error).replace(f"{self.folder}/", "")
        return list(self.answers.drives), name, ""

    def _keep(self, name, contents):
        try:
            content = base64.b64decode(contents.partition(",")[2], validate=True)
        except binascii.Error:
            raise ConfigurationError(
                f"{shorten(name)}: the browser sent an incomplete file; drop it again"
            ) from None
        if name in ("", ".", "..") or not name.isprintable():
            raise ConfigurationError(
                f"{shorten(name)}: invalid file name, expected printable characters"
            )
        path = Path(self.folder) / name
        path.write_bytes(content)
        self.answers.add_recording(name, str(path))

    # --- Presentation of answers ---------------------------------------------------------------

    def _card(self, place, part: PartAnswer, question):
        html = self.html
        most = "no random error"
        if len(part.causes) and part.percentile_95 > 0.0:
            most = f"largest source: {part.causes.index[0]}"
        inside = float(part.model.probability_within(question.limit_angle)[-1])
        end_text = f"{table.format_percent(inside)} end within {question.limit:g} deg"
        return html.Div(
            [
                html.Span(part.name, className="name"),
                html.Strong(angle(part.percentile_95), id=f"nearly-all-{place}"),
                html.Span("in 95 % of drives", className="unit"),
                html.Span(
                    f"{angle(part.percentile_50)} in 50 %; {end_text}; {most}", className="more"
                ),
            ],
            className="card",
            style={"borderColor": colour_of(place)},
        )

    def _remarks(self, question, page_motion, parts):
        html = self.html
        use = question.operation.sentence()
        remarks = [*page_motion.remarks]
        for part in parts:
            remarks += part.remarks
        return [
            html.P(f"After {time_text(page_motion.at)}: {page_motion.name}, {use}"),
            *(html.P(remark, className="remark") for remark in dict.fromkeys(remarks)),
        ]

    def _causes(self, parts: Sequence[PartAnswer]):
        html = self.html
        children = []
        for place, part in enumerate(parts):
            rows, colour = [], colour_of(place)
            for source, cause in part.causes.iterrows():
                size, share = math.hypot(cause["mean"], cause["std"]), 100.0 * cause["share"]
                if size >= MIN_CAUSE * part.percentile_95:
                    bar = html.Div(
                        className="bar", style={"width": f"{share:.1f}%", "background": colour}
                    )
                    cells = [
                        html.Td(str(source)),
                        html.Td(f"{math.degrees(size):.3g} deg", className="number"),
                        html.Td([bar, html.Span(f"{share:.0f} %")], className="share"),
                        html.Td(cause["differs"]),
                    ]
                    rows.append(html.Tr(cells))
            head = ("source", "rms", "share of variance", "differs")
            children.append(html.H3(part.name, style={"color": colour}))
            children.append(self._table("causes", head, {"rms"}, rows))
        return children

    def _table(self, name, texts, numbers, rows):
        html = self.html
        cells = [html.Th(text, className="number" if text in numbers else "") for text in texts]
        return html.Table([html.Thead(html.Tr(cells)), html.Tbody(rows)], className=name)

    def _ranking(self, ranking: pd.DataFrame, question):
        html = self.html
        rows = []
        for name, row in ranking.sort_values("required_percentile", kind="stable").iterrows():
            passes = "yes" if row["passes"] else "no"
            percentile = row["required_percentile"]
            margin = question.limit_angle / max(percentile, 1e-12)
            probability = table.format_percent(row["probability_within"])
            numbers = probability, angle(percentile), f"{margin:.3g}"
            cells = [
                html.Td(str(name)),
                html.Td(passes, className=passes),
                *(html.Td(number, className="number") for number in numbers),
                html.Td(f"{row['largest_source']} ({row['differs']})"),
            ]
            rows.append(html.Tr(cells))
        head = ("part", "passes", "stays within", "95 %", "limit / error", "largest source")
        summary = (
            f"{int(ranking['passes'].sum())} of {len(ranking)} parts stay within "
            f"{question.limit:g} deg all the time in 95 % of drives."
        )
        ranking_table = self._table("ranking", head, set(head[2:5]), rows)
        return [html.P(summary), html.Div(ranking_table, className="wide")]


def _sentence(error) -> str:
    sentence = str(error).rstrip(".")
    return sentence[:1].upper() + sentence[1:] + "."


def _place(name, text) -> int:
    """Return the index of the slider label that is closest in value to a field's text."""
    value = getattr(question_from_texts({name: text}), name)
    return int(np.argmin(np.abs(_scale(name) - math.log(value + 0.5))))


@lru_cache(maxsize=None)
def _scale(name):
    values = [getattr(question_from_texts({name: text}), name) for text in SCALES[name]]
    return np.log(np.array(values) + 0.5)


SHOWN_LIMIT = 3.0
"""Ratio of limit to band width above which the limit is omitted, to keep bands visible."""


def colour_of(place: int) -> str:
    """Return the colour of the n-th IMU in figures.

    Parameters
    ----------
    place : int
        Index of the IMU.

    Returns
    -------
    str
        Hexadecimal colour, such as ``#1f77b4``.
    """
    return colours.SERIES[place % len(colours.SERIES)]


def bands_figure(parts: Sequence[PartAnswer], limit: float) -> Figure:
    """Create a figure of the yaw error bands over time that contain 50 % and 95 % of drives.

    Parameters
    ----------
    parts : sequence of PartAnswer
        Results for the compared IMUs.
    limit : float
        Limit of the yaw error [deg].

    Returns
    -------
    Figure
    """
    unit, name = style.choose_time_unit(max(float(part.bands.index[-1]) for part in parts))
    figure = Figure(x=f"time [{name}]").panel("yaw error [deg]", height=300)
    looks, largest_error = style.line_styles(len(parts)), 0.0
    # Narrow bands are drawn in front of wide ones.
    for place in sorted(range(len(parts)), key=lambda place: -parts[place].percentile_95):
        bands, colour = parts[place].bands, colour_of(place)
        time = bands.index.to_numpy() / unit
        for share, opacity in (("95", 0.18), ("50", 0.42)):
            low, high = (np.degrees(bands[f"{edge}_{share}"]) for edge in ("lower", "upper"))
            label = parts[place].name if share == "50" else ""
            figure.band(time, low, high, colour, opacity, label)
            largest_error = max(largest_error, float(np.max(np.abs([low, high]))))
            if share == "95":
                for edge in (low, high):
                    figure.line(time, edge, {**looks[place], "linewidth": 1.0})
    if limit < SHOWN_LIMIT * max(largest_error, 1e-9):
        for side in (1.0, -1.0):
            figure.level(side * limit, style.LIMIT, f"limit of {limit:g} deg")
    return figure


def passages_figure(passages: Mapping[str, FirstPassage]) -> Figure:
    """Create a figure of the share of drives over time that have exceeded the yaw error limit.

    Parameters
    ----------
    passages : mapping of str to FirstPassage
        First-passage time by name of the IMU.

    Returns
    -------
    Figure
    """
    unit, name = style.choose_time_unit(
        max(float(passage.time[-1]) for passage in passages.values())
    )
    figure = Figure(x=f"time [{name}]")
    passed = {
        part: 100.0 * (1.0 - passage.probability_within) for part, passage in passages.items()
    }
    most = max(float(share[-1]) for share in passed.values())
    upper = next(upper for upper in (10.0, 25.0, 50.0, 100.0, 101.0) if upper >= most)
    figure.panel("drives [%]", height=230, limits=(0.0, upper))
    looks = style.line_styles(len(passages))
    for place, (part, passage) in enumerate(passages.items()):
        figure.line(passage.time / unit, passed[part], {**looks[place], "linewidth": 1.8}, part)
    return figure
