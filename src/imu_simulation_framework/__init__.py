"""Simulate an IMU on a mobile robot and judge how far its heading drifts.

The map; imports point down only, from each room to those below it (a test holds it):

====================  =============================================================
``ros``               nodes, simulators' interfaces, launching: the only place that
                      imports rospy
``tools``             what the command lines do
``experiment``        from a configuration to a result: preparing a drive, running
                      it in one process, reporting
``imu_formats``       parameters of IMUs as others write them
``pages``             reports as web pages
``configuration``     config.ini, every setting of an experiment
``recordings``        bags and tables that others recorded, as tables of ours
``plots``             figures
``mujoco_simulator``  the robot in MuJoCo, stepped sample by sample
``flight_simulator``  aircraft in JSBSim, stepped or received by UDP
``robot``             parameters, description and world of the robot
``results``           what an experiment writes
``files``             what every reader and writer of files needs
--------------------  -------------------------------------------------------------
below                 *arrays and tables only: no disk, no physics, no ROS*
``recorded``          mathematics of recordings: frames, columns, plausibility
``identification``    from an IMU at rest to the parameters of its noise
``evaluation``        how far a heading drifts, and its statistics
``tracking``          following a trajectory with a differential drive
``gimbal``            a pan-tilt-roll gimbal between a platform and an IMU
``sensors``           what an IMU says of a motion
``motion``            trajectories, drives, positioning, terrain, time stamps; motion on
                      the turning Earth
``magnetism``         Earth's magnetic field, and iron, magnets and motors in it
``noise``             random processes of sensors, their units and densities
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
``Poses``            x, y [m], yaw [rad, unwrapped]
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
``WheelVelocities``  left, right [rad/s], as commanded or as the wheels turned
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
``GnssTold``         latitude, longitude [deg], altitude [m], status (of
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
Quaternions are in ROS order (x, y, z, w). On the turning Earth (``motion.earth``) the
world is ECEF (WGS 84), and what a person sees is against east, north, up at the place;
axes of aviation (north, east, down; forward, right, down) are converted where they
enter. An error is reference minus actual, so a
negative yaw error means: turn right. Random numbers come from a
:class:`numpy.random.Generator` that is passed in.

Every error meant for a person derives from
:class:`imu_simulation_framework.errors.FrameworkError`.
"""

