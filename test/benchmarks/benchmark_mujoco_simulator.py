"""How fast the MuJoCo simulator and the IMU models are, beside MuJoCo alone.

Absolute figures depend on the machine; the ratios, measured in turns in one process, hardly do.
"""

import time

import mujoco
import numpy as np

from imu_simulation_framework.drive.mujoco import MujocoSimulator, build_model
from imu_simulation_framework.drive.robot import load_robot_parameters
from imu_simulation_framework.sensors.imu_models.base import ImuTruth
from imu_simulation_framework.sensors.imu_models.registry import PRESETS, make_imu_model

PHYSICS_RATE = 1000
SAMPLE_RATE = 100
STEPS_PER_SAMPLE = PHYSICS_RATE // SAMPLE_RATE
COMMAND = (8.0, 10.0)
SAMPLES = 100
ROUNDS = 60


def best_times(candidates):
    """Seconds per sample of each: the best of many short rounds, in which all take turns."""
    best = dict.fromkeys(candidates, float("inf"))
    for _ in range(ROUNDS):
        for name, candidate in candidates.items():
            start = time.perf_counter()
            candidate()
            best[name] = min(best[name], (time.perf_counter() - start) / SAMPLES)
    return best


def mujoco_alone(parameters):
    model = build_model(parameters, PHYSICS_RATE)
    data = mujoco.MjData(model)
    data.ctrl[:] = COMMAND

    def run():
        for _ in range(SAMPLES):
            mujoco.mj_step(model, data, STEPS_PER_SAMPLE)

    return run


def simulator_with(parameters, preset=None):
    simulator = MujocoSimulator(parameters, PHYSICS_RATE, SAMPLE_RATE)
    simulator.set_wheel_velocities(*COMMAND)
    imu = None
    if preset is not None:
        imu = make_imu_model(preset, {}, simulator.sample_period, 1)

    def run():
        for _ in range(SAMPLES):
            state = simulator.step()
            if imu is not None:
                imu.step(state.imu_truth)

    return run


def batch_cost(preset, runs=10, samples=60_000):
    """Seconds per run and sample of a batch, and of drawing a normal number."""
    truth = ImuTruth(
        np.tile([0.0, 0.0, 0.0, 1.0], (samples, 1)),
        np.zeros((samples, 3)),
        np.tile([0.0, 0.0, 9.81], (samples, 1)),
    )
    generator = np.random.default_rng(1)
    imu = make_imu_model(preset, {}, 1.0 / SAMPLE_RATE, 1)
    start = time.perf_counter()
    imu.batch(truth, runs)
    batch = time.perf_counter() - start
    start = time.perf_counter()
    generator.standard_normal(runs * samples)
    drawing = time.perf_counter() - start
    return batch / (runs * samples), drawing / (runs * samples)


def main():
    parameters = load_robot_parameters()
    candidates = {
        "MuJoCo alone": mujoco_alone(parameters),
        "simulator": simulator_with(parameters),
    }
    for preset in PRESETS:
        candidates[f"simulator, imu {preset}"] = simulator_with(parameters, preset)
    times = best_times(candidates)
    reference = times["MuJoCo alone"]
    print(f"MuJoCo {mujoco.__version__}, {PHYSICS_RATE} Hz physics, {SAMPLE_RATE} Hz samples")
    print(f"{'':32}{'us/sample':>10}{'times real time':>17}{'of MuJoCo alone':>17}")
    for name, seconds in times.items():
        print(
            f"{name:32}{1e6 * seconds:10.1f}{1.0 / (SAMPLE_RATE * seconds):17.0f}"
            f"{seconds / reference:17.2f}"
        )
    for preset in ("generic", "hector"):
        batch, drawing = batch_cost(preset)
        print(
            f"batch, imu {preset:21}{1e6 * batch:10.3f}{1.0 / (SAMPLE_RATE * batch):17.0f}"
            f"{batch / drawing:8.0f} normal numbers"
        )


if __name__ == "__main__":
    main()
