"""Show heading drift on a page in the browser, with sliders for motion, parts, operation and limit.

    explore.py
    explore.py drive.bag --setting reference/topic=/odom
    explore.py --imu mine.yaml --port 8060 --no-browser

Bands over time, sources, a ranking and the time to the limit change while a slider is moved. The
address of the page contains all settings, so that a link restores them. The page also shows the
command line and the lines of Python that give the same result. Recordings are dropped into the
page, or named here with the settings for reading them. Only programs on this machine reach the
page, which needs no network, but the extra explore: pip install ".[explore]". Ctrl+C ends it.

It accepts one to six parts, and recordings of up to 200 MB. "Parts within the limit" shows the
margin of the chosen parts or of the whole catalogue, "Time until the limit" the share of drives
beyond it at each time, and the improvements that help. The page samples a motion less often than
heading_budget.py: where the fusion filter tilts in curves, numbers differ by up to 1 %. It counts
the time until the limit and the verdicts in 400 drives; the standard error of a share is at most
2.5 %.
"""

import socketserver
import webbrowser
from pathlib import Path
from tempfile import TemporaryDirectory
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from ..core.errors import ConfigurationError
from ..core.programs import ArgumentParser
from ..core.whole_files import explain_file_error
from ..heading.explore.answers import DRIVE_RATE, Answers, Words
from ..heading.explore.page import make_app
from ..sensors.files import imu_catalogue
from ..sensors.imu_specification import ImuSpecification
from . import imu_options, motion_options, recording_options
from .command_line import whole_type

HOST = "127.0.0.1"
PORT = 8050


def main(arguments):
    """Serve the page until the program is interrupted.

    Parameters
    ----------
    arguments : list of str
        Command line.
    """
    options = _parser().parse_args(arguments)
    answers, written = _answers(options)
    with TemporaryDirectory(prefix="explore_") as folder:
        app = make_app(answers, Words(written), folder)
        with listening(options.port, app.server) as server:
            address = f"http://{HOST}:{server.server_port}/"
            print(f"{address} (Ctrl+C ends it)", flush=True)
            if not options.no_browser and not webbrowser.open(address):
                print("no browser was found; open this address in a browser")
            server.serve_forever()


class _Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Ignore a browser that has gone."""


class _Handler(WSGIRequestHandler):
    def log_message(self, *_):
        """Log no request."""


def listening(port: int, application) -> WSGIServer:
    """Return a server of a WSGI application on this machine's own address.

    Parameters
    ----------
    port : int
        Port; 0 chooses any free port.
    application : callable
        WSGI application.

    Returns
    -------
    WSGIServer

    Raises
    ------
    ConfigurationError
        If the port is taken.
    """
    try:
        server = _Server((HOST, port), _Handler)
    except OSError as error:
        raise ConfigurationError(
            f"--port: port {port} cannot be opened ({explain_file_error(error)}); choose another "
            "port, or 0 for any free port"
        ) from None
    server.set_app(application)
    return server


def _answers(options):
    """Return the answers, and the names of parts and drives on a command line."""
    parts = {entry.specification.name: entry.specification for entry in imu_catalogue()}
    written = {}
    for text in options.imu:
        imu = imu_options.choose_imu(text)
        if not isinstance(imu.errors, ImuSpecification) or imu.errors.output.fuses_magnetometer:
            raise ConfigurationError(f"{text} is not a specification of an IMU without a compass")
        parts[imu.name] = imu.errors
        written[imu.name] = text

    def read(path):
        words = [word for setting in options.setting for word in ("--setting", setting)]
        parser = ArgumentParser()
        motion_options.add_motion_options(parser)
        named = parser.parse_args([*words, "--", path])
        return motion_options.choose_motion(named, DRIVE_RATE)

    answers = Answers(read, parts)
    for path in options.recording:
        answers.add_recording(Path(path).name, path)
        written[Path(path).name] = path
    return answers, written


def _parser():
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    add("recording", nargs="*", metavar="RECORDING", help="a bag, or a table of poses or fixes")
    recording_options.add_setting_option(parser)
    # fmt: off
    add("--imu", action="append", default=[], metavar="IMU",
        help="additional part: the file of a specification, or FORMAT:FILE; repeatable")
    add("--port", type=whole_type(0, 65535, "is not a port, expected 0 to 65535"), default=PORT,
        metavar="N", help=f"{PORT} by default; 0: any")
    # fmt: on
    add("--no-browser", action="store_true", help="print the address, and open no browser")
    return parser
