"""Show heading drift on a web page with sliders for motion, IMUs, operation and error limit.

The command line is defined in :mod:`.parsers.explore`.
"""

import socketserver
import webbrowser
from pathlib import Path
from tempfile import TemporaryDirectory
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from ..core.errors import ConfigurationError
from ..core.programs import ArgumentParser
from ..core.whole_files import explain_file_error
from ..heading.explore.answers import DRIVE_RATE, Answers, CommandTexts
from ..heading.explore.page import make_app
from ..sensors.files import imu_catalogue
from ..sensors.imu_specification import ImuSpecification
from . import imu_options, motion_options
from .parsers.motion_options import add_motion_options

HOST = "127.0.0.1"


def run(options):
    """Serve the page until the program is interrupted.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
    answers, command_line_names = _answers(options)
    with TemporaryDirectory(prefix="explore_") as folder:
        app = make_app(answers, CommandTexts(command_line_names), folder)
        with listening(options.port, app.server) as server:
            address = f"http://{HOST}:{server.server_port}/"
            print(f"{address} (stop with Ctrl+C)", flush=True)
            if not options.no_browser and not webbrowser.open(address):
                print("no browser was found; open this address in a browser")
            server.serve_forever()


class _Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Ignore errors, such as a connection closed by the browser."""


class _Handler(WSGIRequestHandler):
    def log_message(self, *_):
        """Suppress the log of requests."""


def listening(port: int, application) -> WSGIServer:
    """Return a server for a WSGI application on the loopback address.

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
        The port is already in use, or cannot be opened.
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
    """Return the handler of requests, and the command-line arguments by IMU or recording name."""
    parts = {entry.specification.name: entry.specification for entry in imu_catalogue()}
    command_line_names = {}
    for text in options.imu:
        imu = imu_options.choose_imu(text)
        if not isinstance(imu.errors, ImuSpecification) or imu.errors.output.fuses_magnetometer:
            raise ConfigurationError(
                f"--imu is {text}, expected the specification of an IMU whose yaw does not depend "
                "on a magnetometer"
            )
        parts[imu.name] = imu.errors
        command_line_names[imu.name] = text

    def read(path):
        words = [word for setting in options.setting for word in ("--setting", setting)]
        parser = ArgumentParser()
        add_motion_options(parser)
        named = parser.parse_args([*words, "--", path])
        return motion_options.choose_motion(named, DRIVE_RATE)

    answers = Answers(read, parts)
    for path in options.recording:
        answers.add_recording(Path(path).name, path)
        command_line_names[Path(path).name] = path
    return answers, command_line_names
