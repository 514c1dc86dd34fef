"""How well the linear model's bands hold against full three-axis runs, for each way of use.

    ./run python test/benchmarks/operation_bands.py [--runs 10000]

For each error by itself and all of them together, zeroed at standstill, with stops that are known
or detected, after a warm-up, and with any unit of a part: the largest difference of mean and
standard deviation over four times of the drive, in standard errors and as a share of the standard
deviation, and of the probability to stay within a limit that four of five drives keep at each
sample, in per cent.
What a filter's lean makes of random errors is of second order, and not in the linear model's
standard deviation.
"""

import argparse
import dataclasses
import math
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "heading"))

from test_operation import OPERATIONS, PLACES, RATE, TERMS, errors_of_runs, specification

import imu_simulation_framework as isf
from imu_simulation_framework.sensors.imu_specification import UnitVariation

TOGETHER = {key: value for term in TERMS.values() for key, value in term.items()}
CASES = {**TERMS, "all": TOGETHER}
UNITS = UnitVariation(True, white_noise=0.3, bias_instability=0.5, random_walk=0.7)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000, help="of each case")
    parser.add_argument("--only", default="", help="words of a case's name")
    arguments = parser.parse_args()
    runs = arguments.runs
    print(f"{runs} runs each{'':20}   mean [s.e.]   std [s.e.]   std [%]   stays within [%]")
    for way, operation in {
        **OPERATIONS,
        "detected": isf.Operation(standstill=5.0, stops="every 20s for 3s, detected"),
        "any unit": isf.Operation(standstill=5.0),
    }.items():
        motion = operation.moved(isf.rounds(3, radius=2.5, speed=0.6, rate=10.0))
        for term, values in CASES.items():
            if arguments.only not in f"{way} {term}":
                continue
            imu = specification(**values)
            if way == "any unit":
                imu = dataclasses.replace(imu, units=UNITS)
            print(f"{way:14}{term:22}{compared(imu, motion, operation, runs)}", flush=True)


def compared(imu, motion, operation, runs):
    """Return the line of a case."""
    model = isf.yaw_error_model(imu, motion, 1.0 / RATE, operation=operation)
    errors = errors_of_runs(imu, motion, operation, runs)
    places = [round(RATE * place) if place > 0 else place for place in PLACES]
    bands = model.bands().iloc[places]
    std = bands["std"].to_numpy()
    if not np.all(std > 1e-9):
        return "   nothing random in it"
    errors = errors[:, : len(model.time)]
    at = errors[:, places]
    of_mean = (at.mean(axis=0) - bands["mean"].to_numpy()) / std * math.sqrt(runs)
    ratio = np.std(at, axis=0) / std
    # Of the variance of a variance: heavy tails where units differ.
    kurtosis = np.mean((at - at.mean(axis=0)) ** 4, axis=0) / np.var(at, axis=0) ** 2
    of_std = (ratio - 1.0) / np.sqrt((kurtosis - 1.0) / (4.0 * runs))
    limit = float(np.quantile(np.max(np.abs(errors), axis=1), 0.8))
    stays, _ = model.survival(limit, 4 * runs)
    largest = [np.max(np.abs(one)) for one in (of_mean, of_std)]
    return (
        f"{largest[0]:14.1f}{largest[1]:13.1f}{100.0 * np.max(np.abs(ratio - 1.0)):10.1f}"
        f"{100.0 * stays[-1]:12.1f} for 80"
    )


if __name__ == "__main__":
    main()
