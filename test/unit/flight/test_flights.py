import os
import shutil
import socket

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.errors import ConfigurationError, SimulatorError
from imu_simulation_framework.flight.jsbsim import data_folder, fly, jsbsim
from imu_simulation_framework.motion.earth import geodetic_of
from imu_simulation_framework.motion.earth_motion import ned_to_ecef

AT = '<event name="{name}"><condition>simulation/sim-time-sec ge {time}</condition>{set}</event>'
SET = '<set name="{}" value="{}"/>'


@pytest.fixture(scope="module")
def c3104():
    return fly("c3104", duration=200.0, start=3.0)


def test_c310_flight_phases_match_events_of_script(c3104):
    found = c3104.states.instants()
    # According to the script, the aircraft raises the gear at 40 ft, turns to the first waypoint at
    # 800 ft and 50 s, and turns to the second waypoint at 168 s.
    assert 15.0 < found.lift_off < found.ascent < 19.0
    assert 50.0 < found.cruise < 60.0
    assert 167.0 < found.turn_start < 171.0 and 195.0 < found.turn_end < 200.0
    assert c3104.remarks == () and not c3104.crashed
    named = {name: time for time, name in c3104.events}
    assert named["Raise landing gear"] == pytest.approx(18.98, abs=0.03)
    assert {"engine 1 runs", "engine 2 runs"} <= set(named)
    height = geodetic_of(c3104.states.position)[:, 2]
    assert np.max(height) < 320.0 and height[-1] == pytest.approx(304.8, abs=5.0)


def test_flight_settings_are_recorded(c3104):
    expected_settings = {"source": "JSBSim", "version": jsbsim().__version__, "script": "c3104"}
    expected_settings.update(aircraft="c310", rate=50.0, start=3.0, duration=200.0)
    assert c3104.settings == expected_settings
    np.testing.assert_array_equal(c3104.states.time, np.arange(150, 10_151) / 50.0)


def test_repeated_flight_is_bit_identical_and_prints_nothing(c3104, capfd):
    again = fly("c3104", duration=20.0, start=3.0)
    np.testing.assert_array_equal(again.states.position, c3104.states.position[:1001])
    np.testing.assert_array_equal(again.states.orientation, c3104.states.orientation[:1001])
    fly("c3104", duration=20.0)
    out, err = capfd.readouterr()
    assert out == "" and err == ""


def _simulator():
    simulator = jsbsim().FGFDMExec(str(data_folder()))
    simulator.set_debug_level(0)
    simulator.load_script("scripts/c3104.xml")
    simulator.set_dt(0.02)
    simulator.disable_output()
    simulator.run_ic()
    return simulator


def test_flight_states_match_jsbsim_properties(c3104):
    simulator = _simulator()
    for _ in range(1500):
        simulator.run()
    row = 1500 - 150
    position = [simulator[f"position/ecef-{axis}-ft"] * 0.3048 for axis in "xyz"]
    np.testing.assert_allclose(c3104.states.position[row], position, atol=1e-9)
    ned = [simulator[f"velocities/v-{name}-fps"] * 0.3048 for name in ("north", "east", "down")]
    velocity = ned_to_ecef(*geodetic_of(c3104.states.position[row])[:2]).apply(ned)
    np.testing.assert_allclose(c3104.states.velocity[row], velocity, atol=1e-9)
    # JSBSim's matrix rotates from ECEF to forward, right, down.
    matrix = np.asarray(simulator.get_propagate().get_Tec2b()).T @ np.diag([1.0, -1.0, -1.0])
    rotation = Rotation.from_quat(c3104.states.orientation[row]).as_matrix()
    np.testing.assert_allclose(rotation, matrix, atol=1e-14)


