"""How fast a flight is beside JSBSim alone: states, motion, gimbal, increments, an IMU's samples.

Absolute figures depend on the machine; the ratios, measured in turns in one process, hardly do.
"""

import time

import numpy as np

from imu_simulation_framework.flight.gimbal.files import read_gimbal
from imu_simulation_framework.flight.gimbal.simulation import simulate_gimbal
from imu_simulation_framework.flight.jsbsim import Notices, data_folder, fly, jsbsim, told
from imu_simulation_framework.motion.strapdown import increments_of
from imu_simulation_framework.sensors.files import read_imu_specification
from imu_simulation_framework.sensors.simulation import simulate_imu

RATE, DURATION = 100.0, 200.0
TIMES = 5
LIMIT = 0.2
"""Of all that is not JSBSim's own, but for the IMU's errors [s]."""


def seconds(function, *arguments, **settings):
    """Return how long a call takes, and what it returns."""
    start = time.perf_counter()
    result = function(*arguments, **settings)
    return time.perf_counter() - start, result


def alone():
    """JSBSim with nothing read."""
    with told(Notices()):
        simulator = jsbsim().FGFDMExec(str(data_folder()))
        simulator.set_debug_level(0)
        simulator.load_script("scripts/c3104.xml")
        simulator.set_dt(1.0 / RATE)
        simulator.disable_output()
        simulator.run_ic()
        run = simulator.run
        for _ in range(int(DURATION * RATE)):
            run()


def main():
    gimbal, imu = read_gimbal("agisim"), read_imu_specification("mti300")
    parts = ("JSBSim alone", "states", "motion", "gimbal", "increments", "IMU with errors")
    taken = {name: [] for name in parts}
    fly("c3104", duration=1.0)
    for _ in range(TIMES):
        taken["JSBSim alone"].append(seconds(alone)[0])
        spent, flight = seconds(fly, "c3104", DURATION, RATE)
        taken["states"].append(spent)
        spent, motion = seconds(flight.states.motion)
        taken["motion"].append(spent)
        spent, carried = seconds(simulate_gimbal, motion, gimbal)
        taken["gimbal"].append(spent)
        taken["increments"].append(seconds(increments_of, carried.motion)[0])
        taken["IMU with errors"].append(seconds(simulate_imu, carried.motion, imu)[0])
    # Others who use the machine make it slower, never faster.
    least = {name: float(np.min(values)) for name, values in taken.items()}
    least["states"] -= least["JSBSim alone"]
    own = least["JSBSim alone"]
    for name, value in least.items():
        print(f"{name:>16}: {value:7.3f} s, {value / own:6.2%} of JSBSim's own")
    beyond = sum(least[name] for name in ("states", "motion", "gimbal", "increments"))
    print(f"beyond JSBSim's own: {beyond:.3f} s of at most {LIMIT:g} s, {beyond / own:.2f} of it")
    print(f"all of it {DURATION / (own + beyond + least['IMU with errors']):.0f} times real time")


if __name__ == "__main__":
    main()
