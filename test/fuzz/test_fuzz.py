"""A short campaign with seeds that stay: nothing that was mended breaks again.

`./run fuzz` takes other seeds, and more trials.
"""

import fuzz
import pytest
import specimens
import targets
from verdict import Expected, tried

SEED, TRIALS, PARTS = 1, 300, 20


@pytest.fixture(scope="module", autouse=True)
def prepared():
    targets.prepare()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_hostile_inputs_are_refused_or_read(part):
    table = fuzz.Table(SEED)
    fuzz.campaign(SEED, range(part, TRIALS, PARTS), False, table.add)
    assert not table.short, "\n".join(table.lines())


@pytest.fixture
def accepted(tmp_path):
    """Run a tool on a specimen, which has to be accepted; otherwise little would be tried."""

    def run(tool, arguments, specimen):
        run.number += 1
        folder = tmp_path / str(run.number)
        folder.mkdir()
        (folder / specimen.name).write_bytes(specimen.content)
        expected = Expected((0,), remarks=tool == "convert_imu_parameters.py")
        verdict = tried(targets.program(tool, arguments, False), folder, expected)
        assert not verdict.short, (specimen.name, arguments, verdict)

    run.number = 0
    return run


def test_recordings_are_good_before_they_are_harmed(accepted):
    for specimen in specimens.recordings():
        for kind in specimen.serves:
            accepted("read", [specimen.name, kind], specimen)
        if not specimen.serves:
            accepted("check", [specimen.name], specimen)


def test_recordings_at_rest_are_good_before_they_are_harmed(accepted):
    specimen = specimens.at_rest()[0]
    accepted("allan_analysis.py", [specimen.name, "--out", "out"], specimen)


def test_parameters_are_good_before_they_are_harmed(accepted):
    for kind, specimen in specimens.parameters():
        arguments = [specimen.name, "--from", kind, "--to", "specification", "--rate", "100"]
        accepted("convert_imu_parameters.py", arguments, specimen)


def test_settings_are_good_before_they_are_harmed(accepted):
    for part, text in (("load", specimens.configuration()), ("robot", specimens.robot())):
        accepted(part, ["settings"], specimens.Specimen("settings", text.encode()))
