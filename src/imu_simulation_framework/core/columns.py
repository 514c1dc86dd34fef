"""Names of the columns of our tables, which are those of the CSV files, too; each in one place.

What the tables are, with the units of their columns, stands in the package's own docstring.
"""

QUATERNION = ("qx", "qy", "qz", "qw")
EULER = ("roll", "pitch", "yaw")
GYRO = ("gyro_x", "gyro_y", "gyro_z")
ACCEL = ("accel_x", "accel_y", "accel_z")
MAG = ("mag_x", "mag_y", "mag_z")
WHEELS = ("left", "right")

POSES = ("x", "y", "yaw")
REFERENCE_ERROR = ("yaw_std", "yaw_error_time", "yaw_lag", "turn_error")
TRAJECTORY = (*POSES, "v", "yaw_rate")
IMU_RECORD = (*EULER, *GYRO, *ACCEL)
GROUND_TRUTH = ("x", "y", "z", *EULER, "v", "yaw_rate", "v_y", "v_z", *GYRO[:2])
CONTROL_ERROR = ("yaw_error", "distance_error", "along_track_error", "cross_track_error")
ODOMETER_TOLD = (*POSES[:2], *QUATERNION[2:], *TRAJECTORY[3:])
GNSS_LOCAL = (
    *("x", "y", "z", "variance_east", "variance_north", "variance_up"),
    *("velocity_east", "velocity_north", "velocity_up"),
    *("velocity_variance", "velocity_variance_up"),
    *("heading", "heading_variance", "quality", "arrival"),
)
GNSS_RECORD = (*GNSS_LOCAL[:3], "latitude", "longitude", "altitude", *GNSS_LOCAL[3:])
FLIGHT = (
    *("latitude", "longitude", "altitude"),
    *("velocity_east", "velocity_north", "velocity_up"),
    *EULER,
)
PLACE = ("latitude", "longitude", "altitude")
LOCAL_VELOCITY = ("velocity_east", "velocity_north", "velocity_up")
GNSS_TOLD_POSITION = (*PLACE, "status", "variance_east", "variance_north", "variance_up")
GNSS_TOLD_VELOCITY = (*LOCAL_VELOCITY, "velocity_variance", "velocity_variance_up")
GNSS_TOLD = (*GNSS_TOLD_POSITION, *GNSS_TOLD_VELOCITY, "heading")
FLIGHT_TRUTH = (*PLACE, *LOCAL_VELOCITY, *QUATERNION, *GYRO, *ACCEL)
INCREMENTS = (
    *("delta_theta_x", "delta_theta_y", "delta_theta_z"),
    *("delta_velocity_x", "delta_velocity_y", "delta_velocity_z"),
)
