"""Checks of the plausibility of a recording.

A recorded drive contains the robot's turns several times: as the reference's yaw, the course of its
path, the IMU's yaw, and the gyroscope's rate about the robot's z axis. Each of the usual mistakes
(a mirrored yaw, a quaternion in another order, degrees taken for radians, spinning wheels, a
shifted clock) makes some of them disagree with the others in its own manner.
"""
