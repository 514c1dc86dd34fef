"""Write the trajectories of a result as TUM files, for evo and other tools.

The command line is defined in :mod:`.parsers.export_tum`.
"""

from ..core.errors import ResultError
from ..core.whole_files import make_folder
from ..drive.results import files
from ..drive.summary import evaluate
from ..heading.yaw_comparison import ComparisonSettings
from .command_line import write_file


def run(options):
    """Export the result specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.
    """
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
