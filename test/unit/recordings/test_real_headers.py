"""Headers of real loggers and programs, and the columns recognised in them."""

import re

import numpy as np
import pytest
from column_tables import RATE, TIME, Car, choose, wrapped
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.units import factor
from imu_simulation_framework.recordings.columns import find_column_maps
from imu_simulation_framework.recordings.reading import read_imu_samples

CAR = Car()
HALF, ZEROS = 0.5 * CAR.yaw, np.zeros(len(TIME))
VALUES = {
    "roll": 0.01 * np.sin(TIME),
    "pitch": 0.01 * np.cos(TIME),
    "yaw": wrapped(CAR.yaw),
    "heading": CAR.azimuth,
    "course": CAR.azimuth,
    "speed": CAR.speed,
    "velocity_east": CAR.speed * np.cos(CAR.yaw),
    "velocity_north": CAR.speed * np.sin(CAR.yaw),
    "latitude": np.radians(CAR.latitude),
    "longitude": np.radians(CAR.longitude),
    "altitude": ZEROS + 300.25,
    "x": CAR.east,
    "y": CAR.north,
    "position_error": ZEROS + 3.0,
    "sigma_north": ZEROS + 0.5,
    "sigma_east": ZEROS + 0.4,
    "hdop": ZEROS + 1.2,
    **{f"gyro_{axis}": CAR.rates[:, place] for place, axis in enumerate("xyz")},
    **{f"accel_{axis}": CAR.forces[:, place] for place, axis in enumerate("xyz")},
    **dict(zip(["qw", "qx", "qy", "qz"], [np.cos(HALF), ZEROS, ZEROS, np.sin(HALF)])),
}
"""Values in SI units, by quantity, that are written to the columns of a header."""
AXES = {"gyro": "xyz", "accel": "xyz", "q": "wxyz"}
"""Axes of the vector quantities, which are single entries in the expected column maps."""


def mapped(text):
    """Parse ``gyro=Gyr_{X} [deg/s]; time=t [s]`` into {quantity: (column, unit)}, axis by axis."""
    columns = {}
    for entry in filter(None, map(str.strip, text.split(";"))):
        quantity, written = entry.split("=", 1)
        column, unit = re.fullmatch(r"(.*) \[([^\[\]]*)\]", written).groups()
        first = re.search(r"\{(\w)\}", column)
        if not first:
            columns[quantity] = column, unit
            continue
        letters = AXES[quantity]
        signs = {"0": "0123", "x": letters, "X": letters.upper()}[first[1]]
        for letter, sign in zip(letters, signs):
            name = quantity + letter if quantity == "q" else f"{quantity}_{letter}"
            columns[name] = column.replace(first[0], sign), unit
    return columns


def written(columns):
    return {quantity: f"{column} [{unit}]" for quantity, (column, unit) in columns.items()}


def column_of(quantity, unit, multiple):
    if quantity != "time":
        return VALUES[quantity] / factor(unit.split(" ")[0])
    if unit == "iso8601":
        stamps = np.datetime64("2024-05-06T07:08:09", "ms") + np.round(1e3 * TIME).astype("m8[ms]")
        return stamps.astype(str)
    count = (1.7e9 if unit == "ns" else 12.0) + TIME
    return count if unit == "s" else np.rint(count / factor(unit) / multiple).astype(np.int64)


