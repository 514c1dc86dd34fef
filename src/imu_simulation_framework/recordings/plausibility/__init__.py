"""Whether a recording can be what it seems to be.

A recorded drive says several times how the robot turned: the reference's yaw, the course of its
path, the IMU's yaw, its gyroscope about the robot's z axis. Each of the usual mistakes, a mirrored
yaw, a quaternion in another order, degrees taken for radians, spinning wheels, a shifted clock,
makes some of them disagree with the others, in a manner of its own.
"""
