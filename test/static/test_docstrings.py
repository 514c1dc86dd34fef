"""Docstrings of the public interface: numpydoc rules and examples."""

import doctest

import numpy as np
import pytest
from check_docstrings import check

import imu_simulation_framework as isf

pytestmark = pytest.mark.quick

BASE = '''
"""Module."""


class Base:
    """Base."""

    def convert(self, angle):
        """Convert an angle.

        Parameters
        ----------
        angle : float
            Angle [rad].

        Returns
        -------
        float
            Angle [deg].
        """
        return angle
'''


@pytest.fixture
def check_source(tmp_path, capsys):
    def report(source):
        (tmp_path / "module.py").write_text(source)
        check(tmp_path)
        return [line.split(": ", 2)[1:] for line in capsys.readouterr().out.splitlines()]

    return report


def test_completely_documented_function_passes_docstring_check(check_source):
    assert check_source(BASE) == []


@pytest.mark.parametrize(
    "line, code",
    [
        ("            Angle [deg].", "RT03"),
        ("            Angle [rad].", "PR07"),
        (BASE[BASE.index("        Parameters") : BASE.index("        Returns") - 1], "PR01"),
        ('    """Base."""', "GL08"),
    ],
)
def test_missing_part_of_docstring_is_reported(check_source, line, code):
    (finding,) = check_source(BASE.replace(f"{line}\n", ""))
    assert finding[1].startswith(code)


def test_overridden_method_inherits_docstring(check_source):
    override = "    def convert(self, angle):\n        return 2.0 * angle\n"
    assert check_source(f'{BASE}\n\nclass Other(Base):\n    """Other."""\n\n{override}') == []
    (finding,) = check_source(f'{BASE}\n\nclass Other:\n    """Other."""\n\n{override}')
    assert finding[0].endswith("Other.convert") and finding[1].startswith("GL08")


def test_docstring_of_private_function_is_not_checked(check_source):
    assert check_source(f"{BASE}\n\ndef _convert(angle):\n    return angle\n") == []


def test_docstring_examples_of_top_level_package_run():
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    functions = [getattr(isf, name) for name in isf.__all__ if not name.startswith("_")]
    functions += [isf.Motion.mounted]
    for function in functions:
        for example in finder.find(function, "example", globs={"isf": isf, "np": np}):
            runner.run(example)
    assert runner.tries > 20 and runner.failures == 0