import importlib
import warnings
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:  # who checks types does not ask __getattr__; a test holds both equal
    from imu_simulation_framework.configuration.gimbal_file import read_gimbal as read_gimbal
    from imu_simulation_framework.configuration.gnss_specification_file import (
        read_gnss_specification as read_gnss_specification,
    )
    from imu_simulation_framework.configuration.imu_specification_file import (
        imu_names as imu_names,
    )
    from imu_simulation_framework.configuration.imu_specification_file import (
        read_imu_specification as read_imu_specification,
    )
    from imu_simulation_framework.configuration.load import Configuration as Configuration
    from imu_simulation_framework.configuration.load import load_configuration as load_configuration
    from imu_simulation_framework.configuration.magnetic_environment_file import (
        read_magnetic_environment as read_magnetic_environment,
    )
    from imu_simulation_framework.errors import FrameworkError as FrameworkError
    from imu_simulation_framework.evaluation.judgement.judge import judge as judge
    from imu_simulation_framework.evaluation.navigation.tuning import FilterTuning as FilterTuning
    from imu_simulation_framework.evaluation.navigation.tuning import (
        InitialUncertainty as InitialUncertainty,
    )
    from imu_simulation_framework.evaluation.yaw_error import yaw_error as yaw_error
    from imu_simulation_framework.evaluation.yaw_error_model import YawErrorModel as YawErrorModel
    from imu_simulation_framework.experiment.by_name import navigate_runs as navigate_runs
    from imu_simulation_framework.experiment.by_name import (
        simulate_earth_fixes as simulate_earth_fixes,
    )
    from imu_simulation_framework.experiment.by_name import simulate_gimbal as simulate_gimbal
    from imu_simulation_framework.experiment.by_name import simulate_gnss as simulate_gnss
    from imu_simulation_framework.experiment.by_name import simulate_imu as simulate_imu
    from imu_simulation_framework.experiment.by_name import (
        write_imu_parameters as write_imu_parameters,
    )
    from imu_simulation_framework.experiment.by_name import yaw_error_model as yaw_error_model
    from imu_simulation_framework.experiment.in_process import robot_motion as robot_motion
    from imu_simulation_framework.experiment.in_process import run_in_process as run_in_process
    from imu_simulation_framework.experiment.preparation.motion import read_motion as read_motion
    from imu_simulation_framework.flight_simulator.simulation import fly as fly
    from imu_simulation_framework.gimbal.geometry import GimbalGeometry as GimbalGeometry
    from imu_simulation_framework.gimbal.profiles import FixedJoints as FixedJoints
    from imu_simulation_framework.gimbal.profiles import SinusoidalJoints as SinusoidalJoints
    from imu_simulation_framework.gimbal.profiles import TabulatedJoints as TabulatedJoints
    from imu_simulation_framework.gimbal.specification import (
        GimbalSpecification as GimbalSpecification,
    )
    from imu_simulation_framework.gimbal.stabilisation.settings import HeldAttitude as HeldAttitude
    from imu_simulation_framework.gimbal.stabilisation.settings import PointAhead as PointAhead
    from imu_simulation_framework.gimbal.stabilisation.settings import PointOnEarth as PointOnEarth
    from imu_simulation_framework.gimbal.stabilisation.settings import (
        Stabilisation as Stabilisation,
    )
    from imu_simulation_framework.imu_formats import read_imu_parameters as read_imu_parameters
    from imu_simulation_framework.magnetism.bars import Bar as Bar
    from imu_simulation_framework.magnetism.dipoles import Dipole as Dipole
    from imu_simulation_framework.magnetism.earth import earth_field as earth_field
    from imu_simulation_framework.magnetism.ellipsoids import Ellipsoid as Ellipsoid
    from imu_simulation_framework.magnetism.environment import (
        MagneticEnvironment as MagneticEnvironment,
    )
    from imu_simulation_framework.magnetism.environment import Place as Place
    from imu_simulation_framework.magnetism.motors import MotorField as MotorField
    from imu_simulation_framework.motion.earth.earth_motion import EarthMotion as EarthMotion
    from imu_simulation_framework.motion.earth.sources import circling as circling
    from imu_simulation_framework.motion.earth.sources import on_earth as on_earth
    from imu_simulation_framework.motion.earth.sources import standing as standing
    from imu_simulation_framework.motion.earth.strapdown import Increments as Increments
    from imu_simulation_framework.motion.earth.strapdown import increments_of as increments_of
    from imu_simulation_framework.motion.earth.strapdown import integrate as integrate
    from imu_simulation_framework.motion.motion import Motion as Motion
    from imu_simulation_framework.motion.sources import at_rest as at_rest
    from imu_simulation_framework.motion.sources import read_drive as read_drive
    from imu_simulation_framework.motion.sources import rounds as rounds
    from imu_simulation_framework.motion.sources import straight as straight
    from imu_simulation_framework.recordings import read_imu as read_imu
    from imu_simulation_framework.recordings import read_reference as read_reference
    from imu_simulation_framework.recordings.flight.reading import read_flight as read_flight
    from imu_simulation_framework.sensors.gnss.specification import FixQuality as FixQuality
    from imu_simulation_framework.sensors.gnss.specification import GnssHeading as GnssHeading
    from imu_simulation_framework.sensors.gnss.specification import GnssOrigin as GnssOrigin
    from imu_simulation_framework.sensors.gnss.specification import GnssOutages as GnssOutages
    from imu_simulation_framework.sensors.gnss.specification import (
        GnssSpecification as GnssSpecification,
    )
    from imu_simulation_framework.sensors.gnss.specification import QualityChange as QualityChange
    from imu_simulation_framework.sensors.imu_models import GenericParameters as GenericParameters
    from imu_simulation_framework.sensors.imu_models import HectorParameters as HectorParameters
    from imu_simulation_framework.sensors.imu_specification import (
        ImuSpecification as ImuSpecification,
    )
    from imu_simulation_framework.sensors.imu_specification import (
        MagnetometerSpecification as MagnetometerSpecification,
    )
    from imu_simulation_framework.sensors.imu_specification import (
        OutputSpecification as OutputSpecification,
    )
    from imu_simulation_framework.sensors.imu_specification import (
        TemperatureProfile as TemperatureProfile,
    )
    from imu_simulation_framework.sensors.imu_specification import (
        TriadSpecification as TriadSpecification,
    )

