"""Conversion of IMU parameters from and to the formats of other tools, one module per format.

Errors that each format can express; "sample" is white noise per sample, which depends on the rate:

.. csv-table::
   :header: "", specification, kalibr, sdf, hector, rotors, unity, datasheet

   "numbers for", "axis", "sensor", "axis", "axis", "sensor", "both", "axis"
   "white noise", "yes", "yes", "sample", "sample", "yes", "sample", "yes"
   "bias instability", "yes", "c", "a, c", "a, c", "a, c", "a, c", "yes"
   "random walk", "yes", "yes", "a", "a", "a", "a", "yes"
   "Gauss-Markov bias", "yes", "b", "yes", "yes", "yes", "yes", ""
   "known turn-on bias", "yes", "", "yes", "yes", "", "yes", ""
   "uncertain turn-on bias", "yes", "", "yes", "", "yes", "yes", "yes"
   "scale factor", "yes", "", "", "yes", "", "", ""
   "misalignment, g-sensitivity, ramp, quantisation", "yes", "", "", "", "", "", ""
   "temperature", "yes", "", "", "", "", "", "bias"
   "supply, nonlinearity, bandwidth, vibration", "yes", "", "", "", "", "", ""
   "full scale", "yes", "", "", "", "", "", "yes"
   "resolution", "yes", "", "yes", "", "", "yes", "yes"
   "rate", "yes", "yes", "yes", "yes", "", "yes", "yes"
   "topic", "yes", "yes", "Gazebo's", "yes", "yes", "yes", ""
   "repetition of samples", "yes", "", "", "", "", "yes", ""
   "random start", "yes", "", "", "", "", "on/off", ""
   "orientation", "fused", "", "true", "drift", "true", "true", ""

- a: with ``--correlation-time``, as a Gauss-Markov bias that initially grows like the random walk
- b: as the random walk that initially grows like it, if there is no random walk
- c: with ``--walk-from-instability``, as a random walk

``imu_utils``, ``vins`` and ``orb_slam3`` are read-only. Kalibr and Unity require a topic and get
``/imu/data`` if there is none; other topics are stored as ``output.topic``, on which this package
does not publish.

Files of other tools:

.. list-table::
   :header-rows: 1
   :widths: 44 16 40

   * - file
     - ``--from``
     - numbers
   * - ``imu.yaml`` of Kalibr, output of allan_variance_ros
     - ``kalibr``
     - densities and random walks, with the rate
   * - ``kalibr_imu_chain.yaml`` of OpenVINS, or the ``estimator_config.yaml`` that names it
     - ``kalibr``
     - the same, often inflated
   * - ``sensor.yaml`` of EuRoC, ``ImuParams.yaml`` of Kimera-VIO
     - ``kalibr``
     - the same, with the rate as ``rate_hz``
   * - ``*_imu_param.yaml`` of imu_utils
     - ``imu_utils``
     - per sample (``--rate``), and minimum of the Allan deviation
   * - configuration of VINS-Mono, VINS-Fusion
     - ``vins``
     - per sample (``--rate``), tuned for the estimator
   * - configuration of ORB-SLAM3
     - ``orb_slam3``
     - densities and random walks, with the rate, tuned
   * - ``<sensor type="imu">`` of Gazebo in SDF, or in ``<gazebo reference="...">`` of a URDF
     - ``sdf``
     - per sample; separate axes from SDF 1.6 on
   * - ``<plugin>`` of ``libhector_gazebo_ros_imu.so``
     - ``hector``
     - per sample
   * - model of PX4 or RotorS (SDF, URDF)
     - ``rotors``
     - densities and a Gauss-Markov bias; ``--rate`` is the rate of the physics engine

OpenCV's header ``%YAML:1.0`` and its tags are accepted. Xacro files are expanded with the defaults
of their arguments. For other arguments, for a file of macros without a call, and for jinja's
``{{ }}``, the error message contains the command to run first:
``xacro FILE.xacro -o FILE.urdf``, or PX4's ``scripts/jinja_gen.py``. XML is parsed with
defusedxml: document types, entities and external references are rejected.
"""
