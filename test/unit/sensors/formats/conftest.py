import pytest

from imu_simulation_framework.sensors.formats.registry import read_imu_parameters


@pytest.fixture
def read(tmp_path):
    """Return a function that reads IMU parameters in a given format from text or bytes."""

    def read(name, content, rate=None):
        path = tmp_path / "parameters"
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return read_imu_parameters(path, name, rate)

    return read
