"""Check of launch files by roslaunch in a single process, with one output line per file.

Nodes of packages that are not installed, such as Gazebo, are not checked. test_package.py checks
that these packages are declared.
"""

import contextlib
import io
import re
import sys

from roslaunch.rlutil import check_roslaunch


def check(path):
    """Print the faults that roslaunch finds in a launch file; return whether there are none."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        faults = (check_roslaunch(path) or "").splitlines()
    # roslaunch searches for each package with rospack.
    absent = set(re.findall(r"cannot find package \[(\w+)\]", "\n".join(faults)))
    ignored = ("ROS path", *absent)
    remaining = [fault for fault in faults if not any(words in fault for words in ignored)]
    if remaining:
        print("\n".join(remaining), f"FAILED: {path}", sep="\n")
    elif absent:
        print(f"not checked, because not installed: {' '.join(sorted(absent))} in {path}")
    else:
        print(f"passed: {path}")
    return not remaining


if __name__ == "__main__":
    faulty = [path for path in sys.argv[1:] if not check(path)]
    sys.exit(bool(faulty))
