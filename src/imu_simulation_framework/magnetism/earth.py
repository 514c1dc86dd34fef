"""Earth's own magnetic field at a place and a date.

The International Geomagnetic Reference Field (IGRF), as the library ppigrf evaluates it: Alken et
al., International Geomagnetic Reference Field: the thirteenth generation, Earth, Planets and Space
73, 49 (2021), and IGRF-14, doi 10.5281/zenodo.14012302. Between its models, five years apart, the
coefficients go along straight lines.
"""

from __future__ import annotations

import datetime
from functools import lru_cache

import numpy as np

from imu_simulation_framework.checked_values import checked_number
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.sentences import shown

LOWEST, HIGHEST = -1000.0, 850_000.0
"""Heights at which there is neither rock nor a current of the ionosphere to matter [m]."""

_NEAREST_TO_A_POLE = 90.0 - 1e-6
"""[deg], a tenth of a metre; at a pole itself ppigrf divides by zero."""


def earth_field(
    latitude: float, longitude: float, height: float, date: datetime.date | str
) -> np.ndarray:
    """Return Earth's magnetic field.

    It is that of the core: the crust, buildings, and storms from the sun add some 100 nT each. Over
    a kilometre it changes by some nanoteslas only, so that one value does for a whole drive.

    Parameters
    ----------
    latitude, longitude : float
        WGS 84 [deg].
    height : float
        Above the ellipsoid [m].
    date : datetime.date or str
        A text is a date as in 2026-11-22; a date with a time counts at that time.

    Returns
    -------
    ndarray, shape (3,)
        East, north, up [T].

    Raises
    ------
    ConfigurationError
        A value is none that the model knows; the sentence begins with its name.
    """
    latitude, longitude, height = checked_place(latitude, longitude, height)
    return _earth_field(latitude, longitude, height, checked_date(date)).copy()


def checked_place(latitude, longitude, height) -> tuple[float, float, float]:
    """Return a place: latitude and longitude [deg], height [m].

    Raises
    ------
    ConfigurationError
        There is none of that kind.
    """
    for name, value, largest in (("latitude", latitude, 90.0), ("longitude", longitude, 360.0)):
        if abs(checked_number(name, value)) > largest:
            raise ConfigurationError(
                f"{name} is {shown(value)}, but it must be from {-largest:g} to {largest:g} deg."
            )
    if not LOWEST <= checked_number("height", height) <= HIGHEST:
        raise ConfigurationError(
            f"height is {shown(height)}, but the model of Earth's magnetic field holds from "
            f"{LOWEST:g} to {HIGHEST:g} m."
        )
    return float(latitude), float(longitude), float(height)


def checked_date(date) -> datetime.datetime:
    """Return a date as the model takes it, without a time zone.

    Raises
    ------
    ConfigurationError
        It is no date, or none of the years that the model covers.
    """
    if isinstance(date, str):
        try:
            date = datetime.datetime.fromisoformat(date)
        except ValueError:
            raise ConfigurationError(
                f"date is {shown(date)}, but it must be a date as in 2026-11-22."
            ) from None
    if not isinstance(date, datetime.date):
        raise ConfigurationError(f"date is {shown(date)}, but it must be a date as in 2026-11-22.")
    if not isinstance(date, datetime.datetime):
        date = datetime.datetime(date.year, date.month, date.day)
    if date.tzinfo is not None:
        date = date.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    first, last = model_dates()
    if not first <= date <= last:
        raise ConfigurationError(
            f"date is {date.date()}, but the model of Earth's magnetic field covers "
            f"{first.date()} to {last.date()}."
        )
    return date


@lru_cache(maxsize=1)
def model_dates() -> tuple[datetime.datetime, datetime.datetime]:
    """Return the first and the last date that the installed model covers."""
    from ppigrf.ppigrf import read_shc

    dates = read_shc()[0].index
    return dates[0].to_pydatetime(), dates[-1].to_pydatetime()


@lru_cache(maxsize=64)
def _earth_field(latitude, longitude, height, date):
    import ppigrf

    latitude = min(max(latitude, -_NEAREST_TO_A_POLE), _NEAREST_TO_A_POLE)
    components = ppigrf.igrf(longitude, latitude, height / 1000.0, date)
    return 1e-9 * np.array([float(np.squeeze(component)) for component in components])
