"""What was found while a path was made from fixes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import numpy as np

from imu_simulation_framework.core.stamps import Occurrences
from imu_simulation_framework.motion.course import CourseCheck

_NOTABLE_SCALE = 4.0
_NOTABLE_RESIDUAL = 2.0
_FAR_RESIDUAL = 3.0
_NOTABLE_OFFSET = np.radians(10.0)


@dataclass(frozen=True)
class FixReport:
    """How a path was made from fixes, and what that tells of them.

    Attributes
    ----------
    fixes : int
        Positions that were used.
    repeated : int
        Rows that only repeat the position before, not used.
    outliers, velocity_outliers : stamps.Occurrences
        Positions and Doppler velocities that no motion explains, not used.
    acceleration_density : float
        How lively the robot is [m/s^2/sqrt(Hz)].
    estimated : bool
        Whether that and the errors were estimated, or given.
    stated_deviation : float
        Standard deviation of a coordinate as the receiver states it, rms [m].
    assumed : bool
        Whether that is assumed, since nothing states it.
    white_deviation, slow_deviation : float
        Of the error's white and of its slow part, as the smoothing takes them [m].
    residual_rms : float
        Of measured less smooth coordinates [m].
    doppler : bool
        Whether velocities were used.
    velocity_deviation : float
        Of a component of those, as the smoothing takes it [m/s].
    heading_source : str
        ``the course``, ``the antennas`` or ``the antennas and the course``.
    heading_deviation : float or None
        Expected standard deviation of a heading from the course, rms [rad].
    heading_speed : float
        Above this speed [m/s].
    refused_velocity_scale : float or None
        How far the positions go for each metre of the velocities, if these were not used for it.
    antennas : CourseCheck or None
        The antennas' heading beside the course.
    held_courses : int
        Doppler velocities that were not used, since the receiver holds its course when slow.
    backwards : float
        How long the robot is taken to drive backwards between flips of its course [s].
    """

    fixes: int
    repeated: int
    acceleration_density: float
    estimated: bool
    stated_deviation: float
    white_deviation: float
    slow_deviation: float
    residual_rms: float
    doppler: bool
    velocity_deviation: float
    heading_source: str
    heading_deviation: float | None
    heading_speed: float
    antennas: CourseCheck | None = None
    held_courses: int = 0
    backwards: float = 0.0
    refused_velocity_scale: float | None = None
    assumed: bool = False
    outliers: Occurrences = field(default_factory=Occurrences)
    velocity_outliers: Occurrences = field(default_factory=Occurrences)

    @property
    def variance_scale(self) -> float:
        """Variance of a position as the smoothing takes it over what the receiver states."""
        taken = self.white_deviation**2 + self.slow_deviation**2
        return float(taken / self.stated_deviation**2)

    def sentences(self, place_name="sample") -> list[str]:
        """Return what a person should know."""
        density = f"{self.acceleration_density:.3g} m/s^2/sqrt(Hz)"
        origin = "estimated from the fixes" if self.estimated else "as set"
        doppler = ""
        if self.doppler:
            doppler = f", with Doppler velocities of {self.velocity_deviation:.2g} m/s a component"
        sentences = [
            f"the path is smoothed with an acceleration density of {density}, {origin}{doppler}; "
            f"positions are {self.residual_rms:.2g} m rms from it, "
            f"{'assumed are' if self.assumed else 'the receiver states'} "
            f"{self.stated_deviation:.2g} m"
        ]
        scale = self.variance_scale
        taken = np.hypot(self.white_deviation, self.slow_deviation)
        if self.estimated and not 1.0 / _NOTABLE_SCALE < scale < _NOTABLE_SCALE:
            whose = "the assumed" if self.assumed else "the receiver's"
            sentences.append(
                f"{whose} variances fit {scale:.2g} times: the errors are taken as "
                f"{taken:.2g} m, as far as they change during the drive"
            )
        if self.estimated and not self.doppler and self.residual_rms > _FAR_RESIDUAL * taken:
            sentences.append(
                f"the path leaves the positions by {self.residual_rms / taken:.1f} times what "
                "their errors are taken for, so it is too smooth; a larger acceleration_density "
                "follows them"
            )
        if self.repeated:
            rows = "row repeats" if self.repeated == 1 else "rows repeat"
            sentences.append(
                f"{self.repeated} {rows} the position before, since the receiver gives new ones "
                "less often, and are not used"
            )
        for finding, what in (
            (self.outliers, "position"),
            (self.velocity_outliers, "Doppler velocity"),
        ):
            if finding:
                plural = what if finding.count == 1 else what.replace("ty", "tie") + "s"
                sentences.append(
                    f"{finding.count} {plural} that no motion explains, not used, the first is "
                    f"{place_name} {finding.first_place} at {finding.first_time:.3f} s"
                )
        if self.held_courses:
            sentences.append(
                f"at {self.held_courses} of the fixes the receiver holds its course, since it is "
                "slow, and their speed is not used"
            )
        if self.doppler and self.residual_rms > _NOTABLE_RESIDUAL * self.stated_deviation:
            sentences.append(
                "the positions and the Doppler velocities contradict each other, and the path "
                "follows the velocities; are the time stamps those of the fixes?"
            )
        if self.refused_velocity_scale is not None:
            sentences.append(
                f"the positions go {self.refused_velocity_scale:.2f} m for each metre of the "
                "velocities, which are not used; are their unit, course and axes right?"
            )
        return sentences + self._heading_sentences()

    def _heading_sentences(self):
        sentences = []
        if self.heading_deviation is not None:
            expected = np.degrees(self.heading_deviation)
            sentences.append(
                f"heading from {self.heading_source}; that of the course is expected within "
                f"{expected:.2g} deg rms above {self.heading_speed:g} m/s"
            )
        if self.backwards > 0.0:
            sentences.append(
                f"for {self.backwards:.1f} s the robot is taken to drive backwards or to sway: "
                "the course flips and flips back faster than maximum_turn_rate allows; a robot "
                "that turns so fast needs a larger one"
            )
        check = self.antennas
        if check is None:
            return sentences
        offset, rms = np.degrees(check.offset), np.degrees(check.rms)
        if abs(check.offset) > _NOTABLE_OFFSET or check.rms > _NOTABLE_OFFSET:
            sentences.append(
                f"the antennas' heading is {offset:+.1f} deg from the course in the mean, with "
                f"{rms:.1f} deg rms about that; are they mounted turned?"
            )
        if check.backwards > 0.0:
            sentences.append(f"the robot drives backwards for {check.backwards:.1f} s")
        return sentences

    def to_dict(self) -> dict:
        """Return everything as plain values, for a summary; angles in degrees."""
        values = asdict(self)
        values["variance_scale"] = self.variance_scale
        deviation = values.pop("heading_deviation")
        values["heading_deviation_deg"] = (
            None if deviation is None else float(np.degrees(deviation))
        )
        check = values["antennas"]
        if check is not None:
            values["antennas"] = {
                "offset_deg": float(np.degrees(check["offset"])),
                "rms_deg": float(np.degrees(check["rms"])),
                "backwards": check["backwards"],
            }
        return values
