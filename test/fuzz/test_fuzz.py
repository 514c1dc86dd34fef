"""A short campaign with seeds that stay: nothing that was mended breaks again.

`./run fuzz` takes other seeds, and more trials.
"""

import fuzz
import pytest
import specimens
import targets
from verdict import DONE, Expected, tried

SEED, TRIALS, PARTS = 1, 300, 20


@pytest.fixture(scope="module", autouse=True)
def prepared():
    targets.prepare()


@pytest.mark.gate
@pytest.mark.parametrize("part", range(PARTS))
def test_hostile_inputs_are_refused_or_read(part):
    table = fuzz.Table(SEED)
    fuzz.campaign(SEED, range(part, TRIALS, PARTS), False, table.add)
    assert not table.short, "\n".join(table.lines())


def _good():
    """Tools, words and specimens that have to be accepted; otherwise little would be tried."""
    for specimen in specimens.recordings():
        yield from (("read", [specimen.name, kind], specimen) for kind in specimen.serves)
        if not specimen.serves:
            yield "check", [specimen.name], specimen
    rest = specimens.at_rest()[0]
    yield "allan_analysis.py", [rest.name, "--out", "out"], rest
    for kind, specimen in specimens.parameters():
        words = [specimen.name, "--from", kind, "--to", "specification", "--rate", "100"]
        yield "convert_imu_parameters.py", words, specimen
    for part, text in (("load", specimens.CONFIGURATION), ("robot", specimens.ROBOT)):
        yield part, ["settings"], specimens.Specimen("settings", text.encode())


def test_specimens_are_good_before_they_are_harmed(tmp_path):
    for number, (tool, words, specimen) in enumerate(_good()):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / specimen.name).write_bytes(specimen.content)
        codes = DONE if tool == "check" else (0,)
        expected = Expected(codes, remarks=tool == "convert_imu_parameters.py")
        verdict = tried(targets.program(tool, words, False), folder, expected)
        assert not verdict.short, (specimen.name, words, verdict)
