"""Programs must accept or reject hostile arguments."""

from __future__ import annotations

import sample_files
from cases import EXPENSIVE, OUT, Case
from hypothesis import given
from hypothesis import strategies as st
from program_result import CRITICAL_FINDING, REJECTED, Expected
from strategies.files import Special
from strategies.values import arguments, numbers

# Program -> valid arguments, and options with hostile values.
OPTIONS = {
    "allan_analysis.py": (
        ("rest.csv",),
        "--topic --column --rate --axis --name --outliers --band --longest-gap",
    ),
    "check_recording.py": (("drive.csv",), "--config"),
    "convert_imu_parameters.py": (
        ("imu.yaml", "--from", "specification", "--to", "sdf", "--correlation-time", "100"),
        "--rate --correlation-time --yaw-drift",
    ),
    "generate_world.py": (("uneven",), "--height --spacing --radius --size --seed"),
    "generate_drive.py": (("a",), "--laps --seed"),
    "simulate_static.py": (("imu.yaml", "--hours", "1e-3"), "--rate --seed --format --hours"),
    "compare_plugins.py": (("--results", "nowhere"), "--imu --parameters --runs --seed"),
}

OUT_FILES = {"generate_world.py": "a.world", "simulate_static.py": "static.csv"}
# Largest values of options that determine the duration of the run.
MAX_WORK = {"--hours": 0.02, "--laps": 2.0}


@st.composite
def calls(draw):
    """Generate a call with one to three hostile options and sometimes a hostile first argument."""
    tool = draw(st.sampled_from(sorted(OPTIONS)))
    words, options = OPTIONS[tool]
    words = list(words)
    if draw(st.integers(0, 6)) == 0:
        words[0] = draw(arguments()) or "x"
    words.append(f"--out={OUT_FILES.get(tool, OUT)}")
    names = st.lists(st.sampled_from(options.split()), min_size=1, max_size=3, unique=True)
    for option in draw(names):
        value = draw(arguments())
        if _is_long(option, value):
            continue
        if option in ("--band", "--yaw-drift"):
            words += [option, value, draw(numbers()).replace("\0", "")]
        else:
            words.append(f"{option}={value}")
    if draw(st.integers(0, 19)) == 0:
        words.append(draw(st.sampled_from(("--nonsense", "--", "-x", "", "a b", "--out"))))
    files = {
        "rest.csv": sample_files.recordings_at_rest()[0].content,
        "drive.csv": sample_files.recording("own.csv").content,
        "imu.yaml": sample_files.parameters()[0][1].content,
        OUT: Special("folder"),
    }
    codes = (0, 1, REJECTED) if tool == "compare_plugins.py" else (0, REJECTED, CRITICAL_FINDING)
    return Case(tool, tuple(words), files, Expected(codes))


def _is_long(option, value) -> bool:
    """Return whether a value is valid, but would cause a run that takes hours."""
    try:
        return MAX_WORK.get(option, 1e300) < float(value) < 1e5
    except ValueError:
        return False


@given(case=calls())
def test_hostile_arguments_are_accepted_or_rejected(check_outcome, case):
    assert not check_outcome(case).violations


@EXPENSIVE
@given(case=calls())
def test_hostile_command_line_is_accepted_or_rejected(check_outcome, case):
    assert not check_outcome(case, as_command=True).violations
