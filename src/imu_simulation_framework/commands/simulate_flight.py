"""Simulate an IMU on the gimbal of an aircraft; write tables, a bag, figures and a report.

The command line is defined in :mod:`.parsers.simulate_flight`.
"""

import time
from dataclasses import asdict
from itertools import starmap

import numpy as np
import pandas as pd

from .. import __version__
from ..core.errors import ConfigurationError, versions
from ..core.files import format_json
from ..core.tables import table_to_csv
from ..core.whole_files import make_folder
from ..flight import figures as showing
from ..flight.airborne import AirborneImu, flight_messages, flight_tables
from ..flight.gimbal.specification import GimbalSpecification, gimbal_to_mapping, read_gimbal
from ..flight.recording import find_flight, is_script
from ..recordings.formats.written_bags import write_message_bag
from ..report.drawing import to_matplotlib
from ..report.page import page_html
from ..sensors.formats.registry import named_imu
from ..sensors.gnss.specification import read_gnss_specification
from ..sensors.imu_specification import ImuSpecification
from . import command_line
from .parsers.simulate_flight import NO_RECEIVER, START


def run(options):
    """Simulate the flight specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
    begin = time.monotonic()
    imu = named_imu(options.imu)
    gimbal = read_gimbal(options.gimbal)
    gnss = None if options.gnss == NO_RECEIVER else read_gnss_specification(options.gnss)
    start = START if options.start is None and is_script(options.flight) else options.start or 0.0
    flight, remarks = find_flight(options.flight, options.duration, options.flight_rate, start)
    flown = AirborneImu(flight.states, gimbal, imu.errors, gnss, options.rate, options.seed)
    simulated = time.monotonic() - begin
    out = make_folder(options.out)
    for name, table in flight_tables(flown).items():
        command_line.write_file(out / f"{name}.csv", table_to_csv(table).encode())
    write_message_bag(out / "flight.bag", flight_messages(flown))
    print(out / "flight.bag")
    flight_instants = flight.states.instants()
    instants = flight_instants.marked()
    remarks = tuple(dict.fromkeys([*remarks, *imu.remarks, *flown.remarks]))
    script = flight.settings.get("script", options.flight)
    described = f"{script} · gimbal {gimbal.name} · IMU {imu.name}"
    swinging = showing.swinging(gimbal, read_gimbal("agisim"))
    single_joints = {
        joint: showing.joint_alone(
            joint, swinging, imu.errors, flown.origin, options.rate, options.seed
        )
        for joint in ("pan", "tilt")
    }
    sensed = showing.sensed_in_flight(flown)
    if "lift-off" in instants:
        lead, lag = showing.AROUND_LIFT_OFF
        sensed = sensed.between(instants["lift-off"] - lead, instants["lift-off"] + lag)
    navigated, left_out = _navigated(flown, gimbal, imu.errors, gnss, options)
    remarks += left_out
    body = flown.body
    position = body.local(flown.origin).position.copy()
    # At the end of a 12 km flight, a plane tangent to the Earth is 10 m above the surface.
    position[:, 2] = body.latitude_longitude_height[:, 2] - flown.origin[2]
    place = flown.origin * (180.0 / np.pi, 180.0 / np.pi, 1.0)
    figures = {
        "figure_5": showing.imu_figure(*single_joints["pan"]),
        "figure_6": showing.imu_figure(*single_joints["tilt"]),
        "figure_7": showing.imu_figure(sensed.time, sensed.measured, sensed.true, instants),
        "figure_8_path": showing.path_figure(position, body.time, instants, place),
    }
    if navigated:
        errors = {name: errors for name, (errors, _) in navigated.items()}
        figures["figure_8_errors"] = showing.navigation_figure(errors, instants)
    for name, figure in figures.items():
        drawn = to_matplotlib(figure, f"{described} · seed {options.seed}")
        command_line.write_pictures(out, name, drawn, options.formats)
    for name, (errors, _) in navigated.items():
        path = out / f"navigation_{name.replace(' ', '_')}.csv"
        command_line.write_file(path, table_to_csv(_error_table(errors)).encode())
    settings = {
        "flight": {"from": str(options.flight), **flight.settings, "start": start},
        "gimbal": gimbal_to_mapping(gimbal),
        "imu": imu.name,
        "receiver": str(options.gnss),
        "receiver_rate": None if gnss is None else gnss.rate,
        **{name: getattr(options, name) for name in ("rate", "seed", "runs")},
    }
    summary = {
        "settings": settings,
        "instants": instants,
        "turns": [asdict(turn) for turn in flight_instants.turns],
        "events": [list(event) for event in flight.events],
        "crashed": flight.crashed,
        "remarks": list(remarks),
        "rmse": {name: dict(table.median()) for name, (_, table) in navigated.items()},
        "versions": versions(),
    }
    command_line.write_file(out / "summary.json", format_json(summary).encode())
    crashed = "; the aircraft crashed" if flight.crashed else ""
    page = showing.flight_page(
        "An IMU on a gimbal in flight",
        showing.FlightResults(
            time=body.time,
            position=position,
            speed=np.hypot(*body.local_velocity[:, :2].T),
            joints=flown.joints.angle,
            instants=instants,
            alone=single_joints,
            sensed=sensed,
            navigated=navigated,
        ),
        summary=[
            f"{described}: {body.duration:.0f} s of flight{crashed}.",
            *starmap(_answer, navigated.items()),
        ],
        settings={**settings, "versions": summary["versions"]},
        remarks=summary["remarks"],
        footer=f"{options.flight}, seed {options.seed}, imu_simulation_framework {__version__}",
    )
    command_line.write_file(out / "report.html", page_html(page).encode("utf-8"))
    for sentence in [*flight_instants.sentences(), *remarks, *starmap(_answer, navigated.items())]:
        print(sentence)
    print(
        f"{flown.imu_motion.duration:g} s of flight, simulated in {simulated:.1f} s; total time "
        f"{time.monotonic() - begin:.1f} s"
    )


def _navigated(flown, gimbal, imu, gnss, options):
    """Return navigation errors with the gimbal off and on, or the reason why there are none."""
    if not isinstance(imu, ImuSpecification):
        return {}, ("navigation is not simulated: it requires a specification of the IMU",)
    if gnss is None:
        return {}, ("navigation is not simulated: it requires a GNSS receiver",)
    motions = {"gimbal off": flown.body}
    if gimbal_to_mapping(gimbal) != gimbal_to_mapping(GimbalSpecification(name=gimbal.name)):
        motions["gimbal on"] = flown.imu_motion
    try:
        return {
            name: showing.navigated(motion, imu, gnss, options.runs, options.seed)
            for name, motion in motions.items()
        }, ()
    except ConfigurationError as error:
        return {}, (f"navigation is not simulated: {error}",)


def _error_table(errors) -> pd.DataFrame:
    """Return the errors of the first run: heading [rad], position [m], velocity [m/s]."""
    parts = [errors.attitude[0][:, 2:], errors.position[0], errors.velocity[0]]
    names = ["heading"]
    names += [f"{quantity}_{axis}" for quantity in ("position", "velocity") for axis in "ned"]
    return pd.DataFrame(np.hstack(parts), columns=names, index=pd.Index(errors.time, name="time"))


def _answer(name, navigated):
    median, runs = navigated[1].median(), len(navigated[1])
    position = np.sqrt(sum(median[f"position_{axis}"] ** 2 for axis in "ned"))
    return (
        f"Navigator, {name}: heading {np.degrees(median['heading']):.2g} deg rms "
        f"({1000.0 * median['heading']:.2g} mrad), position "
        f"{position:.2g} m, from {'1 run' if runs == 1 else f'{runs} runs'}."
    )
