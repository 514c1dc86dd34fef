"""What a person gets by importing the package."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import imu_simulation_framework as isf


def test_every_name_is_there_and_a_wrong_one_is_no_attribute():
    for name in isf.__all__:
        assert getattr(isf, name) is not None
    assert set(isf.__all__) <= set(dir(isf))
    with pytest.raises(AttributeError, match="No imu_simulation_framework attribute simulate_gps"):
        _ = isf.simulate_gps


def printed_by(code):
    """Return the output of a new interpreter."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, text=True, capture_output=True, check=True)
    return done.stdout + done.stderr


def test_package_import_loads_no_library():
    # Not even the library that opens the front door: rostopic's Python has none.
    code = "import sys, imu_simulation_framework; print({'numpy', 'lazy_loader'} & {*sys.modules})"
    assert printed_by(code) == "set()\n"


def test_second_matplotlib_on_the_path_gives_no_warning():
    # The 3D axes are those of another matplotlib, and cannot be imported.
    code = "import sys; sys.modules['mpl_toolkits.mplot3d'] = None\n{}import matplotlib.projections"
    assert "Unable to import Axes3D" in printed_by(code.format(""))
    assert printed_by(code.format("import imu_simulation_framework\n")) == ""


def test_a_recorded_drive_is_a_motion(tmp_path):
    time = np.arange(0.0, 30.0, 0.2) + 100.0
    yaw = 0.3 * (time - 100.0)
    table = np.column_stack([time, 2.0 * np.sin(yaw), 2.0 * (1.0 - np.cos(yaw)), yaw])
    path = tmp_path / "drive.csv"
    np.savetxt(path, table, delimiter=",", header="time,x,y,yaw", comments="")
    motion = isf.read_motion(path, trajectory={"stop": 20.0})
    assert motion.time[0] == 0.0
    assert motion.duration == pytest.approx(20.0)
    inner = slice(200, -200)
    np.testing.assert_allclose(motion.angular_velocity[inner, 2], 0.3, rtol=0.0, atol=0.003)
    np.testing.assert_allclose(motion.specific_force[inner, 1], 0.18, rtol=0.0, atol=0.05)
    np.testing.assert_allclose(motion.specific_force[inner, 1].mean(), 0.18, rtol=0.01)


def test_a_sensor_is_taken_by_its_name_wherever_one_is_taken(tmp_path):
    drive = isf.read_drive("a", laps=1)
    bno055, steel = isf.read_imu_specification("bno055_magnetometer"), "steel_beam"
    environment = isf.read_magnetic_environment(steel)
    pd.testing.assert_frame_equal(
        isf.simulate_imu(drive, "bno055_magnetometer", 3, magnetic_environment=steel),
        isf.simulate_imu(drive, bno055, 3, magnetic_environment=environment),
    )
    pd.testing.assert_frame_equal(
        isf.yaw_error_model("bno055", drive).bands(),
        isf.yaw_error_model(isf.read_imu_specification("bno055"), drive).bands(),
    )
    receiver = isf.read_gnss_specification("rtk")
    pd.testing.assert_frame_equal(
        isf.simulate_gnss(drive, "rtk"), isf.simulate_gnss(drive, receiver)
    )
    bno055, level = isf.read_imu_specification("bno055"), isf.read_gimbal("level")
    kept = isf.simulate_gimbal(drive, gimbal="level", imu="bno055", seed=2)
    expected = isf.simulate_gimbal(drive, level, bno055, seed=2)
    np.testing.assert_array_equal(kept.motion.orientation, expected.motion.orientation)
    written = isf.write_imu_parameters("bno055", "kalibr", 100.0)
    assert written == isf.write_imu_parameters(bno055, "kalibr", 100.0)


def test_a_flight_takes_its_sensors_by_their_names():
    flight = isf.circling(20.0, 0.8, rate=50.0)
    by_name = isf.navigate_runs(flight, "agisim", "groves", runs=2)
    imus = ["agisim", isf.read_imu_specification("agisim")]
    each = isf.navigate_runs(flight, imus, isf.read_gnss_specification("groves"), runs=2)
    np.testing.assert_array_equal(by_name.navigation.position, each.navigation.position)
    fixes = isf.simulate_earth_fixes(flight, "groves")
    expected = isf.simulate_earth_fixes(flight, isf.read_gnss_specification("groves"))
    np.testing.assert_array_equal(fixes.position, expected.position)


def test_errors_at_the_beginning_may_be_the_same_for_all_runs():
    errors = np.broadcast_to(0.0, 9)  # which nobody may write to
    flight = isf.circling(10.0, 0.8, rate=50.0)
    runs = isf.navigate_runs(flight, "agisim", "groves", runs=2, initial_errors=errors)
    assert np.isfinite(runs.navigation.position).all()


def test_models_keep_their_names_and_a_wrong_one_is_told_both_kinds():
    motion = isf.at_rest(5.0)
    np.testing.assert_array_equal(
        isf.simulate_imu(motion, "hector_slow", 4),
        isf.simulate_imu(
            motion, isf.HectorParameters(yaw_drift=1.118, yaw_drift_frequency=0.001), 4
        ),
    )
    with pytest.raises(isf.FrameworkError, match="bno055, .*, and the models .*hector"):
        isf.simulate_imu(motion, "bno56")


def test_what_cannot_be_read_is_a_sentence(tmp_path):
    with pytest.raises(isf.FrameworkError, match=r"nowhere\.bag"):
        isf.read_motion(tmp_path / "nowhere.bag")
    with pytest.raises(isf.FrameworkError, match="there is no such file, nor an IMU of that name"):
        isf.read_imu_specification("bno56")


def test_what_the_front_door_offers_can_be_sent_to_another_process():
    assert pickle.loads(pickle.dumps(isf.simulate_imu)) is isf.simulate_imu


MISSING_LIBRARIES = """
import sys
import imu_simulation_framework as isf
for module, use in (
    ("jsbsim", lambda: isf.fly()),
    ("mujoco", lambda: isf.robot_motion),
    ("xacro", lambda: isf.robot_motion(isf.load_configuration())),
):
    sys.modules[module] = None
    try:
        use()
    except isf.FrameworkError as error:
        print(error)
    del sys.modules[module]
"""


def test_missing_library_is_reported_with_the_extra_that_installs_it():
    reports = printed_by(MISSING_LIBRARIES).splitlines()
    expected = (("jsbsim", "flight"), ("mujoco", "simulator"), ("xacro", "simulator"))
    assert len(reports) == len(expected)
    for report, (module, extra) in zip(reports, expected):
        assert f"needs the Python library {module}, which is not installed" in report
        assert f'pip install ".[{extra}]"' in report
