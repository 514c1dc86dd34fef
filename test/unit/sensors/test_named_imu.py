import pytest

from imu_simulation_framework.sensors.named_imu import named_imu

KALIBR = """gyroscope_noise_density: 1.5e-4
gyroscope_random_walk: 2.5e-5
accelerometer_noise_density: 2.5e-3
accelerometer_random_walk: 3.5e-4
update_rate: 200
"""
SDF = """<sensor type="imu"><update_rate>200</update_rate><imu><angular_velocity><z>
<noise type="gaussian"><stddev>0.002</stddev></noise></z></angular_velocity></imu></sensor>
"""


def test_a_file_of_a_format_without_names_is_called_as_the_file(tmp_path):
    path = tmp_path / "robot.yaml"
    path.write_text(KALIBR)
    imu = named_imu(f"kalibr:{path}")
    assert (imu.name, imu.errors.name, imu.files) == ("robot", "robot", (str(path),))
    path.write_text("name: mine\n")
    assert named_imu(f"specification:{path}").name == "mine"


def test_a_heading_without_error_is_told(tmp_path):
    path = tmp_path / "robot.sdf"
    path.write_text(SDF)
    assert any(
        "robot gives out the true orientation" in text for text in named_imu(f"sdf:{path}").remarks
    )
    path.write_text(KALIBR)
    assert named_imu(f"kalibr:{path}").remarks == ()


@pytest.mark.parametrize("fused", ["bno055", "vn100"])
def test_a_fused_heading_needs_no_remark(fused):
    assert named_imu(fused).remarks == ()