_FRONT_DOOR = {
    "motion.motion": ("Motion",),
    "motion.earth.earth_motion": ("EarthMotion",),
    "motion.earth.sources": ("circling", "on_earth", "standing"),
    "motion.earth.strapdown": ("Increments", "increments_of", "integrate"),
    "motion.sources": ("at_rest", "read_drive", "rounds", "straight"),
    "experiment.preparation.motion": ("read_motion",),
    "sensors.imu_specification": (
        "ImuSpecification",
        "MagnetometerSpecification",
        "OutputSpecification",
        "TemperatureProfile",
        "TriadSpecification",
    ),
    "sensors.imu_models": ("GenericParameters", "HectorParameters"),
    "configuration.imu_specification_file": ("imu_names", "read_imu_specification"),
    "sensors.gnss.specification": (
        "FixQuality",
        "GnssHeading",
        "GnssOrigin",
        "GnssOutages",
        "GnssSpecification",
        "QualityChange",
    ),
    "configuration.gnss_specification_file": ("read_gnss_specification",),
    "configuration.magnetic_environment_file": ("read_magnetic_environment",),
    "evaluation.navigation.tuning": ("FilterTuning", "InitialUncertainty"),
    "gimbal.geometry": ("GimbalGeometry",),
    "gimbal.profiles": ("FixedJoints", "SinusoidalJoints", "TabulatedJoints"),
    "gimbal.specification": ("GimbalSpecification",),
    "gimbal.stabilisation.settings": (
        "HeldAttitude",
        "PointAhead",
        "PointOnEarth",
        "Stabilisation",
    ),
    "configuration.gimbal_file": ("read_gimbal",),
    "magnetism.bars": ("Bar",),
    "magnetism.dipoles": ("Dipole",),
    "magnetism.earth": ("earth_field",),
    "magnetism.ellipsoids": ("Ellipsoid",),
    "magnetism.environment": ("MagneticEnvironment", "Place"),
    "magnetism.motors": ("MotorField",),
    "imu_formats": ("read_imu_parameters",),
    "evaluation.judgement.judge": ("judge",),
    "evaluation.yaw_error": ("yaw_error",),
    "evaluation.yaw_error_model": ("YawErrorModel",),
    "recordings": ("read_imu", "read_reference"),
    "recordings.flight.reading": ("read_flight",),
    "configuration.load": ("Configuration", "load_configuration"),
    "experiment.by_name": (
        "navigate_runs",
        "simulate_earth_fixes",
        "simulate_gimbal",
        "simulate_gnss",
        "simulate_imu",
        "write_imu_parameters",
        "yaw_error_model",
    ),
    "experiment.in_process": ("robot_motion", "run_in_process"),
    "flight_simulator.simulation": ("fly",),
    "errors": ("FrameworkError",),
}
_HOMES = {name: module for module, names in _FRONT_DOOR.items() for name in names}

__all__ = sorted([*_HOMES, "__version__"])

# Debian's matplotlib beside the pinned one takes the place of its 3D axes; none are drawn here.
warnings.filterwarnings("ignore", "Unable to import Axes3D", UserWarning)


def __getattr__(name):
    # Imported when it is used: nobody waits for MuJoCo or a reader of bags that is not needed.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__():
    return __all__
