"""Write the trajectories of a result as TUM files, for evo and other tools.

    export_tum.py RESULT --out tum
    evo_ape tum tum/simulated_truth.tum tum/simulated_imu.tum --pose_relation angle_deg --plot

Each IMU has a file of its truth with the same stamps and positions, so that the rotation between
both is the yaw error. Writes to DIR:

    simulated_truth.tum, simulated_imu.tum    ground truth and simulated IMU
    recorded_truth.tum, recorded_imu.tum      reference and recorded IMU, if there is one
    trajectory.tum, driven.tum                trajectory to follow, and driven trajectory
"""

from ..core.errors import ResultError
from ..core.programs import ArgumentParser
from ..core.whole_files import make_folder
from ..drive.results import files
from ..drive.summary import evaluate
from ..heading.yaw_comparison import ComparisonSettings
from .command_line import add_out, add_result, write_file


def main(arguments):
    """Export the result of a command line.

    Parameters
    ----------
    arguments : list of str
        Command line.
    """
    options = _parser().parse_args(arguments)
    folder = files.find_result(options.result)
    files.complete_tables(folder)
    tables = files.ExperimentTables.load(folder)
    _, comparison = evaluate(tables, ComparisonSettings(align=options.align))
    trajectory, driven = tables.trajectory_data, tables.ground_truth
    texts = {
        name: files.tum_text(table.index, table["x"], table["y"], table["yaw"])
        for name, table in (("trajectory", trajectory), ("driven", driven))
        if len(table)
    }
    for name, result, poses in (
        ("simulated", comparison.simulated, driven),
        ("recorded", comparison.real, tables.reference),
    ):
        if result is not None:
            pair = files.tum_of_comparison(result, poses)
            texts.update({f"{name}_{kind}": text for kind, text in pair.items()})
    if comparison.simulated is None and comparison.real is None:
        raise ResultError(f"{folder.prefix_path}: {' '.join(comparison.remarks)}")
    out = make_folder(options.out)
    for name, text in texts.items():
        write_file(out / f"{name}.tum", text.encode("ascii"))
    for remark in comparison.remarks:
        print(remark)


def _parser():
    parser = ArgumentParser(__doc__)
    add_result(parser)
    parser.add_argument(
        "--align",
        action="store_true",
        help="shift the recorded IMU in time to the best fit of yaw rates",
    )
    add_out(parser, "tum")
    return parser