HEADERS = {
    "Xsens DOT": (
        "PacketCounter,SampleTimeFine,Quat_W,Quat_X,Quat_Y,Quat_Z,FreeAcc_X,FreeAcc_Y,FreeAcc_Z,"
        "Acc_X,Acc_Y,Acc_Z,Gyr_X,Gyr_Y,Gyr_Z,Mag_X,Mag_Y,Mag_Z,Status",
        "time=SampleTimeFine [us]; q=Quat_{X} [1]; gyro=Gyr_{X} [deg/s]; accel=Acc_{X} [m/s^2]",
    ),
    "Xsens MTi": (
        "PacketCounter,SampleTimeFine,Acc_X,Acc_Y,Acc_Z,Gyr_X,Gyr_Y,Gyr_Z,Mag_X,Mag_Y,Mag_Z,"
        "Quat_q0,Quat_q1,Quat_q2,Quat_q3",
        "time=SampleTimeFine * 0.1 [ms]; q=Quat_q{0} [1]; gyro=Gyr_{X} [rad/s]; "
        "accel=Acc_{X} [m/s^2]",
    ),
    "x-io NGIMU": (
        "Time (s),Gyroscope X (deg/s),Gyroscope Y (deg/s),Gyroscope Z (deg/s),Accelerometer X (g),"
        "Accelerometer Y (g),Accelerometer Z (g),Magnetometer X (uT),Magnetometer Y (uT),"
        "Magnetometer Z (uT),Barometer (hPa),Quat 0,Quat X,Quat Y,Quat Z",
        "time=Time (s) [s]; qw=Quat 0 [1]; qx=Quat X [1]; qy=Quat Y [1]; qz=Quat Z [1]; "
        "gyro=Gyroscope {X} (deg/s) [deg/s]; accel=Accelerometer {X} (g) [g]",
    ),
    "WitMotion, older": (
        "Time(s)\tax(g)\tay(g)\taz(g)\twx(deg/s)\twy(deg/s)\twz(deg/s)\tAngleX(deg)\tAngleY(deg)\t"
        "AngleZ(deg)\tT(°)\thx\thy\thz\tD0\tD1\tD2\tD3\tPressure(Pa)\tAltitude(m)\tLon(deg)\tLat(deg)"
        "\tGPSHeight(m)\tGPSYaw(deg)\tGPSV(km/h)\tq0\tq1\tq2\tq3",
        "time=Time(s) [s]; q=q{0} [1]; gyro=w{x}(deg/s) [deg/s]; accel=a{x}(g) [g] | "
        "latitude=Lat(deg) [deg]; longitude=Lon(deg) [deg]; altitude=Altitude(m) [m]; "
        "speed=GPSV(km/h) [km/h]; course=GPSYaw(deg) [deg cw from north]",
    ),
    "WitMotion": (
        "Time,Device name,Chip Time(),Acceleration X(g),Acceleration Y(g),Acceleration Z(g),"
        "Angular velocity X(°/s),Angular velocity Y(°/s),Angular velocity Z(°/s),Angle X(°),"
        "Angle Y(°),Angle Z(°),Magnetic field X(ʯt),Magnetic field Y(ʯt),Magnetic field Z(ʯt),"
        "Temperature(℃),Quaternions 0(),Quaternions 1(),Quaternions 2(),Quaternions 3()",
        "time=Time [iso8601]; q=Quaternions {0}() [1]; gyro=Angular velocity {X}(°/s) [deg/s]; "
        "accel=Acceleration {X}(g) [g]",
    ),
    "WitMotion, short": (
        "time\tDeviceName\tChipTime()\tAccX(g)\tAccY(g)\tAccZ(g)\tAsX(°/s)\tAsY(°/s)\tAsZ(°/s)\t"
        "AngleX(°)\tAngleY(°)\tAngleZ(°)\tHX(uT)\tHY(uT)\tHZ(uT)\tQ0()\tQ1()\tQ2()\tQ3()",
        "time=time [iso8601]; q=Q{0}() [1]; gyro=As{X}(°/s) [deg/s]; accel=Acc{X}(g) [g]",
    ),
    "WitMotion, its Python": (
        "Chiptime\tax(g)\tay(g)\taz(g)\twx(deg/s)\twy(deg/s)\twz(deg/s)\tAngleX(deg)\tAngleY(deg)\t"
        "AngleZ(deg)\tT(°)\tmagx\tmagy\tmagz\tlon\tlat\tYaw\tSpeed\tq1\tq2\tq3\tq4",
        "time=Chiptime [iso8601]; gyro=w{x}(deg/s) [deg/s]; accel=a{x}(g) [g]; "
        "roll=AngleX(deg) [deg]; pitch=AngleY(deg) [deg]; yaw=AngleZ(deg) [deg] | "
        "latitude=lat [deg]; longitude=lon [deg]",
    ),
    "Vicon Blue Trident": (
        "unix_timestamp_microsec,time_s,ax_m/s/s,ay_m/s/s,az_m/s/s,gx_deg/s,gy_deg/s,gz_deg/s",
        "time=time_s [s]; gyro=g{x}_deg/s [deg/s]; accel=a{x}_m/s/s [m/s^2]",
    ),
    "Shimmer": (
        "Shimmer_93B6_Timestamp_Unix_CAL\tShimmer_93B6_Accel_LN_X_CAL\tShimmer_93B6_Accel_LN_Y_CAL\t"
        "Shimmer_93B6_Accel_LN_Z_CAL\tShimmer_93B6_Gyro_X_CAL\tShimmer_93B6_Gyro_Y_CAL\t"
        "Shimmer_93B6_Gyro_Z_CAL\tShimmer_93B6_Mag_X_CAL\n"
        "ms\tm/(s^2)\tm/(s^2)\tm/(s^2)\tdeg/s\tdeg/s\tdeg/s\tlocal_flux",
        "time=Shimmer_93B6_Timestamp_Unix_CAL [ms] [ms]; "
        "gyro=Shimmer_93B6_Gyro_{X}_CAL [deg/s] [deg/s]; "
        "accel=Shimmer_93B6_Accel_LN_{X}_CAL [m/s^2] [m/s^2]",
    ),
    "SensorLog": (
        "loggingTime(txt),motionTimestamp_sinceReboot(s),accelerometerTimestamp_sinceReboot(s),"
        "accelerometerAccelerationX(G),accelerometerAccelerationY(G),accelerometerAccelerationZ(G),"
        "motionUserAccelerationX(G),motionUserAccelerationY(G),motionUserAccelerationZ(G),"
        "motionRotationRateX(rad/s),motionRotationRateY(rad/s),motionRotationRateZ(rad/s),"
        "motionGravityX(G),motionQuaternionX(R),"
        "motionQuaternionY(R),motionQuaternionZ(R),motionQuaternionW(R),sequence,label",
        "time=loggingTime(txt) [iso8601]; q=motionQuaternion{X}(R) [1]; "
        "gyro=motionRotationRate{X}(rad/s) [rad/s]; accel=accelerometerAcceleration{X}(G) [g]",
    ),
    "phyphox": (
        "Time (s)\tAcceleration x (m/s^2)\tAcceleration y (m/s^2)\tAcceleration z (m/s^2)\t"
        "Absolute acceleration (m/s^2)\tGyroscope x (rad/s)\tGyroscope y (rad/s)\t"
        "Gyroscope z (rad/s)\tGyroscope magnitude (rad/s)",
        "time=Time (s) [s]; gyro=Gyroscope {x} (rad/s) [rad/s]; "
        "accel=Acceleration {x} (m/s^2) [m/s^2]",
    ),
    "AndroSensor": (
        "ACCELEROMETER X (m/s²);ACCELEROMETER Y (m/s²);ACCELEROMETER Z (m/s²);GRAVITY X (m/s²);"
        "LINEAR ACCELERATION X (m/s²);LINEAR ACCELERATION Y (m/s²);LINEAR ACCELERATION Z (m/s²);"
        "GYROSCOPE X (rad/s);GYROSCOPE Y (rad/s);GYROSCOPE Z (rad/s);MAGNETIC FIELD X (μT);"
        "LOCATION Latitude : ;LOCATION Longitude : ;LOCATION Altitude ( m);LOCATION Speed ( Kmh);"
        "LOCATION Accuracy ( m);LOCATION ORIENTATION (°);Time since start in ms ;"
        "YYYY-MO-DD HH-MI-SS_SSS",
        "time=Time since start in ms [ms]; gyro=GYROSCOPE {X} (rad/s) [rad/s]; "
        "accel=ACCELEROMETER {X} (m/s²) [m/s^2] | latitude=LOCATION Latitude : [deg]; "
        "longitude=LOCATION Longitude : [deg]; altitude=LOCATION Altitude ( m) [m]; "
        "position_error=LOCATION Accuracy ( m) [m]",
    ),
    # The vertical axis of this gyroscope is undetermined and therefore omitted.
    "a telephone in a car": (
        "GPS LATITUDE (degrees), GPS LONGITUDE (degrees), GPS ALTITUDE (m), GPS SPEED (Kmh), "
        "GPS ACCURACY (m), GPS ORIENTATION (°),GPS SATELLITES IN RANGE, TIME SINCE START (ms), "
        "ACCELEROMETER X (m/s²) , ACCELEROMETER Y (m/s²), ACCELEROMETER Z (m/s²), "
        "GRAVITY X (m/s²), GYROSCOPE Yaw (rad/s), GYROSCOPE Pitch (rad/s), GYROSCOPE Roll (rad/s)",
        "time=TIME SINCE START (ms) [ms]; accel=ACCELEROMETER {X} (m/s²) [m/s^2] | "
        "latitude=GPS LATITUDE (degrees) [deg]; longitude=GPS LONGITUDE (degrees) [deg]; "
        "altitude=GPS ALTITUDE (m) [m]; position_error=GPS ACCURACY (m) [m]",
    ),
    "LP-RESEARCH": (
        "SensorId, TimeStamp (s), FrameNumber, AccX (g), AccY (g), AccZ (g), GyroX (deg/s), "
        "GyroY (deg/s), GyroZ (deg/s), MagX (uT), MagY (uT), MagZ (uT), EulerX (deg), "
        "EulerY (deg), EulerZ (deg), QuatX, QuatY, QuatZ, QuatW, LinAccX (m/s^2), LinAccY (m/s^2), "
        "LinAccZ (m/s^2), Pressure (kPa), Altitude (m), Temperature (degC), HeaveMotion (m)",
        "time=TimeStamp (s) [s]; q=Quat{X} [1]; gyro=Gyro{X} (deg/s) [deg/s]; accel=Acc{X} (g) [g]",
    ),
    "MicroStrain": (
        "timestamp,invalid_fields,scaledAccelX,scaledAccelY,scaledAccelZ,scaledGyroX,scaledGyroY,"
        "scaledGyroZ,deltaVelX,deltaVelY,deltaVelZ,deltaThetaX,deltaThetaY,deltaThetaZ,estRoll,"
        "estPitch,estYaw,estRollUncert,estPitchUncert,estYawUncert",
        "time=timestamp [ns]; gyro=scaledGyro{X} [rad/s]; accel=scaledAccel{X} [g]; "
        "roll=estRoll [rad]; pitch=estPitch [rad]; yaw=estYaw [rad]",
    ),
    "VectorNav, by another's logger": (
        "Time [s],GpsCycle,GpsWeek,GpsToW,TimeStartup,UnCompMagX,UnCompMagY,UnCompMagZ,UnCompAccX,"
        "UnCompAccY,UnCompAccZ,UnCompGyroX,UnCompGyroY,UnCompGyroZ,Temperature",
        "time=Time [s] [s]; gyro=UnCompGyro{X} [rad/s]; accel=UnCompAcc{X} [m/s^2]",
    ),
    "SBG Systems": (
        "timestamp\tstatus\taccelX\taccelY\taccelZ\tgyroX\tgyroY\tgyroZ\ttemperature\n"
        "(us)\t(na)\t(m.s^-2)\t(m.s^-2)\t(m.s^-2)\t(deg.s^-1)\t(deg.s^-1)\t(deg.s^-1)\t(degC)",
        "time=timestamp [us] [us]; gyro=gyro{X} [deg.s^-1] [deg/s]; "
        "accel=accel{X} [m.s^-2] [m/s^2]",
    ),
    "Inertial Sense, IMU": (
        "time,pqr[0],pqr[1],pqr[2],acc[0],acc[1],acc[2],status",
        "time=time [s]; gyro=pqr[{0}] [rad/s]; accel=acc[{0}] [m/s^2]",
    ),
    "Inertial Sense, INS": (
        "week,timeOfWeek,insStatus,hdwStatus,qn2b[0],qn2b[1],qn2b[2],qn2b[3],uvw[0],uvw[1],uvw[2],"
        "lla[0],lla[1],lla[2]",
        "| time=timeOfWeek [s]; q=qn2b[{0}] [1]; latitude=lla[0] [deg]; longitude=lla[1] [deg]; "
        "altitude=lla[2] [m]",
    ),
    "Inertial Explorer": (
        "GPSTime(sec) Week(weeks) Latitude(deg) Longitude(deg) H-Ell(m) VNorth(m/s) VEast(m/s) "
        "AngRateX(deg/s) AngRateY(deg/s) AngRateZ(deg/s) UTCTime(sec)",
        "time=GPSTime(sec) [s]; gyro=AngRate{X}(deg/s) [deg/s] | latitude=Latitude(deg) [deg]; "
        "longitude=Longitude(deg) [deg]; altitude=H-Ell(m) [m]; "
        "velocity_east=VEast(m/s) [m/s]; velocity_north=VNorth(m/s) [m/s]",
    ),
    "Kalibr": (
        "timestamp,omega_x,omega_y,omega_z,alpha_x,alpha_y,alpha_z",
        "time=timestamp [ns]; gyro=omega_{x} [rad/s]; accel=alpha_{x} [m/s^2]",
    ),
    "ArduPilot": (
        "TimeUS,I,GyrX,GyrY,GyrZ,AccX,AccY,AccZ,EG,EA,T,GH,AH,GHz,AHz",
        "time=TimeUS [us]; gyro_x=GyrX [rad/s]; gyro_y=-GyrY [rad/s]; gyro_z=-GyrZ [rad/s]; "
        "accel_x=AccX [m/s^2]; accel_y=-AccY [m/s^2]; accel_z=-AccZ [m/s^2]",
    ),
    "PX4": (
        "timestamp,gyro_rad[0],gyro_rad[1],gyro_rad[2],gyro_integral_dt,"
        "accelerometer_timestamp_relative,accelerometer_m_s2[0],accelerometer_m_s2[1],"
        "accelerometer_m_s2[2],accelerometer_integral_dt",
        "time=timestamp [us]; gyro_x=gyro_rad[0] [rad/s]; gyro_y=-gyro_rad[1] [rad/s]; "
        "gyro_z=-gyro_rad[2] [rad/s]; accel_x=accelerometer_m_s2[0] [m/s^2]; "
        "accel_y=-accelerometer_m_s2[1] [m/s^2]; accel_z=-accelerometer_m_s2[2] [m/s^2]",
    ),
    "Betaflight": (
        "loopIteration,time (us),setpoint[0],gyroADC[0],gyroADC[1],gyroADC[2],accSmooth[0],"
        "accSmooth[1],accSmooth[2]",
        "time=time (us) [us]; gyro=gyroADC[{0}] [deg/s]",
    ),
    "DJI": (
        "Clock:offsetTime,IMU_ATTI(0):accelX,IMU_ATTI(0):accelY,IMU_ATTI(0):accelZ,"
        "IMU_ATTI(0):gyroX,IMU_ATTI(0):gyroY,IMU_ATTI(0):gyroZ,IMU_ATTI(0):roll:C,"
        "IMU_ATTI(0):pitch:C,IMU_ATTI(0):yaw:C,IMU_ATTI(0):magX,GPS:Long,GPS:Lat,GPS:heightMSL",
        "time=Clock:offsetTime [s]; gyro=IMU_ATTI(0):gyro{X} [deg/s]; "
        "accel=IMU_ATTI(0):accel{X} [g]; roll=IMU_ATTI(0):roll:C [deg]; "
        "pitch=IMU_ATTI(0):pitch:C [deg]; yaw=IMU_ATTI(0):yaw:C [deg] | "
        "latitude=GPS:Lat [deg]; longitude=GPS:Long [deg]; altitude=GPS:heightMSL [m]",
    ),
    "BNO080 on an Arduino": (
        "Time_us,AccelX,AccelY,AccelZ,QuatI,QuatJ,QuatK,QuatReal",
        "time=Time_us [us]; accel=Accel{X} [m/s^2]; qw=QuatReal [1]; qx=QuatI [1]; qy=QuatJ [1]; "
        "qz=QuatK [1]",
    ),
    "BNO080 with linear accelerations": (
        "t,linAccelX,linAccelY,linAccelZ,linAccelAccuracy,quatI,quatJ,quatK,quatReal,quatAccuracy,"
        "quatRadianAccuracy,stabilityClassification",
        "time=t [s]; qw=quatReal [1]; qx=quatI [1]; qy=quatJ [1]; qz=quatK [1]",
    ),
    "BNO055 on a Pico": (
        "timestamp_ms,euler_heading,euler_roll,euler_pitch,quat_w,quat_x,quat_y,quat_z,accel_x,"
        "accel_y,accel_z,gyro_x,gyro_y,gyro_z,gravity_x,gravity_y,gravity_z,calibration_sys,"
        "calibration_gyro,calibration_accel,calibration_mag",
        "time=timestamp_ms [ms]; q=quat_{x} [1]; gyro=gyro_{x} [deg/s]; accel=accel_{x} [m/s^2]",
    ),
    "BNO055 on an STM32": (
        "sample,time_ms,euler_x_deg,euler_y_deg,euler_z_deg,ax,ay,az,gx,gy,gz,qw,qx,qy,qz,"
        "calib_sys,calib_gyro,calib_accel,calib_mag",
        "time=time_ms [ms]; q=q{x} [1]; gyro=g{x} [deg/s]; accel=a{x} [m/s^2]",
    ),
    "BNO055 of a rocket": (
        "millis,c_sys,c_gyro,c_accel,c_mag,euler_h,euler_r,euler_p,lin_ax,lin_ay,lin_az,gyr_x,"
        "gyr_y,gyr_z,mag_x,mag_y,mag_z,bmp_ok,bmp_t_c,bmp_p_hpa,bmp_alt_m",
        "time=millis [ms]; gyro=gyr_{x} [deg/s]; roll=euler_r [deg]; pitch=euler_p [deg]; "
        "heading=euler_h [deg cw from north]",
    ),
    "a ROS message": (
        "Timestamp,Orientation_x,Orientation_y,Orientation_z,Orientation_w,Angular_velocity_x,"
        "Angular_velocity_y,Angular_velocity_z,Linear_acceleration_x,Linear_acceleration_y,"
        "Linear_acceleration_z",
        "time=Timestamp [s]; q=Orientation_{x} [1]; gyro=Angular_velocity_{x} [rad/s]; "
        "accel=Linear_acceleration_{x} [m/s^2]",
    ),
    "a ROS message by two clocks": (
        "receive_time_ns,ros_stamp_sec,ros_stamp_nanosec,quaternion_w,quaternion_x,quaternion_y,"
        "quaternion_z,quaternion_norm,angular_velocity_x,angular_velocity_y,angular_velocity_z,"
        "linear_acceleration_x,linear_acceleration_y,linear_acceleration_z,arrival_gap_ms",
        "time=receive_time_ns [ns]; q=quaternion_{x} [1]; gyro=angular_velocity_{x} [rad/s]; "
        "accel=linear_acceleration_{x} [m/s^2]",
    ),
    "Bolder Flight Systems": (
        "sys_time_s,imu_accel_x_mps2,imu_accel_y_mps2,imu_accel_z_mps2,imu_gyro_x_radps,"
        "imu_gyro_y_radps,imu_gyro_z_radps,pitch_rad,roll_rad,heading_rad,alt_wgs84_m",
        "time=sys_time_s [s]; gyro=imu_gyro_{x}_radps [rad/s]; accel=imu_accel_{x}_mps2 [m/s^2]; "
        "roll=roll_rad [rad]; pitch=pitch_rad [rad]; heading=heading_rad [rad cw from north]",
    ),
    "an Arduino": (
        "timestamp(ms),ax(g),ay(g),az(g),gx(dps),gy(dps),gz(dps),roll(deg),pitch(deg)",
        "time=timestamp(ms) [ms]; gyro=g{x}(dps) [deg/s]; accel=a{x}(g) [g]",
    ),
    "a board with angRateX": (
        "timestamp_ms,accelX_g,accelY_g,accelZ_g,angRateX_dps,angRateY_dps,angRateZ_dps,rollDeg,"
        "pitchDeg,yawDeg",
        "time=timestamp_ms [ms]; gyro=angRate{X}_dps [deg/s]; accel=accel{X}_g [g]; "
        "roll=rollDeg [deg]; pitch=pitchDeg [deg]; yaw=yawDeg [deg]",
    ),
    "ST SensorTile": (
        "Timestamp\tAccX [mg]\tAccY [mg]\tAccZ [mg]\tGyroX [mdps]\tGyroY [mdps]\tGyroZ [mdps]\t"
        "MagX [mgauss]\tMagY [mgauss]\tMagZ [mgauss]\tP [mB]\tT ['C]\tH [%]\tVOL [mV]\tBAT [%]",
        "time=Timestamp [ms]; accel=Acc{X} [mg] [mg]; gyro=Gyro{X} [mdps] [mdeg/s]",
    ),
    "axes in front": (
        "time_stamp,x_acc,y_acc,z_acc,pitch,roll,yaw,x_gyro,y_gyro,z_gyro,x_mag,y_mag,z_mag",
        "time=time_stamp [s]; gyro={x}_gyro [rad/s]; accel={x}_acc [m/s^2]; roll=roll [rad]; "
        "pitch=pitch [rad]; yaw=yaw [rad]",
    ),
    "EuRoC": (
        "#timestamp, p_RS_R_x [m], p_RS_R_y [m], q_RS_w [], q_RS_x [], q_RS_y [], q_RS_z [], "
        "b_w_RS_S_x [rad s^-1]",
        "| time=timestamp [ns]; x=p_RS_R_x [m] [m]; y=p_RS_R_y [m] [m]; q=q_RS_{x} [] [1]",
    ),
    "NovAtel INSPVAX": (
        "gps_week,gps_week_seconds,latitude,longitude,altitude,undulation,north_velocity,"
        "east_velocity,up_velocity,roll,pitch,azimuth,latitude_std,longitude_std,altitude_std",
        "| time=gps_week_seconds [s]; latitude=latitude [deg]; longitude=longitude [deg]; "
        "altitude=altitude [m]; velocity_east=east_velocity [m/s]; "
        "velocity_north=north_velocity [m/s]; heading=azimuth [deg cw from north]",
    ),
    "Rokubun": (
        "# GPSW,GPSSoW,latitude(deg),longitude(deg),height(m),sdn(m),sde(m),sdu(m)",
        "| time=GPSSoW [s]; latitude=latitude(deg) [deg]; longitude=longitude(deg) [deg]; "
        "altitude=height(m) [m]; sigma_north=sdn(m) [m]; sigma_east=sde(m) [m]",
    ),
    "SENSgyro and QUATERNION_0": (
        "TIME,SENSgyro_X,SENSgyro_Y,SENSgyro_Z,SENSacc_X,SENSacc_Y,SENSacc_Z,SENSmag_X,SENSmag_Y,"
        "SENSmag_Z,QUATERNION_0,QUATERNION_1,QUATERNION_2,QUATERNION_3",
        "time=TIME [s]; gyro=SENSgyro_{X} [rad/s]; accel=SENSacc_{X} [m/s^2]; q=QUATERNION_{0} [1]",
    ),
}

