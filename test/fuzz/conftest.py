"""Hypothesis profiles and the shared test oracle."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.configuration import set_hypothesis_home_dir

UNIT = Path(__file__).resolve().parents[1] / "unit"
sys.path[:0] = [str(UNIT), str(UNIT / "sensors" / "formats")]

# Examples per property in the thorough tier.
EXAMPLES = int(os.environ.get("IMU_SIMULATION_FRAMEWORK_FUZZ_EXAMPLES", "250"))

_COMMON = {
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "phases": (Phase.explicit, Phase.generate, Phase.shrink),
}
settings.register_profile("gate", max_examples=5, derandomize=True, **_COMMON)
settings.register_profile("thorough", max_examples=EXAMPLES, print_blob=True, **_COMMON)


def pytest_configure(config):
    """Load the profile of the current tier, unless the command line selects a profile."""
    if config.getoption("--hypothesis-profile") is None:
        settings.load_profile("thorough" if _is_thorough(config) else "gate")
    # Hypothesis stores Unicode tables in this folder, which git ignores.
    set_hypothesis_home_dir(config.rootpath / ".pytest_cache" / "hypothesis")


def pytest_itemcollected(item):
    """Add property-based tests to the current tier, with few fixed or many random examples."""
    if hasattr(item.obj, "hypothesis") and not item.get_closest_marker("thorough"):
        item.add_marker("thorough" if _is_thorough(item.config) else "gate")


def _is_thorough(config):
    # The five examples of the gate tier are too few to detect an injected defect.
    named = any("test_injected_defects" in argument for argument in config.args)
    return named or config.getoption("-m") == "thorough"


@pytest.fixture(scope="session")
def check_outcome(tmp_path_factory):
    """Return a test oracle that has imported all programs, which takes several seconds."""
    from outcome_checker import OutcomeChecker

    return OutcomeChecker(tmp_path_factory.mktemp("cases"))