def test_specific_force_of_motion_matches_jsbsim():
    simulator = _simulator()
    forces = np.empty((3001, 3))
    for row in range(len(forces)):
        pounds = [simulator[f"forces/fb{axis}-total-lbs"] for axis in "xyz"]
        forces[row] = np.array(pounds) / simulator["inertia/mass-slugs"] * 0.3048
        simulator.run()
    motion = fly("c3104", duration=60.0).states.motion()
    off = np.abs(motion.specific_force - forces * [1.0, -1.0, -1.0])
    # JSBSim uses J2 gravity and a second-order integrator.
    assert np.max(off[motion.time > 20.0]) < 0.01
    # JSBSim's force changes within one step when a wheel leaves the ground.
    assert np.max(off[motion.time > 3.0]) < 1.0


def test_engine_failure_and_early_end_are_reported(script):
    flight = fly("c3105", duration=255.0)
    assert flight.remarks == ("engine 2 stops at 250.00 s",)
    assert not flight.crashed and flight.states.time[-1] == 255.0
    flight = fly(script(end=5), duration=10.0)
    assert flight.remarks == ("the flight ends at 5.02 s: the script ended",)
    assert flight.states.time[-1] == pytest.approx(5.0)
    with pytest.raises(SimulatorError, match=r"ours.xml: .* the script ended"):
        fly(script(end=5), duration=10.0, start=7.0)


def test_crash_is_reported_and_states_before_it_are_returned(script):
    dive = SET.format("ap/altitude_hold", 0) + SET.format("fcs/elevator-cmd-norm", 1)
    events = AT.format(name="Dive", time=60, set=dive)
    own = (data_folder() / "scripts" / "c3104.xml").read_text(encoding="utf-8")
    flight = fly(written(script, own.replace("</run>", events + "</run>")), duration=200.0)
    assert flight.crashed and len(flight.remarks) == 1
    assert (
        "the flight ends at" in flight.remarks[0] and "the aircraft crashed: " in flight.remarks[0]
    )
    assert 60.0 < flight.states.time[-1] < 100.0
    assert np.all(np.isfinite(flight.states.position))
    # The flight ends at the first check after the aircraft touches the ground.
    assert geodetic_of(flight.states.position[-1])[2] < 25.0


def written(script, text):
    path = script()
    path.write_text(text, encoding="utf-8")
    return path


