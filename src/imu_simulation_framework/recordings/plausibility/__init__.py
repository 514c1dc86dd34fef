"""Checks of the plausibility of a recording.

A recorded drive contains the robot's turns several times: as the reference's yaw, the course of its
path, the IMU's yaw, and the gyroscope's rate about the robot's z axis. Each of the usual mistakes
(a mirrored yaw, a quaternion in another order, degrees taken for radians, spinning wheels, a
shifted clock) makes some of them disagree with the others in its own manner. Each pair has a
correlation, a scale, and a delay at which it fits best.

- Window: turns over one second, or four samples of the slower signal; four or sixteen times as long
  if noise hides the turns of a slow drive.
- Other readings: other senses of yaw, frames, orders and directions of quaternions, units, signs
  and mountings are tried. If everything agrees in another reading only, its settings are the
  remedy; if several agree equally well, all are named.
- Sense of the gyroscope: a robot that drives forwards measures the change of speed ahead, and speed
  times turn rate to the left. If the lateral acceleration is to the right, the sign is wrong. The
  test needs positions, changes of speed and curves. The x axis of an IMU whose z axis points down
  and shows +g is assumed to point ahead.
- Mounting, level reference: gravity gives ``mounting_roll`` and ``mounting_pitch``; the gyroscope
  has to turn about gravity as the reference does. The rotation about the vertical is not
  observable, and does not matter for a heading.
- Mounting, reference that tilts by 15 deg rms or more (hand-held, flying): the turns about the
  vertical of the reference give all three angles, unless the body turns about one axis only. An
  orientation that is in the robot's axes already stays as it is.
- Scale: 5 % or more between two of reference, yaw and gyroscope is a remark, because it is an error
  to be measured; the signal that differs from both others is wrong. With only reference and IMU,
  ten turns on the spot decide. A course has no scale error, and a gyroscope that is right about
  gravity belongs to a leaning sensor.

Some recordings are ambiguous. The report names each possible reading and how to distinguish them;
nothing is written to a config.ini.

- A telephone that is held upright and outputs gravity instead of specific force (iOS) looks like
  one upside down whose turns are mirrored. An orientation whose vertical is opposite to the
  accelerometer's and whose yaw agrees with the reference decides, or a path that turns against the
  yaw of the reference (the reference is mirrored), or the lateral acceleration (for the gyroscope).
  Otherwise lay the sensor down with its z axis upwards: accel_z is +9.8 m/s^2, or -9.8 if it
  outputs gravity.
- For a lone gyroscope and a lone yaw that turn against each other, lateral acceleration decides.
- For a reference that turns as the gyroscope does about an axis that is horizontal by the
  accelerometer, nothing decides: its world may have another axis upwards, and its yaw is then no
  heading.
"""
