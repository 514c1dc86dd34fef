"""Identify a model of an IMU's yaw error from drives by maximum likelihood.

The command line is defined in :mod:`.parsers.identify_yaw_error`.
"""

from ..core.progress import progress_bar
from ..core.whole_files import make_folder, refuse_overwriting
from ..drive.observed_drives import read_drives
from ..heading.identification import identify, report
from ..heading.identification.fit import hector_of
from ..heading.model.parameters import specification_from_parameters
from ..heading.several_drives import calibration_sentences, calibrations
from ..report.table import format_table
from .command_line import write_file
from .recording_options import parse_settings

NO_SENSOR = 3
"""Exit code if the identified model is not suitable for simulations."""


def run(options):
    """Identify the model of the drives specified on the command line.

    Parameters
    ----------
    options : argparse.Namespace
        Options of the command line.

    Returns
    -------
    int
        Exit code: 0, or :data:`NO_SENSOR`.
    """
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
            f"the IMU of {fast.observed.name} has {fast.rate:.3g} samples per second, the IMU of "
            f"{slow.observed.name} has {slow.rate:.3g}; a common model requires drives with the "
            "same sensor"
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
    print(f"{report.refusal(identification)} Neither imu.yaml nor hector.yaml is written.")
    for path in (out / name for name in ("imu.yaml", "hector.yaml")):
        if path.exists():
            print(f"{path} is the result of an earlier identification.")
    return NO_SENSOR


def _report(identification, omissions, hector, predictions):
    for index in range(len(identification.drives)):
        yield report.explained_sentence(identification, index)
    yield ""
    yield format_table(report.estimates_table(identification), report.ESTIMATES).rstrip()
    yield ""
    yield format_table(
        report.compared_models_table(identification), report.COMPARED_MODELS
    ).rstrip()
    checks = [f"{check.sentence}, p = {check.p:.2g}" for check in identification.checks]
    calibration = []
    if predictions:
        yield from ("", "predictions of each drive by a model identified from the other drives:")
        yield format_table(
            report.predictions_table(identification, predictions), report.PREDICTED
        ).rstrip()
        calibration = calibration_sentences(calibrations(predictions))
    for title, sentences in (
        ("calibration of these predictions:", calibration),
        ("checks of the innovations:", checks),
        ("reference and its errors:", identification.remarks),
        ("parameters that these drives do not determine:", identification.sentences),
        ("conversion to a specification:", omissions),
        ("conversion to parameters of Hector's plug-in:", report.hector_sentences(hector)),
    ):
        if sentences:
            yield title
            yield from (f"  {sentence}" for sentence in sentences)
