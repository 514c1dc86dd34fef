"""Names and behaviour of the imported package, imu_simulation_framework."""

import pickle
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import imu_simulation_framework as isf


def test_package_provides_documented_names_and_rejects_unknown_names():
    for name in isf.__all__:
        assert getattr(isf, name) is not None
    assert set(isf.__all__) <= set(dir(isf))
    with pytest.raises(AttributeError, match="simulate_gps"):
        _ = isf.simulate_gps


def output_of(code):
    """Return stdout and stderr of a new interpreter that runs the code."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, text=True, capture_output=True, check=True)
    return done.stdout + done.stderr


def test_package_import_loads_no_libraries():
    # lazy_loader must not be loaded either, because the Python of rostopic lacks it.
    code = "import sys, imu_simulation_framework; print({'numpy', 'lazy_loader'} & {*sys.modules})"
    assert output_of(code) == "set()\n"


def test_second_matplotlib_on_path_causes_no_warning():
    # The second matplotlib has 3D axes whose import fails.
    code = "import sys; sys.modules['mpl_toolkits.mplot3d'] = None\n{}import matplotlib.projections"
    assert "Unable to import Axes3D" in output_of(code.format(""))
    assert output_of(code.format("import imu_simulation_framework\n")) == ""


def test_recorded_drive_is_read_as_motion(tmp_path):
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


def test_functions_accept_sensors_by_name(tmp_path):
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
    simulated = isf.simulate_gimbal(drive, gimbal="level", imu="bno055", seed=2)
    expected = isf.simulate_gimbal(drive, level, bno055, seed=2)
    np.testing.assert_array_equal(simulated.motion.orientation, expected.motion.orientation)
    written = isf.write_imu_parameters("bno055", "kalibr", 100.0)
    assert written == isf.write_imu_parameters(bno055, "kalibr", 100.0)


def test_flight_functions_accept_sensors_by_name():
    flight = isf.circling(20.0, 0.8, rate=50.0)
    named_runs = isf.navigate_runs(flight, "agisim", "groves", runs=2)
    imus = ["agisim", isf.read_imu_specification("agisim")]
    expected_runs = isf.navigate_runs(flight, imus, isf.read_gnss_specification("groves"), runs=2)
    np.testing.assert_array_equal(named_runs.navigation.position, expected_runs.navigation.position)
    fixes = isf.simulate_earth_fixes(flight, "groves")
    expected = isf.simulate_earth_fixes(flight, isf.read_gnss_specification("groves"))
    np.testing.assert_array_equal(fixes.position, expected.position)


def test_initial_errors_of_one_run_apply_to_all_runs():
    errors = np.broadcast_to(0.0, 9)  # a read-only array
    flight = isf.circling(10.0, 0.8, rate=50.0)
    runs = isf.navigate_runs(flight, "agisim", "groves", runs=2, initial_errors=errors)
    assert np.isfinite(runs.navigation.position).all()


def test_unknown_imu_is_rejected_with_names_of_parts_and_models():
    motion = isf.at_rest(5.0)
    np.testing.assert_array_equal(
        isf.simulate_imu(motion, "hector_slow", 4),
        isf.simulate_imu(
            motion, isf.HectorParameters(yaw_drift=1.118, yaw_drift_frequency=0.001), 4
        ),
    )
    with pytest.raises(isf.FrameworkError, match="bno055, .*, and the models .*hector"):
        isf.simulate_imu(motion, "bno56")


def test_missing_file_is_rejected_with_its_name(tmp_path):
    with pytest.raises(isf.FrameworkError, match=r"nowhere\.bag"):
        isf.read_motion(tmp_path / "nowhere.bag")
    with pytest.raises(isf.FrameworkError, match="bno56"):
        isf.read_imu_specification("bno56")


def test_package_functions_can_be_pickled():
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


def test_missing_library_is_reported_with_extra_to_install():
    reports = output_of(MISSING_LIBRARIES).splitlines()
    expected = (("jsbsim", "flight"), ("mujoco", "simulator"), ("xacro", "simulator"))
    assert len(reports) == len(expected)
    for report, (module, extra) in zip(reports, expected):
        assert re.search(rf"\b{module}\b", report)
        assert f'pip install ".[{extra}]"' in report
