"""Preparation of a drive before its nodes start."""

from __future__ import annotations

from contextlib import suppress

from ...core import errors
from ...core.files import format_json
from ..configuration import Configuration
from ..experiment.imu import imu_label
from ..prepared_drive import PreparedDrive, prepare_drive
from ..recorded_drive.check import NO_IMU, ensure_plausible
from ..recorded_drive.imu import PreparedImu, prepare_recorded_imu
from ..recorded_drive.sources import drive_name
from ..results.files import ResultFolder, check_result_folder
from ..tracking.controllers import Reference
from .driving import DriveToFollow
from .recording import DRIVE, RECORDED_IMU


class PreparationSession:
    """Preparation of the configured drive and its recorded IMU, which are kept with the results."""

    drive: PreparedDrive
    recorded_imu: PreparedImu | None

    def keep(self, configuration: Configuration, folder: ResultFolder) -> None:
        """Make sure that the configured experiment can be done, kept, and gives an answer.

        What was read is kept for :meth:`.DriveToFollow.load`; what cannot be written there is read
        again. Raises FrameworkError: it cannot, or does not.
        """
        _check_result_folder(configuration)
        drive = self.read(configuration)
        with suppress(errors.ResultError):
            self.write(folder)
            drive.save(folder, configuration.to_ini())

    def read(self, configuration: Configuration) -> DriveToFollow:
        """Read and check what is to be driven.

        Raises FrameworkError: the experiment cannot be done.
        """
        check = ensure_plausible(configuration)
        self.drive = drive = prepare_drive(configuration, check.reference)
        imu = None
        if not check.without_imu:
            imu = prepare_recorded_imu(configuration, drive.start, drive.stop)
        self.recorded_imu = imu
        self._report = {
            "reference": drive.report,
            "findings": check.to_dict(),
            DRIVE: drive.name,
            **({} if imu is None else {RECORDED_IMU: imu.report}),
        }
        without_imu = [NO_IMU] if check.without_imu else []
        return DriveToFollow(
            name=drive.name,
            reference=Reference.of_table(drive.trajectory),
            start=drive.start,
            stop=drive.stop,
            length=drive.length,
            read=(
                (*drive.remarks, *drive.smoothing_remarks, *without_imu),
                *([] if imu is None else [imu.remarks]),
            ),
            warnings=tuple(finding.sentence() for finding in check.findings),
        )

    def write(self, folder: ResultFolder) -> None:
        """Write what was read. Raises ResultError: a file cannot be written."""
        drive, imu = self.drive, self.recorded_imu
        folder.write_table("trajectory_data", drive.trajectory)
        folder.write_table("reference", drive.reference)
        if drive.fixes is not None:
            folder.write_table("fixes", drive.fixes)
        # The small one first: it fits on a disk that is too full for the other.
        folder.write_text("recording.json", format_json(self._report))
        if imu is not None:
            folder.write_table("imu_real", imu.table)


def _check_result_folder(configuration) -> None:
    check_result_folder(
        configuration.experiment.output,
        drive_name(configuration),
        imu_label(configuration),
    )
