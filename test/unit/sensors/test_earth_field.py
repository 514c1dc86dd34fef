import datetime

import numpy as np
import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.sensors.magnetism.environment import earth_field, model_dates

NANO = 1e-9

# The British Geological Survey's calculator of IGRF-14, geomag.bgs.ac.uk, to whole nanoteslas.
# Date, latitude and longitude [deg], height [m]; north, east, down [nT].
BGS = [
    ("1965-01-01", 51.5, -0.1, 0, (18641, -2466, 43623)),
    ("2000-01-01", -33.9, 151.2, 0, (24176, 5399, -51887)),
    ("2010-01-01", -75, 120, 0, (-7454, -7472, -61587)),
    ("2015-07-02", 64.8, -147.7, 0, (11915, 4010, 55393)),
    ("2022-01-01", 0, -40, 0, (24899, -8945, -5580)),
    ("2025-01-01", 45, 10, 0, (22843, 1451, 41825)),
    ("2025-01-01", 51.5, 0, 400_000, (16632, 69, 37519)),
    ("2025-01-01", -33.86, 151.21, 0, (24040, 5450, -51381)),
    ("2026-09-06", 40.14, -105.24, 0, (20535, 2762, 46805)),
    ("2026-09-06", 40.14, -105.24, 400_000, (16978, 2051, 38536)),
    ("2026-09-06", -25, -45, 0, (15333, -6247, -15735)),
    ("2026-09-06", 70, 25, 0, (10171, 2677, 53321)),
    ("2026-09-06", -65, 140, 0, (-573, 1406, -66510)),
    ("2027-07-02", 35, 139, 100_000, (29021, -3810, 33474)),
]


@pytest.mark.parametrize("date, latitude, longitude, height, published", BGS)
def test_it_is_what_the_british_geological_survey_computes(
    date, latitude, longitude, height, published
):
    east, north, up = earth_field(latitude, longitude, height, date) / NANO
    # Half a nanotesla of rounding; a part of a day, of at most 150 nT a year.
    assert np.allclose((north, east, -up), published, rtol=0.0, atol=0.5 + 150.0 / 366.0)


def test_dates_are_dates_times_or_texts():
    text = earth_field(50.0, 14.0, 200.0, "2026-06-01")
    assert np.array_equal(text, earth_field(50.0, 14.0, 200.0, datetime.date(2026, 6, 1)))
    zone = datetime.timezone(datetime.timedelta(hours=2))
    assert np.array_equal(
        earth_field(50.0, 14.0, 200.0, datetime.datetime(2026, 6, 1, 2, tzinfo=zone)), text
    )


def test_poles_have_a_field_of_their_own():
    assert np.linalg.norm(earth_field(90.0, 0.0, 0.0, "2025-01-01")) == pytest.approx(
        np.linalg.norm(earth_field(89.99999, 120.0, 0.0, "2025-01-01")), rel=1e-6
    )


@pytest.mark.parametrize(
    "place, sentence",
    [
        ((91.0, 0.0, 0.0, "2025-01-01"), "latitude is 91.0, but it must be from -90 to 90 deg."),
        ((0.0, 400.0, 0.0, "2025-01-01"), "longitude is 400.0"),
        ((0.0, float("nan"), 0.0, "2025-01-01"), "longitude is nan"),
        ((0.0, 0.0, 1e6, "2025-01-01"), "height is 1000000.0, but the model of Earth's"),
        ((0.0, 0.0, 0.0, "1899-12-31"), "date is 1899-12-31, but the model of Earth's"),
        ((0.0, 0.0, 0.0, "2030-01-02"), "covers 1900-01-01 to 2030-01-01."),
        ((0.0, 0.0, 0.0, "yesterday"), "it must be a date as in 2026-11-22."),
        ((0.0, 0.0, 0.0, 2025), "it must be a date as in 2026-11-22."),
    ],
)
def test_what_the_model_does_not_cover_is_refused(place, sentence):
    assert model_dates()[1].year == 2030
    with pytest.raises(ConfigurationError, match=sentence):
        earth_field(*place)
