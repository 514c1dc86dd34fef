"""Effect of a magnetometer on the heading error in undisturbed and disturbed magnetic fields.

The bundled BNO055 with magnetometer drives eleven laps of drive A. The gyroscope has an additional
random bias of 1 deg/min in each run. The fusion filter is configured with the true declination. For
each environment and fusion filter, the program prints the rms yaw error over runs of the full
sensor (monte_carlo) and of the linear model (yaw_error_model), and optionally draws a figure.

    magnetic_heading.py [RUNS [FIGURE.png]]
"""

import sys
from dataclasses import replace

import numpy as np

import imu_simulation_framework as isf
from imu_simulation_framework.drive.ensembles.monte_carlo import monte_carlo
from imu_simulation_framework.drive.ensembles.samplers import SensorDrawing

RATE = 20.0
MAGNETISATION = {"clean": 0.0, **{f"beam, {kilo} kA/m": 1e3 * kilo for kilo in (1, 10, 100)}}
NORTH = {"magnetic_heading": True}
FUSIONS = {
    "no magnetometer": {},
    "magnetometer": NORTH,
    "magnetometer, rejecting": {**NORTH, "magnetic_disturbance_rejection": True},
}
COLOURS = ("tab:gray", "tab:orange", "tab:blue")


def environments():
    """Yield the name and the definition of each magnetic environment."""
    beam = isf.read_magnetic_environment("steel_beam")
    for name, strength in MAGNETISATION.items():
        bar = replace(beam.bars[0], magnetisation=(0.0, strength, 0.0))
        yield name, replace(beam, bars=[bar] if strength else [])


def make_imu(fusion, environment):
    """Return a BNO055 whose fusion filter is configured with the declination of an environment."""
    imu = isf.read_imu_specification("bno055_magnetometer")
    gyroscope = replace(imu.gyroscope, turn_on_bias_sigma=(0.0, 0.0, np.radians(1.0 / 60.0)))
    east, north, _ = environment.undisturbed
    if fusion:
        fusion = {**fusion, "magnetic_declination": float(np.arctan2(east, north))}
    return replace(imu, gyroscope=gyroscope, output=replace(imu.output, rate=RATE, **fusion))


def main(runs, path):
    motion = isf.read_drive("a").resampled(RATE)
    curves = {}
    title = f"rms over {runs} runs [deg]"
    print(f"{title:42}  whole   last lap  model, last lap   largest")
    for place, environment in environments():
        for name, fusion in FUSIONS.items():
            imu = make_imu(fusion, environment)
            drawing = SensorDrawing(motion, imu, magnetic_environment=environment)
            errors = np.degrees(monte_carlo(drawing, runs, keep=runs).curves)
            errors = (errors + 180.0) % 360.0 - 180.0
            model = isf.yaw_error_model(imu, motion, 1.0, environment)
            linear = np.degrees(np.sqrt(model.variance() + model.mean() ** 2))
            rms = np.sqrt(np.mean(errors**2, axis=0))
            late = drawing.time > motion.duration - 60.0
            parts = (rms, rms[late], linear[: len(rms)][late[: len(linear)]])
            numbers = [np.sqrt(np.mean(part**2)) for part in parts]
            largest = np.abs(errors[:, drawing.time > 20.0]).max()
            row = "".join(f"{value:10.2f}" for value in (*numbers, largest))
            print(f"{place:16}{name:26}{row}", flush=True)
            curves[place, name] = drawing.time, rms, model.time, linear
    if path:
        draw(curves, path)


def draw(curves, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        len(MAGNETISATION), 1, figsize=(9.0, 9.5), sharex=True, constrained_layout=True
    )
    for axis, place in zip(axes, MAGNETISATION):
        for (name, colour), width in zip(zip(FUSIONS, COLOURS), (1.6, 3.2, 1.2)):
            time, rms, times, linear = curves[place, name]
            axis.plot(time, rms, color=colour, linewidth=width, label=name)
            axis.plot(times, linear, color=colour, linewidth=0.8, linestyle="--")
        axis.set_title(place, loc="left", fontsize=10)
        axis.set_ylabel("yaw error, rms [deg]")
        axis.set_ylim(0.0)
        axis.grid(alpha=0.3)
    axes[0].legend(loc="upper left", fontsize=8, title="dashed: linear model")
    axes[-1].set_xlabel("time [s]")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, sys.argv[2] if len(sys.argv) > 2 else None)
