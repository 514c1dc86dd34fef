"""Duration of the processing steps of a simulated flight, relative to JSBSim alone."""

import time

from _timing import Measurements, time_alternating

import imu_simulation_framework as isf
from imu_simulation_framework.flight.jsbsim import Notices, capture_output, data_folder, jsbsim

RATE, DURATION = 100.0, 200.0


def run_jsbsim():
    """Run a JSBSim script without reading any simulated properties."""
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
    measurements = Measurements(__doc__)
    options = measurements.parse()
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
    durations = time_alternating(calls, options.repeats, time.perf_counter)
    jsbsim_durations = durations["JSBSim alone"]
    durations["states"] = durations["states"] - jsbsim_durations
    for name in calls:
        measurements.add(f"flight of {DURATION:g} s, {name}", durations[name], "s")
    others = sum(durations[name] for name in ("states", "motion", "gimbal", "increments"))
    measurements.add(f"flight of {DURATION:g} s, all but JSBSim and IMU errors", others, "s")
    measurements.add("the same, of JSBSim alone", others / jsbsim_durations)
    measurements.save()


if __name__ == "__main__":
    main()