OPEN_HEADERS = {
    "SparkFun OpenLog Artemis": (
        "rtcDate,rtcTime,aX,aY,aZ,gX,gY,gZ,mX,mY,mZ,imu_degC,output_Hz",
        "accel=a{X} [mg] | gyro=g{X} [deg/s]",
    ),
    "a telephone with linAccX": (
        "TimeStamp,AccX,AccY,AccZ,GyX,GyY,GyZ,Pressure,GravX,GravY,GravZ,linAccX,linAccY,linAccZ,"
        "RotVecX,RotVecY,RotVecZ,RotVecAngle,GyUncalAngSpeedX,GyUncalAngSpeedY,GyUncalAngSpeedZ",
        "time=TimeStamp [ms]; accel=Acc{X} [m/s^2] | gyro=Gy{X} [rad/s]",
    ),
}
"""Headers without a gyroscope unit: the chosen and, after the bar, the undetermined columns."""


def recorded(folder, header, columns):
    """Write a file with a header, values in the mapped columns, and noise in all other columns."""
    separator = next(sign for sign in ("\t", ";", ",", " ") if sign in header)
    lines = [line.split(separator) for line in header.split("\n")]
    names = [name.strip("# ") for name in lines[0]]
    if len(lines) > 1:
        names = [f"{name} [{re.sub('[()]', '', unit)}]" for name, unit in zip(*lines)]
    values = {}
    for quantity, (column, unit) in columns.items():
        column, _, multiple = column.partition(" * ")
        own = column_of(quantity, unit, float(multiple or 1.0))
        values[column.lstrip("-")] = -own if column.startswith("-") else own
    noise = np.random.default_rng(4)
    table = [values.get(name, 0.05 * noise.standard_normal(len(TIME))) for name in names]
    rows = [separator.join(map(str, row)) for row in zip(*table)]
    path = folder / "a.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.mark.parametrize("header, expected", HEADERS.values(), ids=HEADERS)
