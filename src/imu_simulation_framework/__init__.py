"""Simulate an IMU on a mobile robot and judge how far its heading drifts.

The map; each package imports only from those above it, and ``core`` is the only one that all
may import (``./run lint`` checks both):

====================  =============================================================
``core``              angles, units, errors, names, files as they are read and written
``report``            how a figure, a table and a page look
``motion``            trajectories, drives, positioning, time stamps; motion on the
                      turning Earth
``sensors``           what an IMU, a magnetometer and a GNSS receiver say of a
                      motion; everybody's formats of their parameters
``recordings``        from any file to tables, and whether they can be right
``characterisation``  from a sensor's recording to its specification: Allan
                      variance, calibration
``heading``           the yaw error: model, budget, statistics, identification,
                      judgement, a page with sliders
``drive``             robot, tracking, MuJoCo, config.ini, sessions, results,
                      ensembles
``realistic_imu``     a real sensor's errors on any robot's topics and bags
``flight``            JSBSim, gimbal, inertial navigation
``commands``          the command lines, a module for each program
``ros1``              nodes, simulators' interfaces, launching: the only place that
                      imports rospy
``ros2``              nodes again; the only place that imports rclpy
====================  =============================================================

Tables
------
Tables are :class:`pandas.DataFrame` with a float64 index named ``time`` in
seconds, strictly increasing. The CSV files have the same columns. As read from
a recording the index is the recording's own clock (seconds since 1970 for a ROS
bag); once a drive is prepared, and in everything an experiment writes, zero is
the start of the drive.

==================== ==============================================================
name                 columns
==================== ==============================================================
``Poses``            x, y [m], yaw [rad, unwrapped]; of a reference whose error
                     is known yaw_known, yaw_std [rad], yaw_error_time, yaw_lag
                     [s], turn_error, turn_slip [rad/sqrt(rad)], see ``heading.reference_error``
``Trajectory``       Poses and v [m/s], yaw_rate [rad/s]
``ImuRecord``        roll, pitch [rad], yaw [rad, unwrapped],
                     gyro_x, gyro_y, gyro_z [rad/s], accel_x, accel_y, accel_z
                     [m/s^2, specific force: +9.8 on z at rest]; a recording
                     without gyroscope, accelerometer or single axes of
                     them lacks those columns; with a magnetometer also
                     mag_x, mag_y, mag_z [T]
``GroundTruth``      x, y, z [m], roll, pitch [rad], yaw [rad, unwrapped],
                     v [m/s], yaw_rate [rad/s]; v_y, v_z, gyro_x, gyro_y, the
                     other components: of the velocity, and of the angular
                     velocity, in the axes of the robot, where v and yaw_rate
                     are along x and about z
``MagneticField``    mag_x, mag_y, mag_z [T], in the IMU's axes
``WheelVelocities``  left, right [rad/s], as commanded or as the wheels turned; of a
                     robot that steers also steering, or steering_left and
                     steering_right [rad]
``ControlError``     yaw_error [rad], distance_error, along_track_error,
                     cross_track_error [m]
``Fixes``            x, y [m], satellite positions as received, on the Trajectory
``Fix``              latitude, longitude [deg], altitude [m],
                     variance_east, variance_north [m^2]
``Flight``           latitude, longitude [deg], altitude [m above the ellipsoid],
                     velocity_east, velocity_north, velocity_up [m/s], roll,
                     pitch [rad], yaw [rad, unwrapped], against east, north, up
                     where the body is
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
                     velocity_variance_up [m^2/s^2], heading [rad, unwrapped]; what
                     the messages of a receiver say, by their stamps
``FlightTruth``      latitude, longitude [deg], altitude [m above the ellipsoid],
                     velocity_east, velocity_north, velocity_up [m/s], qx, qy, qz, qw
                     [from the body to east, north, up], gyro_x, gyro_y, gyro_z
                     [rad/s, against inertial space], accel_x, accel_y, accel_z
                     [m/s^2]
``Increments``       delta_theta_x, delta_theta_y, delta_theta_z [rad],
                     delta_velocity_x, delta_velocity_y, delta_velocity_z [m/s],
                     over the period that ends at each time
``GimbalAngles``     pan, tilt, roll [rad], pan_rate, tilt_rate, roll_rate [rad/s]
==================== ==============================================================

Conventions
-----------
SI units; radians inside, degrees only where a person reads. World frame ENU, body
frame x forward, y left, z up (REP-103); yaw is counter-clockwise from east. Yaw is
unwrapped before any difference, and differences are wrapped to (-pi, pi].
Quaternions are in ROS order (x, y, z, w). On the turning Earth (``motion``) the
world is ECEF (WGS 84), and what a person sees is against east, north, up at the place;
axes of aviation (north, east, down; forward, right, down) are converted where they
enter. An error is reference minus actual, so a
negative yaw error means: turn right. Random numbers come from a
:class:`numpy.random.Generator` that is passed in.

Every error meant for a person derives from
:class:`imu_simulation_framework.core.errors.FrameworkError`.
"""

import functools
import os
import warnings

__version__ = "0.1.0"

# Debian's matplotlib beside the pinned one takes the place of its 3D axes; none are drawn here.
warnings.filterwarnings("ignore", "Unable to import Axes3D", UserWarning)


@functools.lru_cache(maxsize=None)
def _front_door():
    # Not at the top: rostopic and rosservice import our messages with a Python that has only ROS.
    import lazy_loader

    # In a catkin workspace the module's own file is one of catkin's, which leads to this one.
    stubs = (os.path.join(folder, "__init__.pyi") for folder in __path__)
    names, _, offered = lazy_loader.attach_stub(__name__, next(filter(os.path.isfile, stubs)))
    return names, [*offered, "__version__"]


def __getattr__(name):
    # Imported when it is used: what needs neither MuJoCo nor a reader of bags loads faster.
    if name == "__all__":
        return _front_door()[1]
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _front_door()[0](name)


def __dir__():
    return __getattr__("__all__")
