"""Duration of the steps of a simulated flight, relative to JSBSim alone."""

import time

from _timing import time_alternating

import imu_simulation_framework as isf
from imu_simulation_framework.flight.jsbsim import Notices, capture_output, data_folder, jsbsim

RATE, DURATION = 100.0, 200.0
TURNS = 5
LIMIT = 0.2  # of all steps except JSBSim itself and the errors of the IMU [s]


def run_jsbsim():
    """Run JSBSim without reading its properties."""
    with capture_output(Notices()):
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
    gimbal, imu = isf.read_gimbal("agisim"), isf.read_imu_specification("mti300")
    motion = isf.fly("c3104", DURATION, RATE).states.motion()
    imu_motion = isf.simulate_gimbal(motion, gimbal).motion
    states = isf.fly("c3104", DURATION, RATE).states
    calls = {
        "JSBSim alone": run_jsbsim,
        "states": lambda: isf.fly("c3104", DURATION, RATE),
        "motion": states.motion,
        "gimbal": lambda: isf.simulate_gimbal(motion, gimbal),
        "increments": lambda: isf.increments_of(imu_motion),
        "IMU with errors": lambda: isf.simulate_imu(imu_motion, imu),
    }
    # Other load makes a call slower, never faster, so the minimum counts.
    durations = {
        name: t.min() for name, t in time_alternating(calls, TURNS, time.perf_counter).items()
    }
    durations["states"] -= durations["JSBSim alone"]
    jsbsim_duration = durations["JSBSim alone"]
    for name, value in durations.items():
        print(f"{name:>16}: {value:7.3f} s, {value / jsbsim_duration:6.2%} of JSBSim alone")
    other_duration = sum(durations[name] for name in ("states", "motion", "gimbal", "increments"))
    print(
        f"sum without JSBSim: {other_duration:.3f} s, limit {LIMIT:g} s, "
        f"{other_duration / jsbsim_duration:.2f} of JSBSim alone"
    )
    total = jsbsim_duration + other_duration + durations["IMU with errors"]
    print(f"in total {DURATION / total:.0f} times real time")


if __name__ == "__main__":
    main()
