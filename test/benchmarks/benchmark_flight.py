"""How fast a flight is beside JSBSim alone: states, motion, gimbal, increments, IMU."""

import time

from _timing import in_turns

import imu_simulation_framework as isf
from imu_simulation_framework.flight.jsbsim import Notices, data_folder, jsbsim, reported

RATE, DURATION = 100.0, 200.0
TIMES = 5
LIMIT = 0.2  # of all that is not JSBSim's own, but for the IMU's errors [s]


def alone():
    """JSBSim with nothing read."""
    with reported(Notices()):
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
    carried = isf.simulate_gimbal(motion, gimbal).motion
    states = isf.fly("c3104", DURATION, RATE).states
    calls = {
        "JSBSim alone": alone,
        "states": lambda: isf.fly("c3104", DURATION, RATE),
        "motion": states.motion,
        "gimbal": lambda: isf.simulate_gimbal(motion, gimbal),
        "increments": lambda: isf.increments_of(carried),
        "IMU with errors": lambda: isf.simulate_imu(carried, imu),
    }
    # Others who use the machine make it slower, never faster.
    least = {name: t.min() for name, t in in_turns(calls, TIMES, time.perf_counter).items()}
    least["states"] -= least["JSBSim alone"]
    own = least["JSBSim alone"]
    for name, value in least.items():
        print(f"{name:>16}: {value:7.3f} s, {value / own:6.2%} of JSBSim's own")
    beyond = sum(least[name] for name in ("states", "motion", "gimbal", "increments"))
    print(f"beyond JSBSim's own: {beyond:.3f} s of at most {LIMIT:g} s, {beyond / own:.2f} of it")
    print(f"all of it {DURATION / (own + beyond + least['IMU with errors']):.0f} times real time")


if __name__ == "__main__":
    main()
