"""Simulate an IMU on a mobile robot and evaluate its heading drift.

The table lists all packages. A package imports only from packages above it, and all may import
``core`` (``./run lint`` checks both):

====================  =============================================================
``core``              angles, units of measurement, errors, names, reading and writing
                      of files
``report``            layout of figures, tables and pages
``motion``            trajectories, drives, positioning, time stamps; motion on the
                      rotating Earth
``sensors``           models of IMUs, magnetometers and GNSS receivers; formats of
                      their parameters
``recordings``        conversion of recordings to tables, and plausibility
                      checks
``characterisation``  identification of a sensor's specification from recordings:
                      Allan variance, calibration
``heading``           yaw error: model, budget, statistics, identification,
                      judgement, a page with sliders
``drive``             robot, tracking, MuJoCo, config.ini, sessions, results,
                      ensembles
``realistic_imu``     addition of a real sensor's errors to topics and bags of
                      any robot
``flight``            JSBSim, gimbal, inertial navigation
``commands``          command lines, with one module per program
``ros1``              nodes, interfaces of simulators, launching; the only package
                      that imports rospy
``ros2``              nodes of ROS 2; the only package that imports rclpy
====================  =============================================================

Tables
------
Tables are :class:`pandas.DataFrame` with a float64 index named ``time`` in
seconds, strictly increasing. The CSV files have the same columns. The index of
a recording is the recording's own clock (seconds since 1970 for a ROS bag). In a
prepared drive and in all results of an experiment, zero is the start of the
drive.

==================== ==============================================================
name                 columns
==================== ==============================================================
``Poses``            x, y [m], yaw [rad, unwrapped]; for a reference with a known
                     error also yaw_known, yaw_std [rad], yaw_error_time, yaw_lag
                     [s], turn_error, turn_slip [rad/sqrt(rad)], see ``heading.reference_error``
``Trajectory``       Poses and v [m/s], yaw_rate [rad/s]
``ImuRecord``        roll, pitch [rad], yaw [rad, unwrapped],
                     gyro_x, gyro_y, gyro_z [rad/s], accel_x, accel_y, accel_z
                     [m/s^2, specific force: +9.8 on z at rest]; columns of
                     sensors or axes that a recording lacks are missing; with
                     a magnetometer also mag_x, mag_y, mag_z [T]
``GroundTruth``      x, y, z [m], roll, pitch [rad], yaw [rad, unwrapped],
                     v [m/s], yaw_rate [rad/s]; v_y, v_z, gyro_x, gyro_y are the
                     other components of velocity and angular velocity in the
                     axes of the robot, where v is along x and yaw_rate about z
``MagneticField``    mag_x, mag_y, mag_z [T], in the IMU's axes
``WheelVelocities``  left, right [rad/s], commanded or measured; with steering also
                     steering, or steering_left and steering_right [rad]
``ControlError``     yaw_error [rad], distance_error, along_track_error,
                     cross_track_error [m]
``Fixes``            x, y [m], satellite positions as received, in the frame of the Trajectory
``Fix``              latitude, longitude [deg], altitude [m],
                     variance_east, variance_north [m^2]
``Flight``           latitude, longitude [deg], altitude [m above the ellipsoid],
                     velocity_east, velocity_north, velocity_up [m/s], roll,
                     pitch [rad], yaw [rad, unwrapped], relative to east, north
                     and up at the position of the body
``GnssRecord``       x, y, z [m, of the antenna], latitude, longitude [deg],
                     altitude [m], variance_east, variance_north, variance_up
                     [m^2], velocity_east, velocity_north, velocity_up [m/s],
                     velocity_variance (of east and of north),
                     velocity_variance_up [m^2/s^2], heading [rad, unwrapped],
                     heading_variance [rad^2], quality (GGA's number),
                     arrival [s]; indexed by the times of measurement
``GnssReported``     latitude, longitude [deg], altitude [m], status (of
                     NavSatStatus), variance_east, variance_north, variance_up
                     [m^2], velocity_east, velocity_north, velocity_up [m/s],
                     velocity_variance (of east and of north),
                     velocity_variance_up [m^2/s^2], heading [rad, unwrapped]; the
                     content of a receiver's messages, indexed by their stamps
``FlightTruth``      latitude, longitude [deg], altitude [m above the ellipsoid],
                     velocity_east, velocity_north, velocity_up [m/s], qx, qy, qz, qw
                     [from the body to east, north, up], gyro_x, gyro_y, gyro_z
                     [rad/s, relative to inertial space], accel_x, accel_y, accel_z
                     [m/s^2]
``Increments``       delta_theta_x, delta_theta_y, delta_theta_z [rad],
                     delta_velocity_x, delta_velocity_y, delta_velocity_z [m/s],
                     over the period that ends at each time
``GimbalAngles``     pan, tilt, roll [rad], pan_rate, tilt_rate, roll_rate [rad/s]
==================== ==============================================================

Conventions
-----------
All values are in SI units, and angles are in radians; degrees occur only in output for users. The
world frame is ENU, the body frame is x forward, y left, z up (REP-103), and yaw is
counter-clockwise from east. Yaw is unwrapped before differences, and differences are wrapped to
(-pi, pi]. Quaternions are in ROS order (x, y, z, w). On the rotating Earth (``motion``) the world
is ECEF (WGS 84), and output for users is relative to east, north, up; axes of aviation (north,
east, down; forward, right, down) are converted at input.

An error is reference minus actual value. With a negative yaw error, the actual yaw is too far to
the left: the robot has to turn right to correct a tracking error, and the yaw of an IMU has to be
reduced.

Random numbers come from a :class:`numpy.random.Generator` that is passed in.

All errors with messages for users derive from
:class:`imu_simulation_framework.core.errors.FrameworkError`.
"""

import functools
import os
import warnings

__version__ = "0.1.0"

# Where Debian's matplotlib is installed too, it hides the 3D axes of the pinned version, which
# this package does not use.
warnings.filterwarnings("ignore", "Unable to import Axes3D", UserWarning)


@functools.lru_cache(maxsize=None)
def _front_door():
    # Imported here, because rostopic and rosservice import the messages of this package in an
    # interpreter that may lack lazy_loader.
    import lazy_loader

    # In a catkin workspace, __file__ is a file generated by catkin, which executes this one.
    stubs = (os.path.join(folder, "__init__.pyi") for folder in __path__)
    names, _, offered = lazy_loader.attach_stub(__name__, next(filter(os.path.isfile, stubs)))
    return names, [*offered, "__version__"]


def __getattr__(name):
    # Names are imported on first use, so programs that need neither MuJoCo nor bags start faster.
    if name == "__all__":
        return _front_door()[1]
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _front_door()[0](name)


def __dir__():
    return __getattr__("__all__")
