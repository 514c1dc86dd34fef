"""What is done before the drive: the recording is read and checked, its tables are written."""

from __future__ import annotations

from imu_simulation_framework.core.files import json_text
from imu_simulation_framework.drive.check import ensure_plausible
from imu_simulation_framework.drive.configuration import Configuration
from imu_simulation_framework.drive.from_configuration import imu_label
from imu_simulation_framework.drive.preparation import (
    PreparedDrive,
    PreparedImu,
    drive_name,
    prepare_drive,
    prepare_recorded_imu,
)
from imu_simulation_framework.drive.results.files import ResultFolder, check_result_folder
from imu_simulation_framework.drive.session.driving import DriveToFollow
from imu_simulation_framework.drive.session.recording import DRIVE, RECORDED_IMU
from imu_simulation_framework.drive.tracking.controllers import Reference


class PreparationSession:
    """Reads the configured drive and its recorded IMU; writes them into the results."""

    drive: PreparedDrive
    recorded_imu: PreparedImu | None

    def check(self, configuration: Configuration) -> None:
        """Make sure that the configured experiment can be done, kept, and gives an answer.

        Raises FrameworkError: it cannot, or does not.
        """
        check_result_folder(
            configuration.experiment.output, drive_name(configuration), imu_label(configuration)
        )
        prepare_drive(configuration, ensure_plausible(configuration).reference)

    def read(self, configuration: Configuration) -> DriveToFollow:
        """Read and check what is to be driven.

        Raises FrameworkError: the experiment cannot be done.
        """
        check = ensure_plausible(configuration)
        self.drive = drive = prepare_drive(configuration, check.reference)
        self.recorded_imu = imu = prepare_recorded_imu(configuration, drive.start, drive.stop)
        self._report = {
            "reference": drive.report,
            "findings": check.to_dict(),
            DRIVE: drive.name,
            **({} if imu is None else {RECORDED_IMU: imu.report}),
        }
        return DriveToFollow(
            name=drive.name,
            reference=Reference.of_table(drive.trajectory),
            start=drive.start,
            stop=drive.stop,
            length=drive.length,
            read=(
                (*drive.remarks, *drive.smoothing_remarks),
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
        folder.write_text("recording.json", json_text(self._report))
        if imu is not None:
            folder.write_table("imu_real", imu.table)
