#!/usr/bin/env python3
"""Navigation accuracy of an aircraft with the gimbal off and on: table 4 of the AGISim paper.

The flight is 200 s of JSBSim's c3104, from its start or from the standstill on the runway 3 s
later. Table 2 of the paper specifies the IMU; each run draws different IMU errors and noise. The
receiver is next to the IMU.

published   Filter, receiver and initial errors of the paper, from the demonstrations in Groves's
            book. The receiver errors include errors that are constant during a flight.
consistent  Conditions that match the filter's model: white errors of 2.5 m and 0.1 m/s, initial
            errors drawn from the filter's covariance, and tuning for the IMU.
bias only   The same as consistent, but the IMU has only biases and white noise.

The program prints medians and quartiles over the runs, and a signed-rank test of paired runs with
the gimbal on and off. It repeats the runs with the receiver on the airframe, with a known and with
an unknown lever arm, and prints the time of 100 runs. doc/explanation/accuracy.md compares the
results with the single run of the paper.

    airborne_table4.py [--runs 50]
"""

import argparse
import math
import os
import time
from dataclasses import replace

# The matrices are too small to benefit from multithreading.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from scipy import stats

import imu_simulation_framework as isf
from imu_simulation_framework.flight.jsbsim import fly
from imu_simulation_framework.flight.navigation.tuning import tuning_of
from imu_simulation_framework.sensors.imu_specification import AGISIM_SPREAD, draw_unit

