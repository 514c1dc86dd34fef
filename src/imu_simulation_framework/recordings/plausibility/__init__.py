"""Plausibility checks of a recording.

A recorded drive contains several measurements of the robot's turns: the yaw of the reference, the
course of its path, the yaw of the IMU, and the rate of the gyroscope about the robot's z axis. Each
common fault (mirrored yaw, wrong quaternion order, degrees read as radians, spinning wheels,
shifted clock) makes some of these signals disagree in a characteristic way. For each pair of
signals, the check computes a correlation, a scale, and the delay with the best fit.

- Window: turns are compared over one second, or over four samples of the slower signal. The window
  is four or sixteen times as long if noise hides the turns of a slow drive.
- Alternative interpretations: the check tries other directions of yaw, frames, orders and
  directions of quaternions, units, signs and mountings. If all signals agree only under an
  alternative interpretation, its settings are the remedy. If several interpretations agree equally
  well, the report lists all of them.
- Sign of the gyroscope: on a robot that drives forwards, the accelerometer measures the change of
  speed along the forward axis, and speed times yaw rate along the left axis. If the lateral
  acceleration has the opposite sign, the sign of the gyroscope is wrong. The test requires
  positions, changes of speed and curves. If the z axis of an IMU points down and measures +g, its x
  axis is assumed to point forward.
- Mounting with a level reference: gravity determines ``mounting_roll`` and ``mounting_pitch``, and
  the rotation of the gyroscope about gravity must agree with the reference. The rotation about the
  vertical is not observable, and does not matter for a heading.
- Mounting with a reference that tilts by 15 deg rms or more (hand-held or flying): the rotation
  about the vertical of the reference determines all three angles, unless the body rotates only
  about one axis. An orientation that is already in the body frame is unchanged.
- Scale: a difference of 5 % or more between two of reference, yaw and gyroscope is reported as a
  remark, because it is an error to be measured; the signal that differs from both others is wrong.
  If the wrong signal is not clear, as with only a reference and an IMU, the report proposes a test:
  ten turns on the spot. A course has no scale error. If the rate about gravity has the correct
  scale, the sensor is tilted.

Some recordings are ambiguous. In this case, the report lists the possible interpretations and how
to distinguish them; no setting is written to config.ini.

- A smartphone that is held upright and outputs gravity instead of specific force (iOS) cannot be
  distinguished from an upside-down smartphone with mirrored turns. The ambiguity is resolved by an
  orientation whose vertical is opposite to that of the accelerometer and whose yaw agrees with the
  reference, by a path that turns against the yaw of the reference (the reference is mirrored), or
  by the lateral acceleration (for the gyroscope). If none of these is available, place the sensor
  with its z axis up: accel_z is +9.8 m/s^2, or -9.8 m/s^2 if it outputs gravity.
- If there are only a gyroscope and a yaw that turn in opposite directions, the lateral acceleration
  resolves the ambiguity.
- If the reference agrees with the gyroscope about an axis that is horizontal according to the
  accelerometer, the ambiguity cannot be resolved: another axis of the reference's world frame may
  point up, so that its yaw is not a heading.
"""
