"""Preparation of the configured drive before the start of an experiment."""

from __future__ import annotations

from contextlib import suppress

from ...core import errors
from ...core.files import format_json
from ...recordings.plausibility.check import NO_IMU
from ..configuration import Configuration
from ..experiment.imu import imu_label
from ..prepared_drive import PreparedDrive, prepare_drive
from ..recorded_drive.check import ensure_plausible
from ..recorded_drive.imu import PreparedImu, prepare_recorded_imu
from ..recorded_drive.sources import drive_name
from ..results.files import ResultFolder, check_result_folder
from ..tracking.controllers import Reference
from .driving import DriveToFollow
from .recording import DRIVE, RECORDED_IMU


class PreparationSession:
    """Session that prepares the configured drive and its recorded IMU.

    Attributes
    ----------
    drive : PreparedDrive
        Prepared drive, available after :meth:`read`.
    recorded_imu : PreparedImu or None
        Recorded IMU during the drive, or None if there is none.
    """

    drive: PreparedDrive
    recorded_imu: PreparedImu | None

    def keep(self, configuration: Configuration, folder: ResultFolder) -> None:
        """Check the experiment, and store the prepared drive for :meth:`.DriveToFollow.load`.

        If the drive cannot be stored, it is read again at the start of the experiment.

        Parameters
        ----------
        configuration : Configuration
            Configuration of the experiment.
        folder : ResultFolder
            Folder for the prepared drive.

        Raises
        ------
        FrameworkError
            The experiment cannot run, its results cannot be stored, or they would be meaningless
            because of an implausible recording.
        """
        _check_result_folder(configuration)
        drive = self.read(configuration)
        with suppress(errors.ResultError):
            self.write(folder)
            drive.save(folder, configuration.to_ini())

    def read(self, configuration: Configuration) -> DriveToFollow:
        """Read, check and prepare the drive.

        Parameters
        ----------
        configuration : Configuration
            Configuration of the experiment.

        Returns
        -------
        DriveToFollow

        Raises
        ------
        FrameworkError
            The experiment cannot run.
        """
        check = ensure_plausible(configuration)
        self.drive = drive = prepare_drive(configuration, check.reference)
        imu = None
        if not check.lacks_imu:
            imu = prepare_recorded_imu(configuration, drive.start, drive.stop)
        self.recorded_imu = imu
        self._report = {
            "reference": drive.report,
            "findings": check.to_dict(),
            DRIVE: drive.name,
            **({} if imu is None else {RECORDED_IMU: imu.report}),
        }
        imu_remarks = [NO_IMU] if check.lacks_imu else []
        return DriveToFollow(
            name=drive.name,
            reference=Reference.from_table(drive.trajectory),
            start=drive.start,
            stop=drive.stop,
            length=drive.length,
            read=(
                (*drive.remarks, *drive.smoothing_remarks, *imu_remarks),
                *([] if imu is None else [imu.remarks]),
            ),
            warnings=tuple(finding.sentence() for finding in check.findings),
        )

    def write(self, folder: ResultFolder) -> None:
        """Write the prepared tables.

        Parameters
        ----------
        folder : ResultFolder
            Result of the experiment.

        Raises
        ------
        ResultError
            A file cannot be written.
        """
        drive, imu = self.drive, self.recorded_imu
        folder.write_table("trajectory_data", drive.trajectory)
        folder.write_table("reference", drive.reference)
        if drive.fixes is not None:
            folder.write_table("fixes", drive.fixes)
        # The smaller file is written first, because it may fit on a nearly full disk.
        folder.write_text("recording.json", format_json(self._report))
        if imu is not None:
            folder.write_table("imu_real", imu.table)


def _check_result_folder(configuration) -> None:
    check_result_folder(
        configuration.experiment.output,
        drive_name(configuration),
        imu_label(configuration),
    )