def test_real_header_yields_expected_columns_and_units(tmp_path, header, expected):
    imu, reference = map(mapped, f"{expected}|".split("|")[:2])
    path = recorded(tmp_path, header, {**reference, **imu})
    if imu and reference:
        reference["time"] = imu["time"]
    chosen = find_column_maps(path)
    assert (chosen.imu, chosen.reference) == (written(imu), written(reference))
    if "time" in imu:
        read = read_imu_samples(path, columns=chosen.imu).columns
        np.testing.assert_allclose(read["stamp"] - read["stamp"][0], TIME, atol=1e-5)
        for quantity in set(read) & {"gyro_z", "accel_z", "qz", "roll"}:
            np.testing.assert_allclose(read[quantity], VALUES[quantity], atol=1e-6)


@pytest.mark.parametrize("header, expected", OPEN_HEADERS.values(), ids=OPEN_HEADERS)
def test_real_header_without_gyroscope_unit_leaves_unit_undetermined(tmp_path, header, expected):
    columns, opened = map(mapped, expected.split("|"))
    path = recorded(tmp_path, header, {**columns, **opened})
    chosen = find_column_maps(path)
    assert chosen.imu == written(columns)
    for quantity, line in written(opened).items():
        assert line in chosen.open_columns[quantity]


@pytest.mark.parametrize("tilting", [False, True])
@pytest.mark.parametrize("scalar", ["first", "last"])
def test_scalar_part_of_numbered_quaternion_is_inferred_from_gyroscope(scalar, tilting):
    axis = np.array([0.0, 0.3 * tilting, 1.0])
    rates = 0.8 * np.cos(0.5 * TIME)[:, np.newaxis] * axis
    rates[:, 0] = 0.7 * tilting * np.cos(1.3 * TIME)
    turned, quaternions = Rotation.identity(), []
    for step in Rotation.from_rotvec(rates / RATE):
        quaternions.append(turned.as_quat())
        turned = turned * step
    parts = np.roll(quaternions, scalar == "first", axis=1)
    columns = {f"QUATERNION_{place}": part for place, part in enumerate(parts.T)}
    gyro = {f"gyro_{axis}": rate for axis, rate in zip("xyz", rates.T)}
    chosen = choose(t=TIME, **columns, **gyro)
    w = {"first": 0, "last": 3}[scalar]
    assert chosen.imu["qw"] == f"QUATERNION_{w} [1]"
    assert any(
        f"with the {scalar} as w, the turns agree with the gyro" in reason
        for reason in chosen.reasons
    )
    # Without a gyroscope or with permuted gyroscope axes, the first part is taken as the scalar.
    rotated_gyro = {"gyro_x": rates[:, 2], "gyro_y": rates[:, 0], "gyro_z": rates[:, 1]}
    for further in ({}, {} if tilting else rotated_gyro):
        chosen = choose(t=TIME, **columns, **further)
        assert chosen.imu["qw"] == "QUATERNION_0 [1]"
        assert any("so the first is assumed to be w" in reason for reason in chosen.reasons)
