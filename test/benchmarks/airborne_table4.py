#!/usr/bin/env python3
"""How well an aircraft's navigator knows where it is, gimbal off and on: table 4 of AGISim's paper.

200 s of JSBSim's c3104, from its beginning or from its rest on the runway 3 s later, with the IMU
of the paper's table 2 (each run has another unit, and other noise) and a receiver beside it:

published  what the paper ran: filter, receiver and initial errors of the demonstrations of Groves's
           book, whose receiver has errors that are constant during a flight.
consistent what a filter can be held to: white errors of 2.5 m and 0.1 m/s, initial errors drawn as
           large as the filter takes them to be, and the tuning that the IMU calls for.
bias only  that with biases and white noise as the IMU's only errors.

Medians and quartiles over the runs, and a signed-rank test of the runs in pairs, gimbal on against
off. Then the receiver on the airframe, its lever arm known and unknown, and the time that 100 runs
take. What the paper's one run says of it is in doc/navigation.md.

    airborne_table4.py [--runs 50]
"""

import argparse
import math
import os
import time
from dataclasses import replace

# The matrices are small: threads would wait for each other.
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
ANTENNA = (-0.5, 0.0, 1.5)
"""On the roof, as seen from the gimbal in the aircraft's belly [m]; chosen."""

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
WRONG_AT_FIRST = np.array([-0.05 * DEGREE, 0.04 * DEGREE, DEGREE, *[0.0] * 6])


def flown(start):
    """The airframe, and the IMU with the gimbal off and on."""
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
    """Return an IMU with biases as large as this one's, drawn in each run, and its white noise."""

    def triad(of):
        return isf.TriadSpecification(
            white_noise=of.white_noise,
            turn_on_bias_sigma=math.sqrt(np.mean(np.square(of.turn_on_bias))),
        )

    return replace(imu, gyroscope=triad(imu.gyroscope), accelerometer=triad(imu.accelerometer))


def show(name, values, form="{:10.3f}"):
    print(f"  {name:22}" + "".join(form.format(value) for value in values))


def navigated(name, motion, imus, gnss, **options):
    """The root mean square errors of all runs, in the units of the table, after a line of it."""
    runs = isf.navigate_runs(motion, imus, gnss, len(imus), **options)
    rmse, found = runs.rmse().to_numpy() * SCALE, runs.consistency(biases=False)
    show(name, np.median(rmse, axis=0))
    show("  quartiles", np.quantile(rmse, 0.25, axis=0))
    show("", np.quantile(rmse, 0.75, axis=0))
    print(
        f"    NEES {found.mean_nees:.1f}, of {found.degrees} states, "
        f"{100 * found.nees_within:.0f} % of times within {found.nees_bounds[0]:.1f} to "
        f"{found.nees_bounds[1]:.1f};  NIS {found.mean_nis:.2f} of 6, "
        f"{100 * found.nis_within:.0f} % within {found.nis_bounds[0]:.2f} to "
        f"{found.nis_bounds[1]:.2f}"
    )
    return rmse


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50)
    options = parser.parse_args()
    imu = isf.read_imu_specification("agisim")
    imus = [draw_unit(imu, AGISIM_SPREAD, run=run) for run in range(options.runs)]
    simple = [bias_only(imu)] * options.runs
    groves, white = isf.read_gnss_specification("groves"), WHITE
    published = {"tuning": PUBLISHED, "initial_errors": WRONG_AT_FIRST}
    own = {"tuning": tuning_of(imu)}
    runway = flown(ON_RUNWAY)
    airframe, motions = runway
    show("", COLUMNS, "{:>10}")
    for gimbal, values in PAPER.items():
        show(f"paper, gimbal {gimbal}", values)
    beside = None
    for title, (_, carried), sensors, gnss, how in (
        ("bias only", runway, simple, white, {"tuning": tuning_of(simple[0])}),
        ("published, from 0 s", flown(BEGINNING), imus, groves, published),
        ("published, from 3 s", runway, imus, groves, published),
        ("published, white fixes", runway, imus, white, published),
        ("consistent", runway, imus, white, own),
    ):
        print(title)
        off, on = (
            navigated(f"gimbal {gimbal}", carried[gimbal], sensors, gnss, **how) for gimbal in PAPER
        )
        ratio = np.log(on / off)
        show("  on/off", np.exp(np.median(ratio, axis=0)))
        show("  on better, of runs", np.mean(ratio < 0.0, axis=0), "{:10.0%}")
        show("  signed-rank p", stats.wilcoxon(ratio, axis=0).pvalue, "{:10.1e}")
        beside = on
    print("receiver on the airframe, gimbal on, consistent")
    away = replace(white, lever_arm=ANTENNA)
    for name, compensated in (("lever arm known", True), ("lever arm unknown", False)):
        how = {"airframe": airframe, "compensated": compensated, **own}
        found = navigated(name, motions["on"], imus, away, **how)
        show("  to beside the IMU", np.median(found, axis=0) / np.median(beside, axis=0))
    begin, cpu = time.perf_counter(), time.process_time()
    isf.navigate_runs(motions["on"], imu, white, 100)
    print(
        f"100 runs of {DURATION:g} s at {RATE:g} Hz, IMU and receiver included: "
        f"{time.perf_counter() - begin:.1f} s, {time.process_time() - cpu:.1f} s of one core"
    )


if __name__ == "__main__":
    main()