RATE = 100.0
DURATION, BEGINNING, ON_RUNWAY = 200.0, 0.0, 3.0
PAPER = {
    "off": (3.246, 0.481, 2.142, 1.041, 0.030, 0.117, 0.082),
    "on": (3.176, 0.473, 1.969, 1.002, 0.028, 0.099, 0.073),
}
COLUMNS = ("heading mrad", "N m", "E m", "D m", "N m/s", "E m/s", "D m/s")
SCALE = np.array([1e3, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
# Lever arm from the gimbal below the fuselage to an antenna on the roof [m]; an assumption.
ANTENNA = (-0.5, 0.0, 1.5)

DEGREE, MICRO_G = math.radians(1.0), 9.80665e-6
PUBLISHED = isf.FilterTuning(
    gyroscope_noise=0.02 * DEGREE / 60.0,
    accelerometer_noise=200.0 * MICRO_G,
    gyroscope_bias=10.0 * DEGREE / 3600.0,
    accelerometer_bias=1000.0 * MICRO_G,
    gyroscope_random_walk=math.sqrt(2e-12),
    accelerometer_random_walk=math.sqrt(1e-7),
    position_noise=2.5,
    velocity_noise=0.1,
    initial=isf.InitialUncertainty(DEGREE, DEGREE, velocity=0.1, position=10.0),
)
WHITE = isf.GnssSpecification(rate=2.0, qualities=(isf.FixQuality(
    horizontal_noise=2.5, vertical_noise=2.5, velocity_noise=0.1, vertical_velocity_noise=0.1
),))  # fmt: skip
INITIAL_ERRORS = np.array([-0.05 * DEGREE, 0.04 * DEGREE, DEGREE, *[0.0] * 6])


def simulate_motions(start):
    """Return the motion of the airframe, and the IMU motions with the gimbal off and on."""
    states = fly("c3104", duration=DURATION, start=start).states
    time_of_imu = states.time[0] + np.arange(round(DURATION * RATE) + 1) / RATE
    airframe = states.motion(at=np.minimum(time_of_imu, states.time[-1]))
    gimbal = isf.read_gimbal("agisim")
    off = replace(gimbal, drive=isf.read_gimbal("off").drive)
    return airframe, {
        "off": isf.simulate_gimbal(airframe, off).motion,
        "on": isf.simulate_gimbal(airframe, gimbal).motion,
    }


def bias_only(imu):
    """Reduce the errors of an IMU to its white noise and to random biases of the same rms."""

    def simplify(triad):
        return isf.TriadSpecification(
            white_noise=triad.white_noise,
            turn_on_bias_sigma=math.sqrt(np.mean(np.square(triad.turn_on_bias))),
        )

    return replace(
        imu, gyroscope=simplify(imu.gyroscope), accelerometer=simplify(imu.accelerometer)
    )


def show(name, values, form="{:10.3f}"):
    print(f"  {name:22}" + "".join(form.format(value) for value in values))


def print_navigation(name, motion, imus, gnss, **options):
    """Print the row of a navigation case; return the rms errors of all runs in table units."""
    runs = isf.navigate_runs(motion, imus, gnss, len(imus), **options)
    rmse, fit = runs.rmse().to_numpy() * SCALE, runs.consistency(biases=False)
    show(name, np.median(rmse, axis=0))
    show("  quartiles", np.quantile(rmse, 0.25, axis=0))
    show("", np.quantile(rmse, 0.75, axis=0))
    print(
        f"    NEES {fit.mean_nees:.1f} for {fit.degrees} states, "
        f"{100 * fit.nees_within:.0f} % of times within {fit.nees_bounds[0]:.1f} to "
        f"{fit.nees_bounds[1]:.1f};  NIS {fit.mean_nis:.2f} for 6 measurements, "
        f"{100 * fit.nis_within:.0f} % within {fit.nis_bounds[0]:.2f} to "
        f"{fit.nis_bounds[1]:.2f}"
    )
    return rmse


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50)
    options = parser.parse_args()
    imu = isf.read_imu_specification("agisim")
    imus = [draw_unit(imu, AGISIM_SPREAD, run=run) for run in range(options.runs)]
    simplified = [bias_only(imu)] * options.runs
    groves, white = isf.read_gnss_specification("groves"), WHITE
    published = {"tuning": PUBLISHED, "initial_errors": INITIAL_ERRORS}
    consistent = {"tuning": tuning_of(imu)}
    runway = simulate_motions(ON_RUNWAY)
    airframe, motions = runway
    show("", COLUMNS, "{:>10}")
    for gimbal, values in PAPER.items():
        show(f"paper, gimbal {gimbal}", values)
    errors_at_imu = None
    for title, (_, imu_motions), sensors, gnss, filter_options in (
        ("bias only", runway, simplified, white, {"tuning": tuning_of(simplified[0])}),
        ("published, from 0 s", simulate_motions(BEGINNING), imus, groves, published),
        ("published, from 3 s", runway, imus, groves, published),
        ("published, white fixes", runway, imus, white, published),
        ("consistent", runway, imus, white, consistent),
    ):
        print(title)
        errors_off, errors_on = (
            print_navigation(
                f"gimbal {gimbal}", imu_motions[gimbal], sensors, gnss, **filter_options
            )
            for gimbal in PAPER
        )
        ratio = np.log(errors_on / errors_off)
        show("  on/off", np.exp(np.median(ratio, axis=0)))
        show("  runs better with on", np.mean(ratio < 0.0, axis=0), "{:10.0%}")
        show("  signed-rank p", stats.wilcoxon(ratio, axis=0).pvalue, "{:10.1e}")
        errors_at_imu = errors_on
    print("receiver on the airframe, gimbal on, consistent")
    receiver_on_roof = replace(white, lever_arm=ANTENNA)
    for name, compensated in (("lever arm known", True), ("lever arm unknown", False)):
        filter_options = {"airframe": airframe, "compensated": compensated, **consistent}
        errors_on_roof = print_navigation(
            name, motions["on"], imus, receiver_on_roof, **filter_options
        )
        show(
            "  ratio to at IMU",
            np.median(errors_on_roof, axis=0) / np.median(errors_at_imu, axis=0),
        )
    begin, cpu = time.perf_counter(), time.process_time()
    isf.navigate_runs(motions["on"], imu, white, 100)
    print(
        f"100 runs of {DURATION:g} s at {RATE:g} Hz, including IMU and receiver: "
        f"{time.perf_counter() - begin:.1f} s, {time.process_time() - cpu:.1f} s of one core"
    )


if __name__ == "__main__":
    main()
