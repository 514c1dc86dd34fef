"""What importing the package does to the program that imports it."""

import subprocess
import sys

MIXED = """
import sys, types
# Two matplotlibs in one place: the 3D axes are those of another one, and cannot be imported.
sys.modules["mpl_toolkits.mplot3d"] = None
{first}
import matplotlib.projections
"""


def printed(first):
    done = subprocess.run(
        [sys.executable, "-c", MIXED.format(first=first)],
        text=True,
        capture_output=True,
        check=True,
    )
    return done.stderr


def test_a_second_matplotlib_is_no_matter():
    assert "Unable to import Axes3D" in printed("")
    assert printed("import imu_simulation_framework") == ""
