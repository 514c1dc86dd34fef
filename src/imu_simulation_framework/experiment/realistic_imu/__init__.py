"""A realistic IMU beside any source of an ideal one: a simulator's topic, or a recording of it.

:mod:`.realistic_imu.truth` makes the truth of what messages say, :mod:`.realistic_imu.session` lets
an IMU model follow their stamps. Neither knows ROS, threads or the wall clock.
"""
