"""Whether a recording can be what it seems to be.

A recorded drive says several times how the robot turned: the reference's yaw, the course of its
path, the IMU's yaw, its gyroscope about the robot's z axis. Each of the usual mistakes, a mirrored
yaw, a quaternion in another order, degrees taken for radians, spinning wheels, a shifted clock,
makes some of them disagree with the others, in a manner of its own.

=================  =================================================================
``relation``       these turns, and how two go together: sign, scale, delay, correlation
``observations``   everything measured that the verdict needs
``findings``       what a person is told, and faults found by reading in another way
``symptoms``       faults that show in what was measured: slip, clocks, frozen values, ...
=================  =================================================================
"""
