"""Simulate an IMU on a mobile robot and judge how far its heading drifts.

The map, top to bottom; imports point down only:

=======================  ==========================================================
``nodes``                ROS nodes; the only place that imports rospy
``experiment``           from a configuration to the objects below: preparing a
                         drive, running it in one process, reporting its results
``embedded_simulator``   MuJoCo world of the robot, stepped sample by sample; no ROS
``plots``                figures
``files``                configuration, recordings, results: everything on disk
``core``                 mathematics on arrays and tables; no files, no ROS
=======================  ==========================================================

Tables
------
Tables are :class:`pandas.DataFrame` with a float64 index named ``time`` in
seconds, strictly increasing. The CSV files have the same columns. As read from
a recording the index is the recording's own clock (seconds since 1970 for a ROS
bag); once a drive is prepared, and in everything an experiment writes, zero is
the start of the drive.

================== ==============================================================
name               columns
================== ==============================================================
``Poses``          x, y [m], yaw [rad, unwrapped]
``Trajectory``     Poses and v [m/s], yaw_rate [rad/s]
``ImuRecord``      roll, pitch [rad], yaw [rad, unwrapped],
                   gyro_x, gyro_y, gyro_z [rad/s], accel_x, accel_y, accel_z
                   [m/s^2, specific force: +9.8 on z at rest]; a recording
                   without gyroscope, accelerometer or single axes of
                   them lacks those columns
``GroundTruth``    x, y, z [m], roll, pitch [rad], yaw [rad, unwrapped],
                   v [m/s], yaw_rate [rad/s]
``WheelVelocities``left, right [rad/s], as commanded
``ControlError``   yaw_error [rad], distance_error, along_track_error,
                   cross_track_error [m]
``Fix``            latitude, longitude [deg], altitude [m],
                   variance_east, variance_north [m^2]
================== ==============================================================

Conventions
-----------
SI units; radians inside, degrees only where a person reads. World frame ENU, body
frame x forward, y left, z up (REP-103); yaw is counter-clockwise from east. Yaw is
unwrapped before any difference, and differences are wrapped to (-pi, pi].
Quaternions are in ROS order (x, y, z, w). An error is reference minus actual, so a
negative yaw error means: turn right. Random numbers come from a
:class:`numpy.random.Generator` that is passed in.

Every error meant for a person derives from
:class:`imu_simulation_framework.errors.FrameworkError`.
"""

import warnings

__version__ = "0.1.0"

# Debian's matplotlib beside the pinned one takes the place of its 3D axes; none are drawn here.
warnings.filterwarnings("ignore", "Unable to import Axes3D", UserWarning)
