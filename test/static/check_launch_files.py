"""Check launch files by roslaunch, all in one process; print a line for each, as test/lint does.

A node of a package that is not installed cannot be looked for (Gazebo's are not everywhere); that
the package is declared is checked in test_package.py.
"""

import contextlib
import io
import re
import sys

from roslaunch.rlutil import check_roslaunch


def check(path):
    """Return whether roslaunch finds no fault in a launch file, and print the result."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        faults = (check_roslaunch(path) or "").splitlines()
    # roslaunch looks for each package by rospack.
    absent = set(re.findall(r"cannot find package \[(\w+)\]", "\n".join(faults)))
    ignored = ("ROS path", *absent)
    remaining = [fault for fault in faults if not any(words in fault for words in ignored)]
    if remaining:
        print("\n".join(remaining), f"FAILED: {path}", sep="\n")
    elif absent:
        print(f"not checked: nodes of {' '.join(sorted(absent))} in {path}, not installed")
    else:
        print(f"passed: {path}")
    return not remaining


if __name__ == "__main__":
    faulty = [path for path in sys.argv[1:] if not check(path)]
    sys.exit(bool(faulty))
