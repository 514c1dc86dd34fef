"""Identify the model of an IMU's yaw error from drives, by maximum likelihood.

    identify_yaw_error.py experiment_results/drive_a/generic/1
    identify_yaw_error.py husky.bag --config husky_odometry.ini --name husky
    identify_yaw_error.py husky.bag --of gyroscope
    identify_yaw_error.py monday.bag tuesday.bag friday.bag
    identify_yaw_error.py check_monday/config.ini check_tuesday/config.ini

A drive is the result of an experiment, a recording with a reference and an IMU, the config.ini of a
recording, or the name of a bundled drive. Several drives of an IMU have a common model, and a bias
for each drive; each drive is then also predicted by the model identified from the other drives, and
judged as by judge_imu.py. Writes to DIR:

    yaw_error_model.yaml   the model, all parameters with 95 % intervals
    imu.yaml               the specification, for imu:=specification
    hector.yaml            the parameters of Hector's plug-in, section [imu_hector]
    models.csv             all models that were compared
    parts.csv              error, fitted parts and innovations over time [rad]
    identification.png     the same as a figure for each drive
    predictions.csv        with several drives: percentile of each drive in its prediction
    predictions.png        the percentiles of all drives
    identification.html    with --report: all results as a web page

The known error of the reference is a part of the model: its course, lag, slip on turns and jumps.
Exit code 3: the innovations are not white, not normal or not of equal size; or the errors of the
sensor are hidden by the reference and only bounded. Then there is no imu.yaml and no hector.yaml,
and yaw_error_model.yaml states the reason.
"""

from ..core.programs import ArgumentParser
from ..core.progress import progress_bar
from ..core.whole_files import make_folder, refuse_overwriting
from ..drive.observed_drives import read_drives
from ..heading.identification import identify, report
from ..heading.identification.fit import hector_of
from ..heading.model.parameters import specification_from_parameters
from ..heading.several_drives import calibration_sentences, calibrations
from ..report.table import format_table
from .command_line import above_zero, add_results, whole_number, write_file
from .recording_options import add_of_option, add_setting_option, parse_settings

RUNS = 2000
NO_SENSOR = 3
"""Exit code if the model is not suitable for simulations."""


def main(arguments):
    """Identify the model of the drives of a command line.

    Parameters
    ----------
    arguments : list of str
        Command line.

    Returns
    -------
    int
        Exit code: 0, or :data:`NO_SENSOR`.
    """
    options = _parser().parse_args(arguments)
    drives, left_out = read_drives(
        options.drives, options.config, options.step, parse_settings(options.setting)
    )
    satellite = any(drive.satellite for drive in drives)
    observed = [drive.select_output(options.of).observed for drive in drives]
    identification = identify.identify_yaw_error(observed, satellite)
    predictions = []
    if options.runs and len(drives) > 1:
        judgements = identify.predicted_from_others(observed, satellite, options.runs)
        bar = progress_bar(judgements, "predicting", total=len(drives), unit=" drives", leave=False)
        predictions = list(bar)
    specification, omissions = specification_from_parameters(
        identification.parameters, options.name, options.rate
    )
    hector = hector_of(identification.fit, 1.0 / options.rate)
    sources = [path for drive in drives for path in drive.sources]
    files = report.file_contents(
        identification, specification, omissions, hector, sources, options, predictions
    )
    if options.report:
        more = [*omissions, *report.hector_sentences(hector)]
        files["identification.html"] = report.identification_report(
            identification, more, sources, options, predictions
        )
    out = make_folder(options.out)
    for name in files:
        refuse_overwriting(out / name, [*sources, *filter(None, [options.config])])
    remarks = [*left_out, *(remark for drive in drives for remark in drive.remarks)]
    fast, slow = (select(drives, key=lambda drive: drive.rate) for select in (max, min))
    if fast.rate > 1.1 * slow.rate:
        remarks.append(
            f"the IMU of {fast.observed.name} has {fast.rate:.3g} samples per second, that of "
            f"{slow.observed.name} {slow.rate:.3g}; only drives of the same sensor have a common "
            "model"
        )
    for remark in remarks:
        print(remark)
    if options.of == "yaw" and all(drive.gyroscope is not None for drive in drives):
        sentence = identify.gyroscope_sentence([drive.gyroscope for drive in drives], satellite)
        print(*filter(None, [sentence]), sep="\n")
    for line in _report(identification, omissions, hector, predictions):
        print(line)
    for name, content in files.items():
        write_file(out / name, content)
    if not report.refusal(identification):
        return 0
    print(f"{report.refusal(identification)} No imu.yaml and no hector.yaml are written.")
    for path in (out / name for name in ("imu.yaml", "hector.yaml")):
        if path.exists():
            print(f"{path} is of an earlier identification.")
    return NO_SENSOR


def _report(identification, omissions, hector, predictions):
    for index in range(len(identification.drives)):
        yield report.explained_sentence(identification, index)
    yield ""
    yield format_table(report.estimates_table(identification), report.ESTIMATES).rstrip()
    yield ""
    yield format_table(report.tried_table(identification), report.TRIED).rstrip()
    checks = [f"{check.sentence}, p = {check.p:.2g}" for check in identification.checks]
    calibration = []
    if predictions:
        yield from ("", "each drive, predicted by the model that is identified from the others:")
        yield format_table(
            report.predictions_table(identification, predictions), report.PREDICTED
        ).rstrip()
        calibration = calibration_sentences(calibrations(predictions))
    for title, sentences in (
        ("calibration of these predictions:", calibration),
        ("checks of the innovations:", checks),
        ("the reference and its errors:", identification.remarks),
        ("not determined by these drives:", identification.sentences),
        ("as a specification:", omissions),
        ("as Hector's plug-in:", report.hector_sentences(hector)),
    ):
        if sentences:
            yield title
            yield from (f"  {sentence}" for sentence in sentences)


def _parser():
    parser = ArgumentParser(__doc__)
    parser.add_argument(
        "drives",
        nargs="+",
        metavar="RESULT_OR_RECORDING",
        help="a result's folder, a bag, CSV or TUM file, a config.ini, or a bundled drive",
    )
    add_of_option(parser)
    parser.add_argument(
        "--config", metavar="FILE", help="config.ini with the settings for reading the recordings"
    )
    add_setting_option(parser)
    parser.add_argument(
        "--step", type=above_zero, default=1.0, metavar="S",
        help="interval between yaw errors [s], %(default)g by default",
    )  # fmt: skip
    parser.add_argument(
        "--rate", type=above_zero, default=100.0, metavar="HZ",
        help="sample rate of the IMU to simulate, %(default)g by default; Hector's parameters hold "
        "for this rate only",
    )  # fmt: skip
    parser.add_argument(
        "--runs", type=whole_number, default=RUNS, metavar="N",
        help="number of simulated runs for the prediction of each drive, %(default)s by default; "
        "0 omits the predictions, which take the most time",
    )  # fmt: skip
    parser.add_argument(
        "--name", default="identified", help="name of the IMU, by default %(default)s"
    )
    add_results(parser, "identify_yaw_error")
    return parser
