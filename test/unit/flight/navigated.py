"""Navigation sensors that several tests share."""

from imu_simulation_framework.sensors.gnss.specification import FixQuality, GnssSpecification
from imu_simulation_framework.sensors.imu_specification import ImuSpecification, TriadSpecification

IMU = ImuSpecification(
    name="biased",
    gyroscope=TriadSpecification(white_noise=2.327e-6, turn_on_bias_sigma=2e-4),
    accelerometer=TriadSpecification(white_noise=7.845e-4, turn_on_bias_sigma=0.01),
)
GNSS = GnssSpecification(
    rate=2.0,
    qualities=(FixQuality("single", 2.5, 3.5, velocity_noise=0.1, vertical_velocity_noise=0.15),),
)
ANTENNA = (-1.0, 0.4, 1.5)
