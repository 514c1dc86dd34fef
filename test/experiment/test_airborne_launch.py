"""airborne.launch: a flight to its end, broken off, and what it says to bad input."""

import pytest

LAUNCH = ["roslaunch", "imu_simulation_framework", "airborne.launch"]


def test_a_flight_ends_by_itself(experiment):
    done = experiment.run("gimbal:=level", "duration:=20", "real_time_factor:=0", program=LAUNCH)
    assert "the flight has ended" in done.output
    assert "The gimbal's line of sight is off by" in done.output
    assert "finished cleanly" in done.output
    assert "FATAL" not in done.output


def test_a_flight_is_broken_off_cleanly(experiment):
    running = experiment(program=LAUNCH)
    running.wait_for(r"the flight begins, of 200\.00 s")
    running.interrupt()
    done = running.wait()
    assert done.code == 0
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    "argument, said",
    [
        ("source:=c3014", "JSBSim has no script 'c3014', did you mean"),
        ("source:=flight.csv", "flight.csv"),
        ("gimbal:=agsim", "nor a gimbal of that name"),
        ("imu:=bno56", "nor an IMU of that name"),
        ("gnss:=rtx", "nor a GNSS receiver of that name"),
        ("gnss_on:=wing", "gnss_on is 'wing'"),
        ("rate:=-3", "rate is -3, expected a positive number"),
        ("seed:=half", "seed is 'half', expected a whole number"),
        ("start:=nan", "start is 'nan', expected a number"),
        ("duration:=0.01", "no flight can be made of it"),
    ],
)
def test_bad_input_is_fatal_in_one_sentence(experiment, argument, said):
    done = experiment.run(argument, program=LAUNCH, timeout=90.0)
    fatal = [line for line in done.output.splitlines() if "FATAL" in line]
    assert len(fatal) == 1 and said in fatal[0], done.output
    assert "Traceback" not in done.output
