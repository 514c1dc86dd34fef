"""Print the options of all programs as JSON, for the reference page of the guide.

Each program is run with ``--help``, and its parser is described instead of printed.
"""

import argparse
import io
import json
import runpy
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("offline_processing", "scripts")


def _describe_action(action, formatter):
    names = ", ".join(action.option_strings)
    values = formatter._format_args(action, action.metavar or action.dest.upper())
    about = formatter._expand_help(action) if action.help else ""
    if action.choices and not all(str(choice) in values + about for choice in action.choices):
        about += f" ({', '.join(map(str, action.choices))})"
    return {
        "name": names or str(action.metavar or action.dest),
        "values": values if names and action.nargs != 0 else "",
        "help": about,
    }


def _describe(parser):
    formatter = parser._get_formatter()
    hidden = (argparse.SUPPRESS,)
    return {
        "description": "\n\n".join(filter(None, (parser.description, parser.epilog))),
        "options": [
            _describe_action(action, formatter)
            for action in parser._actions
            if action.help not in hidden and "--help" not in action.option_strings
        ],
    }


def describe_program(path):
    """Return the description and the options of a program.

    Parameters
    ----------
    path : Path
        File of the program.

    Returns
    -------
    dict
    """
    described = {}

    def capture(parser, file=None):
        described.update(_describe(parser))

    argparse.ArgumentParser.print_help = capture
    sys.argv = [path.name, "--help"]
    printed = io.StringIO()
    with suppress(SystemExit), redirect_stdout(printed):
        runpy.run_path(str(path), run_name="__main__")
    # A node has no parser; it prints its usage on one line, and then its description.
    text = printed.getvalue().partition("\n\n")[2].strip()
    return described or {"description": text, "options": []}


if __name__ == "__main__":
    programs = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.py"))]
    print(json.dumps({path.name: describe_program(path) for path in programs}))
