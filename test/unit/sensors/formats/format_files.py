"""Valid IMU parameter files of each supported format."""

GOOD = {
    "specification": """gyroscope:
  white_noise: 1e-4
  gauss_markov_sigma: 1e-3
  gauss_markov_time: 100
""",
    "kalibr": """rostopic: /imu
update_rate: 200
accelerometer_noise_density: 1e-2
accelerometer_random_walk: 2e-4
gyroscope_noise_density: 5e-3
gyroscope_random_walk: 4e-6
""",
    "sdf": """<sdf version="1.6">
<sensor name="imu" type="imu">
<update_rate>100</update_rate>
<imu>
<angular_velocity>
<x><noise type="gaussian">
<stddev>0.1</stddev>
<dynamic_bias_stddev>0.2</dynamic_bias_stddev>
<dynamic_bias_correlation_time>10</dynamic_bias_correlation_time>
</noise></x>
</angular_velocity>
</imu>
</sensor>
</sdf>
""",
    "hector": """<plugin filename="libhector_gazebo_ros_imu.so">
<updateRate>100</updateRate>
<rateDrift>1 2 3</rateDrift>
<rateDriftFrequency>0.1 0.2 0.3</rateDriftFrequency>
<yawDrift>1</yawDrift>
</plugin>
""",
    "rotors": """<plugin filename="librotors_gazebo_imu_plugin.so">
<gyroscopeNoiseDensity>3e-4</gyroscopeNoiseDensity>
<gyroscopeRandomWalk>4e-5</gyroscopeRandomWalk>
<gyroscopeBiasCorrelationTime>1000</gyroscopeBiasCorrelationTime>
<gyroscopeTurnOnBiasSigma>0.01</gyroscopeTurnOnBiasSigma>
<accelerometerNoiseDensity>4e-3</accelerometerNoiseDensity>
<accelerometerRandomWalk>6e-3</accelerometerRandomWalk>
<accelerometerBiasCorrelationTime>300</accelerometerBiasCorrelationTime>
<accelerometerTurnOnBiasSigma>0.2</accelerometerTurnOnBiasSigma>
</plugin>
""",
    "imu_utils": """%YAML:1.0
---
type: IMU
Gyr:
   unit: " rad/s"
   avg-axis:
      gyr_n: 2e-3
      gyr_w: 3e-5
Acc:
   unit: " m/s^2"
   avg-axis:
      acc_n: 3e-2
      acc_w: 4e-4
""",
    "vins": """%YAML:1.0
imu: 1
acc_n: 0.1  # a comment
gyr_n: 0.01
acc_w: 0.001
gyr_w: 1e-4
""",
    "orb_slam3": """%YAML:1.0
IMU.NoiseGyro: 1.7e-4 #1.6968e-04
IMU.NoiseAcc: 2e-3
IMU.GyroWalk: 1.9e-05
IMU.AccWalk: 3e-03
IMU.Frequency: 200.0
""",
    "unity": """<sensor type="imu">
<update_rate>100</update_rate>
<noise><stddev>0.1</stddev></noise>
</sensor>
""",
    "datasheet": """rate: 100
gyroscope:
  noise:
    density: 0.014
    unit: deg/s/sqrt(Hz)
    spectrum: one-sided
""",
}