UNUSABLE_SCRIPT = "ours.xml: JSBSim cannot .*"
EMPTY_VALUE = """<event name="a"><condition>simulation/sim-time-sec ge 0.1</condition>
<set name="position/h-agl-ft" value=""/><notify/></event>"""
UNKNOWN_PROPERTY = "<event><condition>no/such ge 1</condition></event>"


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda script, _: script(UNKNOWN_PROPERTY), "ours.xml: .*JSBSim failed: .*no/such"),
        (lambda script, _: script(EMPTY_VALUE), "ours.xml: <set> .*'position/h-agl-ft'"),
        (
            lambda script, _: written(script, "<runscript><use "),
            UNUSABLE_SCRIPT + "line 1.*unclosed",
        ),
        (lambda script, _: script(aircraft="nope"), "ours.xml: JSBSim cannot run .*nope"),
        *(
            (lambda script, _, name=name: script(aircraft=name), "ours.xml: <use> .*in the folder")
            for name in ("/etc/c310", "../aircraft/c310", "~/c310")
        ),
        (lambda *_: "c31O4", "no script 'c31O4', did you mean c3104"),
        (
            lambda _, folder: folder / "gone.xml",
            "gone.xml: the script cannot be read: No such file",
        ),
    ],
)
def test_invalid_jsbsim_script_is_rejected_with_file_name_and_without_output(
    script, tmp_path, capfd, make, words
):
    with pytest.raises(SimulatorError, match=words) as refusal:
        fly(make(script, tmp_path))
    assert "\n" not in str(refusal.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("settings", [{"rate": 0.0}, {"duration": -1.0}, {"start": -1.0}])
def test_flight_settings_out_of_range_are_rejected(settings):
    with pytest.raises(ConfigurationError, match=f"a flight's {next(iter(settings))} is"):
        fly("c3104", **settings)


def test_user_aircraft_is_found_in_specified_folder(script, tmp_path):
    with pytest.raises(SimulatorError, match=r"gone: .* folder of aircraft"):
        fly("c3104", aircraft_folder=tmp_path / "gone")
    shutil.copytree(data_folder() / "aircraft" / "c310", tmp_path / "fleet" / "mine")
    (tmp_path / "fleet" / "mine" / "c310.xml").rename(tmp_path / "fleet" / "mine" / "mine.xml")
    flight = fly(script(aircraft="mine"), duration=1.0, aircraft_folder=tmp_path / "fleet")
    assert flight.settings["aircraft_folder"] == str(tmp_path / "fleet")
    expected = fly(script(), duration=1.0).states.position
    np.testing.assert_array_equal(flight.states.position, expected)


def _output(name, kind="CSV", more=""):
    return (
        f'<output name="{name}" type="{kind}" rate="10" {more}>'
        "<property>position/h-sl-ft</property></output>"
    )


def _fleet(tmp_path, change=lambda text: text):
    """Return an aircraft folder with a changed copy of the C310."""
    aircraft = tmp_path / "fleet" / "c310"
    shutil.copytree(data_folder() / "aircraft" / "c310", aircraft)
    path = aircraft / "c310.xml"
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    return aircraft


def test_outputs_in_flight_script_are_not_opened(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept, fifo = tmp_path / "kept.csv", tmp_path / "fifo"
    kept.write_text("mine\n")
    os.mkfifo(fifo)
    expected = fly(script(), duration=1.0).states.position
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(0.2)
    address = f'protocol="TCP" port="{listening.getsockname()[1]}"'
    saved = '<set name="simulation/write-state-file" value="1"/>'
    event = f"<event><condition>simulation/sim-time-sec ge 0.1</condition>{saved}</event>"
    asked = (
        _output(kept)
        + _output(fifo, "TABULAR")
        + _output("new.csv")
        + _output("127.0.0.1", "SOCKET", address)
        + _output("127.0.0.1", "FLIGHTGEAR", address)
        + '<output file="/etc/passwd"/>'
    )
    with listening:
        flight = fly(script(top=asked, events=event), duration=1.0)
        with pytest.raises(socket.timeout):
            listening.accept()
    np.testing.assert_array_equal(flight.states.position, expected)
    assert kept.read_text() == "mine\n"
    assert {path.name for path in tmp_path.iterdir()} == {"kept.csv", "fifo", "ours.xml"}


def test_outputs_in_aircraft_files_are_not_opened(script, tmp_path):
    kept = tmp_path / "kept.csv"
    kept.write_text("mine\n")
    asked = _output(kept) + '<system file="ours"/>'
    aircraft = _fleet(tmp_path, lambda text: text.replace("</fdm_config>", f"{asked}</fdm_config>"))
    component = (
        '<channel name="c"><summer name="ours/a"><input>position/h-sl-ft</input>'
        "<output>ours/b</output></summer></channel>"
    )
    (aircraft / "Systems").mkdir(exist_ok=True)
    system = f'<system name="ours">{_output(kept)}{component}</system>'
    (aircraft / "Systems" / "ours.xml").write_text(system)
    # The output element of a flight control component is preserved.
    event = "<event><condition>ours/b gt -1e9</condition></event>"
    flight = fly(script(event), duration=1.0, aircraft_folder=tmp_path / "fleet")
    assert len(flight.states.time) == 51
    assert kept.read_text() == "mine\n"


@pytest.mark.parametrize("name", ["c310.xml", "ellington.xml"])
def test_fifo_in_aircraft_folder_is_rejected_at_once(script, tmp_path, name):
    path = _fleet(tmp_path) / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    with pytest.raises(SimulatorError, match=f"{name}: cannot be read: it is a FIFO"):
        fly(script(), duration=1.0, aircraft_folder=tmp_path / "fleet")


def test_deeply_nested_aircraft_xml_is_rejected(script, tmp_path):
    deep = "<a>" * 200_000 + "</a>" * 200_000
    _fleet(tmp_path, lambda _: deep)
    with pytest.raises(
        SimulatorError, match=r"c310.xml: .*line 1: .*nested more than 200 levels deep"
    ):
        fly(script(), duration=1.0, aircraft_folder=tmp_path / "fleet")
