"""What was found in a recording, for logs and for the summary."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace

import pandas as pd

from imu_simulation_framework.core.stamps import Occurrences, StampReport


@dataclass(frozen=True)
class RecordingReport:
    """What a recording is and what is wrong with it.

    Attributes
    ----------
    path, format, topic, message_type : str
        Where the samples come from; topic and type are empty if the format does not tell.
    place_name : str
        What places count: ``message`` or ``line``.
    time_source : str
        ``header stamp``, ``receipt time`` or ``column``.
    samples : int
        Samples in the recording.
    stamps : StampReport
        Of the samples whose values can be used; its ``usable`` is what remains in the end.
    nan : stamps.Occurrences
        Samples with a value that is no number, dropped.
    zero_quaternions, unnormalised_quaternions : stamps.Occurrences
        Quaternions of length zero, dropped, and of another length than one, normalised.
    no_fix, unknown_variance : stamps.Occurrences
        Satellite positions without a fix, dropped, and without a variance, a usual one taken.
    absent : tuple of str
        What the recording lacks, of ``orientation``, ``gyro`` and ``accel``.
    orientation_source : str
        Of an IMU: ``recorded``, ``fused`` (made of gyroscope and accelerometer), ``integrated``
        (the yaw alone, made of the gyroscope), or empty where there is none.
    fusion : dict
        Settings of the filter that made it.
    positioning : dict or None
        How satellite positions became a path, see
        :class:`~imu_simulation_framework.motion.fix_report.FixReport`.
    fixes : pandas.DataFrame or None
        Satellite positions as received: x, y [m] in the axes of the path that was made of them.
    latitude : float or None
        Of the first satellite position [deg].
    remarks : tuple of str
        What else a person should know.
    """

    path: str
    format: str
    place_name: str
    samples: int
    topic: str = ""
    message_type: str = ""
    time_source: str = "column"
    stamps: StampReport = field(default_factory=StampReport)
    nan: Occurrences = field(default_factory=Occurrences)
    zero_quaternions: Occurrences = field(default_factory=Occurrences)
    unnormalised_quaternions: Occurrences = field(default_factory=Occurrences)
    no_fix: Occurrences = field(default_factory=Occurrences)
    unknown_variance: Occurrences = field(default_factory=Occurrences)
    absent: tuple[str, ...] = ()
    orientation_source: str = ""
    fusion: dict = field(default_factory=dict)
    positioning: dict | None = None
    fixes: pd.DataFrame | None = field(default=None, compare=False, repr=False)
    latitude: float | None = field(default=None, compare=False, repr=False)
    remarks: tuple[str, ...] = ()

    @property
    def usable(self) -> int:
        """Samples that remain."""
        return self.stamps.usable

    def sentences(self) -> list[str]:
        """Return one sentence on what was read, and one for each thing found."""
        stamps = self.stamps
        kind = f" ({self.message_type})" if self.message_type else ""
        source = f"{self.path}, topic {self.topic}" if self.topic else self.path
        summary = (
            f"{source}{kind}: {stamps.usable} of {self.samples} samples in use, "
            f"{stamps.duration:.2f} s at {stamps.rate:.2f} Hz"
        )
        sentences = [summary]
        if self.time_source == "receipt time":
            sentences.append(
                "the header stamps are not set, the time at which messages were recorded is used"
            )
        found = (
            (self.no_fix, "without a fix, dropped"),
            (self.nan, "with a value that is not a number, dropped"),
            (self.zero_quaternions, "with a quaternion of length zero, dropped"),
            (
                self.unnormalised_quaternions,
                "with a quaternion of a length other than 1, normalised",
            ),
            (self.unknown_variance, "without a known variance, a usual one assumed"),
            (stamps.missing, "without a time stamp, dropped"),
            (stamps.unordered, "older than one before, sorted in"),
            (stamps.duplicates, "with the time stamp of another one, dropped"),
        )
        for finding, what in found:
            if finding:
                plural = "sample" if finding.count == 1 else "samples"
                sentences.append(f"{finding.count} {plural} {what}, {self._first(finding)}")
        if stamps.gaps:
            plural = "gap" if stamps.gaps.count == 1 else "gaps"
            sentences.append(
                f"{stamps.gaps.count} {plural} of more than usual between samples, the longest "
                f"{stamps.longest_gap:.3f} s at {stamps.longest_gap_time:.3f} s, "
                f"{self._first(stamps.gaps)}"
            )
        if self.absent:
            sentences.append(f"the recording has no {' and no '.join(self.absent)}")
        return sentences + list(self.remarks)

    def _first(self, finding) -> str:
        time = "" if finding.first_time is None else f" at {finding.first_time:.3f} s"
        return f"the first is {self.place_name} {finding.first_place}{time}"

    def to_dict(self) -> dict:
        """Return everything as plain values, for a summary."""
        values = asdict(replace(self, fixes=None))
        # Neither is for a summary.
        values.pop("fixes")
        values.pop("latitude")
        values.update(
            stamps=self.stamps.to_dict(),
            absent=list(self.absent),
            remarks=list(self.remarks),
            usable=self.usable,
        )
        return values
