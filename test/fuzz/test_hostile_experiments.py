"""Complete experiments under ROS with hostile recordings, settings and arguments."""

import shutil

import pytest
import sample_files
import targets
import yaml
from cases import EXPENSIVE, OUT, Case, damaged_sample_files
from hypothesis import given
from hypothesis import strategies as st
from program_result import Expected
from strategies.values import arguments
from test_hostile_settings import settings_of_keys

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(shutil.which(targets.EXPERIMENT) is None, reason="requires ROS"),
]

LAUNCH_ARGUMENTS = ("seed", "imu", "controller", "real_time_factor", "view", "laps")


@st.composite
def experiments(draw):
    """Generate an experiment with a damaged or valid recording and up to three hostile settings."""
    sample_file = draw(st.deferred(lambda: st.sampled_from(sample_files.recordings())))
    name, content = draw(
        st.one_of(
            damaged_sample_files(sample_file), st.just((sample_file.name, sample_file.content))
        )
    )
    settings = {"trajectory": {"stop": "3"}, "imu_recording": {"use": "false"}}
    for section, keys in draw(st.one_of(st.just({}), settings_of_keys())).items():
        settings[section] = {**settings.get(section, {}), **keys}
    text = yaml.safe_dump(settings, default_flow_style=True, width=10**7).strip()
    words = [f"recording:={name}", f"settings:={text}", f"output:={OUT}"]
    if draw(st.integers(0, 2)) == 0:
        words.append(f"{draw(st.sampled_from(LAUNCH_ARGUMENTS))}:={draw(arguments())}")
    words = tuple(word.replace("\0", "") for word in words)
    return Case(targets.EXPERIMENT, words, {name: content}, Expected((0, 1, 2), is_log=True))


@EXPENSIVE
@given(case=experiments())
def test_experiment_with_hostile_inputs_reports_reason_for_exit(check_outcome, case):
    assert not check_outcome(case, as_command=True).violations
